import { expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import pg from 'pg';
import { bodyOf, reading, startHarness } from './harness.ts';

test('waiting importers leave connections for reads', async () => {
  await using small = await startHarness({ DATABASE_POOL_SIZE: '2' });
  const other = new pg.Client({ connectionString: small.database.adminUrl });
  await other.connect();
  // As another replica that writes for the same person.
  const key = "hashtextextended('health-data waiting', 0)";
  await other.query(`SELECT pg_advisory_lock(${key})`);
  const one = [reading('Heart Rate', '2026-01-02T10:00:00Z', 60)];
  const puts = Array.from({ length: 12 }, (_, n) =>
    small.putReadings(n % 2 === 0 ? 'waiting' : `other-${n}`, one),
  );
  const read = await small.reads.read(
    { endpoint: Endpoint.HEALTH_DATA, category: 'heart' },
    await small.about('reader'),
  );
  expect(bodyOf(read).pagination.total).toBe(0);
  await other.query(`SELECT pg_advisory_unlock(${key})`);
  const results = await Promise.all(puts);
  expect(results.map(({ inserted }) => inserted).toSorted()).toEqual([
    ...Array(5).fill(0),
    ...Array(7).fill(1),
  ]);
  await other.end();
});
