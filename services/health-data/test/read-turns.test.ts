import { expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { eventually } from '@phds/test-kit/conditions';
import { openTestPool } from '@phds/test-kit/test-pool';
import { startHarness } from './harness.ts';

const PAGES = 30;
const HEART = { endpoint: Endpoint.HEALTH_DATA, category: 'heart' };

const pageOf = (page: number) => ({ page: { page, pageSize: 20 } });

const BLOCKED =
  'SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.datname = current_database()';

test('pages and newest readings of an app are answered while many reads of another hang', async () => {
  await using harness = await startHarness({ DATABASE_POOL_SIZE: '16' });
  const { database, owner, reads } = harness;
  await using stack = new AsyncDisposableStack();
  const observer = openTestPool(database.ownerUrl, { max: 1 });
  stack.defer(() => observer.end());
  const countBlocked = async () => (await observer.query(BLOCKED)).rows.length;
  const other = await harness.about('ada', { clientId: 'app_other' });
  await owner.query('BEGIN');
  await owner.query('LOCK TABLE medication');
  const greedy = await harness.about('ada', { clientId: 'app_greedy' });
  const pages = Array.from({ length: PAGES }, () =>
    reads.read({ endpoint: Endpoint.MEDICATIONS, parameters: pageOf(2) }, greedy),
  );
  await eventually(async () => expect(await countBlocked()).toBe(2));
  // Readings have a table of their own, which is not locked.
  for (const page of [1, 2]) await reads.read({ ...HEART, parameters: pageOf(page) }, other);
  await owner.query('COMMIT');
  await Promise.all(pages);
});
