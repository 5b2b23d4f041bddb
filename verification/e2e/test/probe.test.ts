import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from '@jest/globals';
import { runCommand } from '@phds/cli/run-program';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { eventually } from '@phds/test-kit/conditions';
import { openClient } from '@phds/test-kit/open-client';

let stack: SharedStack;
let settings: Record<string, string>;

beforeAll(async () => {
  stack = await useSharedStack();
  const session = await signIn(stack, 'probed');
  const { clientId, clientSecret } = await registerApp(stack.gateway, session);
  settings = { PROBE_CLIENT_ID: clientId, PROBE_CLIENT_SECRET: clientSecret, PROBE_SESSION: session };
});

/** Runs `phds probe` with these arguments. Returns the exit code and what it wrote. */
async function run(args: readonly string[], env: Record<string, string> = settings) {
  const output = new PassThrough();
  const errors = new PassThrough();
  const code = await runCommand(['probe', ...args], {
    env,
    output,
    errors: Object.assign(errors, { isTTY: false }),
  });
  output.end();
  errors.end();
  return { code, output: await text(output), errors: await text(errors) };
}

/** Lets revocations of an app be acknowledged and undone, as a consent service would that acknowledges too early. */
async function undoRevocations({ databases }: SharedStack, clientId: string): Promise<AsyncDisposable> {
  const admin = await openClient(databases.consent.ownerUrl);
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

test('a probe finds that revocations hold, and that broken ones are stale', async () => {
  expect(await run([stack.gateway])).toMatchObject({ code: 0, output: expect.stringContaining('"ok"') });
  {
    await using _broken = await undoRevocations(stack, settings['PROBE_CLIENT_ID'] ?? '');
    expect(await run([stack.gateway])).toMatchObject({ code: 1, errors: expect.stringContaining('"stale"') });
  }
  const { code, errors } = await run([stack.gateway], { ...settings, PROBE_SESSION: 'ended' });
  expect([code, JSON.parse(errors)]).toMatchObject([
    1,
    { outcome: 'failed', step: 'connect', reason: expect.stringMatching(/approve was answered with 401$/) },
  ]);
});

test.each([
  [['nowhere'], 2, 'It must be http:// or https:// and a host, without a path.'],
  [['https://health.example/api'], 2, 'without a path'],
  [['https://health.example', '--every', '30'], 2, 'It must be from 1s to 60m, such as 30s.'],
  [['https://health.example', '--metrics-port', '70000'], 2, 'It must be a port.'],
  [['https://health.example'], 1, 'PROBE_SESSION'],
])('phds probe %j ends with %i and names the problem', async (args, code, problem) => {
  expect(await run(args, {})).toMatchObject({ code, errors: expect.stringContaining(problem) });
});

test('a repeated probe exports its rounds, and ends at SIGTERM', async () => {
  const port = await leasePort();
  const program = resolve(import.meta.dirname, '../../../packages/cli/src/main.ts');
  const args = [program, 'probe', stack.gateway, '--every', '1s', '--metrics-port', String(port)];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...settings }, stdio: 'ignore' });
  await eventually(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toMatch(/^phds_probe_runs_total\{outcome="ok"\} [1-9]/m);
    expect(metrics).toMatch(/^phds_stale_after_ack_total 0$/m);
    expect(metrics).toMatch(/^phds_probe_last_success_timestamp_seconds [1-9]/m);
    expect(metrics).toMatch(/^phds_probe_step_duration_seconds_count\{step="refused"\} [1-9]/m);
  });
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
