import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectStatus } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import { eventually } from '@phds/test-kit/conditions';
import { scrape } from '@phds/test-kit/scrape';
import pg from 'pg';

let directory: string;
let stack: RunningStack;

const file = (name: string) => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'phds-self-test-'));
  // Nothing knows this app. The gateway tests itself with it until it is started again.
  await writeFile(file('id'), 'app_sandbox_unknown');
  await writeFile(file('secret'), 'phds_cs_unknown');
  const gateway = {
    SELF_TEST_CLIENT_ID_FILE: file('id'),
    SELF_TEST_CLIENT_SECRET_FILE: file('secret'),
    SELF_TEST_INTERVAL_MS: '200',
  };
  stack = await startRunningStack({ environment: { gateway } });
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

/** The results that the gateway exports. */
async function results() {
  const metrics = await scrape(stack.gatewayProbeUrls[0] ?? '');
  const rounds = (outcome: string) => metrics.sum('phds_self_test_runs_total', { outcome });
  return {
    ok: rounds('ok'),
    failed: rounds('failed'),
    stale: rounds('stale'),
    staleAfterAck: metrics.sum('phds_stale_after_ack_total'),
  };
}

/** Lets a revocation be acknowledged and undone, as a consent service would that acknowledges too early. */
async function undoRevocations(): Promise<AsyncDisposable> {
  const admin = new pg.Client({ connectionString: stack.databases.consent.ownerUrl });
  await admin.connect();
  await admin.query(`
    CREATE FUNCTION consent.undo_revocation() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE consent.consent_grant SET revoked_at = NULL, revoked_by = NULL, closed_at = NULL WHERE id = NEW.id;
      RETURN NULL;
    END $$;
    CREATE TRIGGER undo_revocation AFTER UPDATE ON consent.consent_grant
      FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL)
      EXECUTE FUNCTION consent.undo_revocation()`);
  return {
    async [Symbol.asyncDispose]() {
      await admin.query(
        'DROP TRIGGER undo_revocation ON consent.consent_grant; DROP FUNCTION consent.undo_revocation()',
      );
      await admin.end();
    },
  };
}

test('a gateway tests itself: refused credentials fail, revocations hold, and broken ones are stale', async () => {
  await eventually(async () => expect((await results()).failed).toBeGreaterThan(0));

  const bearer = await signIn(stack, 'operator');
  const json = {
    name: 'Self-test',
    environment: 'sandbox',
    redirectUris: ['http://127.0.0.1/self-test'],
    scopes: ['read:health-data:heart'],
  };
  const { data } = expectStatus(201, await send(`${stack.gateway}/developer/apps`, { json, bearer })).body;
  await writeFile(file('id'), data.clientId);
  await writeFile(file('secret'), data.clientSecret);
  const gateway = stack.processes.get('gateway-1');
  await gateway?.stop();
  await gateway?.start();

  await eventually(async () => expect((await results()).ok).toBeGreaterThan(2));
  expect(await results()).toMatchObject({ failed: 0, stale: 0, staleAfterAck: 0 });
  {
    await using _broken = await undoRevocations();
    await eventually(async () => expect((await results()).staleAfterAck).toBeGreaterThan(0));
  }
  const { ok } = await results();
  await eventually(async () => expect((await results()).ok).toBeGreaterThan(ok));
});
