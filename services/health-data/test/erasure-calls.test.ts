import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import pg from 'pg';
import { type Harness, reading, reasonOf, startHarness } from './harness.ts';

let harness: Harness;
let admin: pg.Client;
beforeAll(async () => {
  harness = await startHarness();
  admin = new pg.Client({ connectionString: harness.database.adminUrl });
  await admin.connect();
  await admin.query(`SET search_path = ${harness.database.schema}`);
});
afterAll(async () => {
  await admin?.end();
  await harness?.[Symbol.asyncDispose]();
});

const isWaiting = async () => {
  const { rowCount } = await admin.query(`
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
  return rowCount === 1;
};

test('an erasure completes even if its caller gives up', async () => {
  const userId = 'given-up';
  const heart = reading('Heart Rate', '2026-01-02T10:00:00Z', 60);
  await harness.putReadings(userId, [heart]);
  await admin.query('BEGIN');
  await admin.query("SELECT pg_advisory_xact_lock(hashtextextended('health-data ' || $1, 0))", [userId]);
  const patience = new AbortController();
  const reason = reasonOf(harness.ingestion.eraseUser({ userId }, { signal: patience.signal }));
  await eventually(isWaiting);
  patience.abort();
  expect(await reason).toBe('unavailable');
  // On the same connection, so the service has noticed by now that the caller gave up.
  await harness.putReadings('another', [heart]);
  await admin.query('COMMIT');
  await eventually(async () => {
    const { rowCount } = await admin.query('SELECT FROM reading WHERE user_id = $1', [userId]);
    expect(rowCount).toBe(0);
  });
});
