import { expect, test } from '@jest/globals';
import { toRuntimeRole } from '@phds/service-kit/postgres/postgres-names';
import { eventually } from '@phds/test-kit/conditions';
import { createTestDatabase } from '@phds/test-kit/databases';
import { shared } from '@phds/test-kit/shared';
import { openTestPool } from '@phds/test-kit/test-pool';
import { countLockWaits } from './database-clients.ts';
import { approve, GLUCOSE, HEART, registerApp, shareConsent } from './running-service.ts';

/** A database and a role with other default isolation levels than the service needs. */
const database = await createTestDatabase('consent');
const admin = openTestPool(database.adminUrl, { max: 1 });
const { rows } = await admin.query<{ name: string }>('SELECT current_database() AS name');
const name = rows[0]?.name;
await admin.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
await admin.query(`ALTER ROLE ${toRuntimeRole('consent')} IN DATABASE ${name}
  SET default_transaction_isolation = 'repeatable read'`);
const consent = await shareConsent({ database });
shared.defer(() => admin.end());

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
  await eventually(async () => expect(await countLockWaits(admin)).toBe(1));
  const erasing = consent.asOperator.eraseUser({ userId: 'leaving' });
  await eventually(async () => expect(await countLockWaits(admin)).toBe(2));
  await holder.query('ROLLBACK');
  holder.release();
  const outcomes = await Promise.allSettled([revoking, erasing]);
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: { revoked: 3 } },
    { status: 'fulfilled', value: { grants: 3 } },
  ]);
});

// With any other isolation level, the transaction would continue with the snapshot from before the wait.
test('a decision that waited for a lock sees concurrent commits, whatever the default isolation of database and role', async () => {
  const { grantId } = await approve(consent, await registerApp(consent), 'narrowing');
  const session = await consent.session('narrowing');
  const holder = await consent.owner.connect();
  await holder.query('BEGIN');
  await holder.query('UPDATE consent_grant SET scopes = $2 WHERE id = $1', [grantId, [GLUCOSE]]);
  const narrowing = consent.asGateway.narrowGrant({ id: grantId, setScopes: true, scopes: [HEART] }, session);
  const outcome = Promise.allSettled([narrowing]);
  await eventually(async () => expect(await countLockWaits(admin)).toBe(1));
  await holder.query('COMMIT');
  holder.release();
  // HEART was withdrawn in the meantime, so it cannot be kept.
  expect(await outcome).toMatchObject([{ status: 'rejected', reason: { reason: 'invalid_request' } }]);
});
