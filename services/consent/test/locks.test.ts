import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { openTestPool } from '@phds/test-kit/test-pool';
import type pg from 'pg';
import { approve, type RunningService, registerApp, startConsent } from './running-service.ts';

let consent: RunningService;
let admin: pg.Pool;

beforeAll(async () => {
  consent = await startConsent();
  admin = openTestPool(consent.database.adminUrl, { max: 1 });
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

/** Three grants, the newest with the smallest id: the table and its time index order them differently from their ids. */
async function grantsAgainstTheOrderOfIds(userId: string): Promise<string[]> {
  const ids = ['c', 'b', 'a'].map((letter) => `grt_${letter}_${userId}`);
  for (const id of ids) {
    const { grantId } = await approve(consent, await registerApp(consent), userId);
    await consent.owner.query('UPDATE consent_grant SET id = $2 WHERE id = $1', [grantId, id]);
  }
  return ids;
}

test('revoking all grants of a person and erasing the person concurrently both succeed', async () => {
  const [, middle] = await grantsAgainstTheOrderOfIds('leaving');
  const session = await consent.session('leaving');
  const holder = await consent.owner.connect();
  // Held until both have begun, each with its locks on the earlier grants.
  await holder.query('BEGIN');
  await holder.query('SELECT FROM consent_grant WHERE id = $1 FOR UPDATE', [middle]);
  const revoking = consent.asGateway.revokeAllGrants({}, session);
  await eventually(async () => expect(await waitingForLocks()).toBe(1));
  const erasing = consent.asOperator.eraseUser({ userId: 'leaving' });
  await eventually(async () => expect(await waitingForLocks()).toBe(2));
  await holder.query('ROLLBACK');
  holder.release();
  const outcomes = await Promise.allSettled([revoking, erasing]);
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: { revoked: 3 } },
    { status: 'fulfilled', value: { grants: 3 } },
  ]);
});
