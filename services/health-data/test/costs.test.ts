import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Asked, capture, explain } from '@phds/test-kit/plans';
import type { ChangePlace } from '../src/change-cursors.ts';
import { createReadingChanges, type ReadingChangeQuery } from '../src/reading-changes.ts';
import { row, shareWritingHarness } from './writing-harness.ts';

const READINGS = 20_000;
const CHANGES = 1_000;

/** People and which of their readings are deleted. */
const PEOPLE = { many: 'n % 10 = 0', others: 'n % 10 = 0', deleted: 'n % 10 > 0' };

const harness = await shareWritingHarness(1);
for (const [userId, deleted] of Object.entries(PEOPLE)) await fill(userId, deleted);

/** Heart rates of each minute in many changes, and a few of a rare type. */
async function fill(userId: string, deleted: string): Promise<void> {
  const heart = `'heart-rate' AS type, n / ${READINGS / CHANGES} + 1 AS number, n * interval '1 minute' AS after
    FROM generate_series(0, ${READINGS - 1}) AS n`;
  const rare = (numbers: string) => `'hrv', n, n * interval '19 minutes' FROM unnest(ARRAY[${numbers}]) AS n`;
  const insert = (table: string, value: string, rows: string) =>
    harness.pool.query(
      `INSERT INTO ${table} (user_id, id, type, category, source, ${value} change_number, start_at, end_at)
       SELECT $1, gen_random_uuid(), type, 'heart', 'iphone', ${value && '60,'} number, at, at
       FROM (SELECT ${rows}) AS placed, LATERAL (SELECT '2025-01-01'::timestamptz + after AS at) AS t`,
      [userId],
    );
  await insert(
    'reading',
    'value,',
    `${heart} WHERE NOT (${deleted}) UNION ALL SELECT ${rare('1, 500, 1000')}`,
  );
  await insert('deleted_reading', '', `${heart} WHERE ${deleted} UNION ALL SELECT ${rare('250, 750')}`);
  await harness.pool.query(
    `INSERT INTO reading_change SELECT $1, n, '2025-06-01'::timestamptz + n * interval '1 minute', '{heart}'
     FROM generate_series(1, ${CHANGES}) AS n`,
    [userId],
  );
}

const planOf = (asked: Asked) => explain(harness.pool, asked, true);

const PAGE = 20;
const BEGINNING: ChangePlace = { seen: null, item: null };
const WHOLE = { category: 'heart', metric: null, since: null, limit: PAGE, anchor: null } as const;

describe.each(['without statistics', 'with statistics'])('a page of changes planned %s', (statistics) => {
  beforeAll(async () => {
    if (statistics === 'with statistics') await harness.pool.query('ANALYZE reading');
  });

  const placeAfter = (number: number): ChangePlace => ({
    seen: { number, at: Date.UTC(2025, 5, 1, 0, number) },
    item: null,
  });

  test.each([
    ['the beginning', BEGINNING, null],
    ['the middle', placeAfter(CHANGES / 2), null],
    ['the end', placeAfter(CHANGES), null],
    ['the middle of a data window', placeAfter(CHANGES / 2), Date.parse('2025-01-04')],
  ])('reads from %s about as many rows as it has, by indexes', async (_, from, since) => {
    const changes = createReadingChanges(harness.pool);
    const list = () => changes.list({ ...WHOLE, userId: 'many', since, from });
    const [asked] = (await capture(list)) as [Asked];
    const { walked, touched } = await planOf(asked);
    expect(walked).toEqual([]);
    expect(touched).toBeLessThan(10 * PAGE);
    const { items, hasMore } = await list();
    expect(items).toHaveLength(from.seen?.number === CHANGES ? 0 : PAGE);
    expect(hasMore).toBe(items.length > 0);
  });
});

describe('changes that are few among many', () => {
  const SEARCHED = 500;

  test.each<[string, Partial<ReadingChangeQuery>, number, keyof typeof PEOPLE]>([
    ['a rare type', { metric: 'hrv' }, 5, 'many'],
    ['a rare type, most others deleted,', { metric: 'hrv' }, 5, 'deleted'],
    ['a type without readings', { metric: 'resting-hr' }, 0, 'many'],
    ['the last hour', { since: Date.parse('2025-01-14T20:20:00Z') }, 60, 'many'],
    ['an empty data window', { since: Date.parse('2026-01-01') }, 0, 'many'],
  ])(
    'changes of %s are read in pages that each search a limited number of rows, without losing any',
    async (_, wanted, expected, userId) => {
      const changes = createReadingChanges(harness.pool, SEARCHED);
      const found = new Set<string>();
      let pages = 0;
      let from = BEGINNING;
      for (let hasMore = true; hasMore; pages += 1) {
        let page: Awaited<ReturnType<typeof changes.list>> | undefined;
        const [asked] = await capture(async () => {
          page = await changes.list({ ...WHOLE, ...wanted, userId, from });
        });
        if (asked === undefined || page === undefined) throw new Error('nothing was asked');
        expect(page.isHeld).toBe(true);
        for (const { reading } of page.items) found.add(reading.id);
        if (pages % 10 === 0) {
          const { walked, touched } = await planOf(asked);
          expect(walked).toEqual([]);
          // Twice in either table, and for the last visible change; ties of the position and of the last row.
          expect(touched).toBeLessThan(7 * SEARCHED + 10 * PAGE);
        }
        ({ hasMore, next: from } = page);
      }
      expect(found.size).toBe(expected);
      expect(pages).toBeLessThan(2 + READINGS / SEARCHED + expected / PAGE);
    },
  );
});

describe('the quarter hours of a write', () => {
  /** The work of a write: index entries followed, and rows read by sequential scans. */
  async function touchedBy(write: () => Promise<unknown>) {
    const before = await readTouched();
    await write();
    const after = await readTouched();
    return { entries: after.entries - before.entries, scanned: after.scanned - before.scanned };
  }

  async function readTouched(): Promise<{ entries: number; scanned: number }> {
    // The statistics of the connection that wrote; the pool has only one.
    await harness.pool.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await harness.pool.query(`
      SELECT (SELECT sum(idx_tup_read)::int FROM pg_stat_user_indexes) AS entries,
        (SELECT sum(seq_tup_read)::int FROM pg_stat_user_tables) AS scanned`);
    return rows[0];
  }

  test('the cost of a late, changed or deleted reading does not grow with the number of readings', async () => {
    const late = row('heart-rate', '2025-01-09T10:20:30Z', 70);
    const writes = [
      () => harness.put('many', [late]),
      () => harness.put('many', [{ ...late, value: 71 }]),
      () => harness.remove('many', [late]),
      () => harness.put('many', [row('steps', '2025-01-09T22:00:00Z', 70)]),
      () => harness.put('many', [row('sleep', '2025-01-09T22:00:00Z', 70, { end: '2025-01-10T06:00:00Z' })]),
    ];
    for (const write of writes) {
      const { entries, scanned } = await touchedBy(write);
      expect(scanned).toBe(0);
      expect(entries).toBeLessThan(100);
      expect(entries).toBeGreaterThan(0);
    }
  });
});
