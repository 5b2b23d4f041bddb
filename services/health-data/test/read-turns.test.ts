import { expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { eventually } from '@phds/test-kit/conditions';
import { openTestPool } from '@phds/test-kit/test-pool';
import { search } from './fhir.ts';
import { startHarness } from './harness.ts';

const SEARCHES = 30;
const LARGE = 'category=laboratory&_count=200';
const HEART = { endpoint: Endpoint.HEALTH_DATA, category: 'heart' };

const BLOCKED =
  'SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.datname = current_database()';

test('reads of an app are served in turn beside many large searches of another, and its newest pages at once', async () => {
  await using harness = await startHarness({ DATABASE_POOL_SIZE: '4' });
  const { consent, database, owner, reads } = harness;
  await using stack = new AsyncDisposableStack();
  const observer = openTestPool(database.ownerUrl, { max: 1 });
  stack.defer(() => observer.end());
  const countBlocked = async () => (await observer.query(BLOCKED)).rows.length;
  const other = await harness.about('ada', { clientId: 'app_other' });
  await owner.query('BEGIN');
  await owner.query('LOCK TABLE reading');
  const answers: Promise<unknown>[] = Array.from({ length: SEARCHES }, () =>
    search(harness, 'Observation', LARGE, { userId: 'ada', clientId: 'app_greedy' }),
  );
  await eventually(async () => (await countBlocked()) > 0);
  answers.push(reads.read({ ...HEART, parameters: { page: { page: 2, pageSize: 20 } } }, other));
  answers.push(reads.read(HEART, other));
  await eventually(async () => (await countBlocked()) > 2);
  await owner.query('COMMIT');
  await Promise.all(answers);
  const apps = consent.accesses.map(({ clientId }) => clientId);
  expect(apps).toHaveLength(SEARCHES + 2);
  expect(apps.lastIndexOf('app_other')).toBeLessThan(5);
});
