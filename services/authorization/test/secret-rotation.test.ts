import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { eventually } from '@phds/test-kit/conditions';
import { shareHarness, type TestApp } from './harness.ts';

const harness = await shareHarness();

let app: TestApp;

beforeEach(async () => {
  app = await harness.registerApp();
});

async function rotate() {
  return harness.apps.rotateSecret({ clientId: app.clientId }, await harness.as('dev'));
}
async function isAdmitted(clientSecret: string): Promise<boolean> {
  const client = { clientId: app.clientId, clientSecret };
  const outcome = harness.authorizations.authenticateClient({ client });
  return outcome.then(
    () => true,
    (error: { reason: string }) => {
      expect(error.reason).toBe('unauthorized');
      return false;
    },
  );
}
const admitted = (...secrets: string[]) => Promise.all(secrets.map(isAdmitted));
describe('a rotation', () => {
  test('ends the old secret before it answers, and no token', async () => {
    const { accessToken } = await harness.exchange(app, await harness.obtainCode(app));
    const { clientSecret, secretLast4 } = await rotate();
    expect(secretLast4).toBe(clientSecret.slice(-4));
    expect(await admitted(app.clientSecret, clientSecret)).toEqual([false, true]);
    expect((await harness.introspect(accessToken)).status).toBe(TokenStatus.LIVE);
  });

  test('has one winner when several meet', async () => {
    const rotations = await Promise.all([1, 2, 3, 4].map(() => rotate()));
    const outcomes = await admitted(app.clientSecret, ...rotations.map(({ clientSecret }) => clientSecret));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
  });

  test('that a change of the app overtakes keeps the later time of that change', async () => {
    const owner = await harness.connect();
    const change = `UPDATE app SET updated_at = updated_at + interval '1 minute' WHERE client_id = $1 RETURNING updated_at`;
    await owner.query('BEGIN');
    const { rows: changed } = await owner.query(change, [app.clientId]);
    const rotation = rotate();
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const observer = await harness.connect('admin');
    await eventually(async () => expect((await observer.query(waiting)).rows).toHaveLength(1));
    await owner.query('COMMIT');
    expect(await admitted((await rotation).clientSecret)).toEqual([true]);
    const read = 'SELECT updated_at FROM app WHERE client_id = $1';
    expect((await owner.query(read, [app.clientId])).rows).toEqual(changed);
  });
});
