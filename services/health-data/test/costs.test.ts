import { describe, expect, test } from '@jest/globals';
import type pg from 'pg';
import type { ChangePlace, ReadingChangeQuery } from '../src/app/ports.ts';
import { createPgReadingChanges } from '../src/store/pg-reading-changes.ts';
import { type Asked, capture, explain } from './plans.ts';
import { type RollupHarness, row, startRollupHarness } from './rollup-harness.ts';

describe('a page of changes', () => {
  const READINGS = 100_000;
  const CHANGES = 1_000;
  const PAGE = 20;

  /** Which of the readings are deleted. */
  const FEW = 'n % 10 = 0';
  const MOST = 'n % 10 > 0';

  /** Heart rates of each minute in many changes, some of them deleted. */
  async function fill({ pool }: RollupHarness, userId: string, deleted = FEW): Promise<void> {
    const minutes = `generate_series(0, ${READINGS - 1}) AS n,
    LATERAL (SELECT '2025-01-01'::timestamptz + n * interval '1 minute' AS at, n / ${READINGS / CHANGES} + 1 AS number) AS t`;
    await pool.query(
      `INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source, change_number)
     SELECT $1, gen_random_uuid(), 'heart-rate', 'heart', at, at, 60, 'iphone', number FROM ${minutes} WHERE NOT (${deleted})`,
      [userId],
    );
    await pool.query(
      `INSERT INTO deleted_reading (user_id, id, type, category, start_at, end_at, source, change_number)
     SELECT $1, gen_random_uuid(), 'heart-rate', 'heart', at, at, 'iphone', number FROM ${minutes} WHERE ${deleted}`,
      [userId],
    );
    await pool.query(
      `INSERT INTO reading_change SELECT $1, n, '2025-06-01'::timestamptz + n * interval '1 minute', '{heart}'
     FROM generate_series(1, ${CHANGES}) AS n`,
      [userId],
    );
  }

  const placeAfter = (number: number): ChangePlace => ({
    seen: { number, at: new Date(Date.UTC(2025, 5, 1, 0, number)) },
    item: null,
  });

  const WHOLE = {
    userId: 'many',
    category: 'heart',
    metric: null,
    since: null,
    limit: PAGE,
    anchor: null,
  } as const;

  test.each([
    ['the beginning', { seen: null, item: null }, null],
    ['the middle', placeAfter(CHANGES / 2), null],
    ['the end', placeAfter(CHANGES), null],
    ['the middle of a data window', placeAfter(CHANGES / 2), new Date('2025-01-20')],
  ])(
    'a page of changes from %s reads about as many rows as it has, by indexes, planned with statistics or without',
    async (_, from, since) => {
      await using harness = await startRollupHarness(1);
      const changes = createPgReadingChanges(harness.pool);
      const list = () => changes.list({ ...WHOLE, since, from });
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

  const SEARCHED = 2_000;

  /** Three readings and two deleted ones of a type that is rare among the others. */
  async function addRare({ pool }: RollupHarness, userId: string): Promise<void> {
    const rows = (numbers: number[]) => `unnest(ARRAY[${numbers}]) AS n,
    LATERAL (SELECT '2025-01-01'::timestamptz + n * interval '99 minutes' AS at) AS t`;
    await pool.query(
      `INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source, change_number)
     SELECT $1, gen_random_uuid(), 'hrv', 'heart', at, at, 40, 'iphone', n FROM ${rows([1, 500, CHANGES])}`,
      [userId],
    );
    await pool.query(
      `INSERT INTO deleted_reading (user_id, id, type, category, start_at, end_at, source, change_number)
     SELECT $1, gen_random_uuid(), 'hrv', 'heart', at, at, 'iphone', n FROM ${rows([250, 750])}`,
      [userId],
    );
  }

  test.each<[string, Partial<ReadingChangeQuery>, number, string]>([
    ['a rare type', { metric: 'hrv' }, 5, FEW],
    ['a rare type, most others deleted,', { metric: 'hrv' }, 5, MOST],
    ['a type without readings', { metric: 'resting-hr' }, 0, FEW],
    ['the last hour', { since: new Date('2025-03-11T09:40:00Z') }, 60, FEW],
    ['an empty data window', { since: new Date('2026-01-01') }, 0, FEW],
  ])(
    'changes of %s are read in pages that each search a limited number of rows, without losing any',
    async (_, wanted, expected, deleted) => {
      await using harness = await startRollupHarness(1);
      const changes = createPgReadingChanges(harness.pool, SEARCHED);
      await fill(harness, 'many', deleted);
      await addRare(harness, 'many');
      const found = new Set<string>();
      let pages = 0;
      let from: ChangePlace = { seen: null, item: null };
      for (let hasMore = true; hasMore; pages += 1) {
        const list = () => changes.list({ ...WHOLE, ...wanted, from });
        const [asked] = await capture(list);
        const page = await list();
        expect(page.isHeld).toBe(true);
        for (const { reading } of page.items) found.add(reading.id);
        if (asked !== undefined && pages % 10 === 0) {
          const { walked, touched } = await explainAlone(harness, asked);
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

  async function explainAlone({ pool }: RollupHarness, asked: Asked) {
    const client = await pool.connect();
    try {
      return await explain(client, asked, true);
    } finally {
      client.release();
    }
  }
});

describe('the rollups of a write', () => {
  const READINGS = 100_000;

  /** The work of a write: index entries followed, and rows read by sequential scans. */
  async function touchedBy(pool: pg.Pool, write: () => Promise<unknown>) {
    const before = await readTouched(pool);
    await write();
    const after = await readTouched(pool);
    return { entries: after.entries - before.entries, scanned: after.scanned - before.scanned };
  }

  async function readTouched(pool: pg.Pool): Promise<{ entries: number; scanned: number }> {
    // The statistics of the connection that wrote; the pool has only one.
    await pool.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await pool.query(`
    SELECT (SELECT sum(idx_tup_read)::int FROM pg_stat_user_indexes) AS entries,
      (SELECT sum(seq_tup_read)::int FROM pg_stat_user_tables) AS scanned`);
    return rows[0];
  }

  /** Heart rates of each minute, for several weeks. */
  async function fill({ pool, rollups }: RollupHarness, userId: string): Promise<void> {
    await pool.query(
      `INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source)
     SELECT $1, gen_random_uuid(), 'heart-rate', 'heart', at, at, 60, 'iphone'
     FROM generate_series(1, $2::int) AS n, LATERAL (SELECT '2025-01-01'::timestamptz + n * interval '1 minute' AS at) AS t`,
      [userId, READINGS],
    );
    await rollups.rebuild(userId, new AbortController().signal);
  }

  test('the cost of a late, changed or deleted reading does not grow with the number of readings', async () => {
    await using harness = await startRollupHarness(1);
    const { pool } = harness;
    for (const userId of ['many', 'others']) await fill(harness, userId);
    const late = row('heart-rate', '2025-02-11T10:20:30Z', 70);
    const writes = [
      () => harness.put('many', [late]),
      () => harness.put('many', [{ ...late, value: 71 }]),
      () => harness.remove('many', [late]),
      () => harness.put('many', [row('steps', '2025-02-11T22:00:00Z', 70)]),
      () => harness.put('many', [row('sleep', '2025-02-11T22:00:00Z', 70, { end: '2025-02-12T06:00:00Z' })]),
    ];
    for (const write of writes) {
      const { entries, scanned } = await touchedBy(pool, write);
      expect(scanned).toBe(0);
      // The minutes of the hour, the hours of the day, the days of the month, the months of the year.
      expect(entries).toBeLessThan(500);
      expect(entries).toBeGreaterThan(0);
    }
  });
});
