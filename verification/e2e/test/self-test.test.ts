import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { eventually } from '@phds/test-kit/conditions';
import pg from 'pg';
import { runSelfTestRound } from '../../../services/gateway/src/self-test/self-test.ts';

/** Lets revocations of an app be acknowledged and undone, as a consent service would that acknowledges too early. */
async function undoRevocations({ databases }: SharedStack, clientId: string): Promise<AsyncDisposable> {
  const admin = new pg.Client({ connectionString: databases.consent.ownerUrl });
  await admin.connect();
  await admin.query(`
    CREATE FUNCTION consent.undo_revocation() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE consent.consent_grant SET revoked_at = NULL, revoked_by = NULL, closed_at = NULL WHERE id = NEW.id;
      RETURN NULL;
    END $$;
    CREATE TRIGGER undo_revocation AFTER UPDATE ON consent.consent_grant
      FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL
        AND NEW.client_id = ${admin.escapeLiteral(clientId)})
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

const readSecret = async (file: string) => (await readFile(file, 'utf8')).trim();

test('a self-test with the app of the deployment finds that revocations hold, and that broken ones are stale', async () => {
  const stack = await useSharedStack();
  const { gateway: url, keys } = stack;
  const { clientId, clientSecret } = keys.selfTest;
  const app = { clientId: await readSecret(clientId), clientSecret: await readSecret(clientSecret) };
  const run = () =>
    runSelfTestRound({ url, ...app }, { signal: AbortSignal.timeout(60_000), onStep: () => undefined });
  // authorization registers the app soon after its start, which it needs consent for.
  await eventually(async () => expect(await run()).toEqual({ outcome: 'ok' }), { intervalMs: 500 });
  {
    await using _broken = await undoRevocations(stack, app.clientId);
    expect(await run()).toEqual({ outcome: 'stale' });
  }
  expect(await run()).toEqual({ outcome: 'ok' });
});
