import { expect, test } from '@jest/globals';
import type { ChangePlace } from '../src/app/change-ports.ts';
import { createPgReadingChanges } from '../src/store/pg-reading-changes.ts';
import { capture, explain } from './plans.ts';
import { type RollupHarness, startRollupHarness } from './rollup-harness.ts';

const READINGS = 100_000;
const CHANGES = 1_000;
const PAGE = 20;

/** Heart rates of each minute in many changes, every tenth of them deleted. */
async function fill({ pool }: RollupHarness, userId: string): Promise<void> {
  const minutes = `generate_series(0, ${READINGS - 1}) AS n,
    LATERAL (SELECT '2025-01-01'::timestamptz + n * interval '1 minute' AS at, n / ${READINGS / CHANGES} + 1 AS number) AS t`;
  await pool.query(
    `INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source, change_number)
     SELECT $1, gen_random_uuid(), 'heart-rate', 'heart', at, at, 60, 'iphone', number FROM ${minutes} WHERE n % 10 > 0`,
    [userId],
  );
  await pool.query(
    `INSERT INTO deleted_reading (user_id, id, type, category, start_at, end_at, source, change_number)
     SELECT $1, gen_random_uuid(), 'heart-rate', 'heart', at, at, 'iphone', number FROM ${minutes} WHERE n % 10 = 0`,
    [userId],
  );
  await pool.query(
    `INSERT INTO reading_change SELECT $1, n, '2025-06-01'::timestamptz + n * interval '1 minute', '{heart}'
     FROM generate_series(1, ${CHANGES}) AS n`,
    [userId],
  );
}

const after = (number: number): ChangePlace => ({
  seen: { number, at: new Date(Date.UTC(2025, 5, 1, 0, number)) },
  item: null,
});

test.each([
  ['the beginning', { seen: null, item: null }, null],
  ['the middle', after(CHANGES / 2), null],
  ['the end', after(CHANGES), null],
  ['the middle of a data window', after(CHANGES / 2), new Date('2025-01-20')],
])(
  'a page of changes from %s reads about as many rows as it has, by indexes, planned with statistics or without',
  async (_, from, since) => {
    await using harness = await startRollupHarness(1);
    const changes = createPgReadingChanges(harness.pool);
    const list = () =>
      changes.list({ userId: 'many', category: 'heart', metric: null, since, limit: PAGE, from });
    for (const userId of ['many', 'others']) await fill(harness, userId);
    const [asked] = await capture(list);
    if (asked === undefined) throw new Error('nothing was asked');
    const client = await harness.pool.connect();
    try {
      for (const statistics of ['none', 'current']) {
        if (statistics === 'current') await client.query('ANALYZE reading');
        const { walked, touched } = await explain(client, asked, true);
        expect(walked).toEqual([]);
        expect(touched).toBeLessThan(10 * PAGE);
      }
    } finally {
      client.release();
    }
    const { items, hasMore } = await list();
    expect(items).toHaveLength(from.seen?.number === CHANGES ? 0 : PAGE);
    expect(hasMore).toBe(items.length > 0);
  },
);
