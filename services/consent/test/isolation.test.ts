import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { toRuntimeRole } from '@phds/service-kit/postgres/postgres-names';
import { eventually } from '@phds/test-kit/conditions';
import { createTestDatabase } from '@phds/test-kit/databases';
import { openTestPool } from '@phds/test-kit/test-pool';
import type pg from 'pg';
import {
  approve,
  GLUCOSE,
  HEART,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;
let admin: pg.Pool;

beforeAll(async () => {
  const database = await createTestDatabase('consent');
  admin = openTestPool(database.adminUrl, { max: 1 });
  const { rows } = await admin.query<{ name: string }>('SELECT current_database() AS name');
  const name = rows[0]?.name;
  await admin.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
  await admin.query(`ALTER ROLE ${toRuntimeRole('consent')} IN DATABASE ${name}
    SET default_transaction_isolation = 'repeatable read'`);
  consent = await startConsent({ database });
});
afterAll(async () => {
  await admin.end();
  await consent[Symbol.asyncDispose]();
});

async function waitingForLocks(): Promise<number> {
  const { rows } = await admin.query<{ waiting: number }>(
    `SELECT count(*)::int AS waiting FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.waiting ?? 0;
}

// With any other isolation level, the transaction would continue with the snapshot from before the wait.
test('a decision that waited for a lock sees concurrent commits, whatever the default isolation of database and role', async () => {
  const { grantId } = await approve(consent, await registerApp(consent), 'narrowing');
  const session = await consent.session('narrowing');
  const holder = await consent.owner.connect();
  await holder.query('BEGIN');
  await holder.query('UPDATE consent_grant SET scopes = $2 WHERE id = $1', [grantId, [GLUCOSE]]);
  const narrowing = consent.asGateway.narrowGrant({ id: grantId, setScopes: true, scopes: [HEART] }, session);
  const outcome = Promise.allSettled([narrowing]);
  await eventually(async () => expect(await waitingForLocks()).toBe(1));
  await holder.query('COMMIT');
  holder.release();
  // HEART was withdrawn in the meantime, so it cannot be kept.
  expect(await outcome).toMatchObject([{ status: 'rejected', reason: { reason: 'invalid_request' } }]);
});
