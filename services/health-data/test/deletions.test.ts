import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { findCitusNodes } from '@phds/test-kit/citus';
import { shared } from '@phds/test-kit/shared';
import pg from 'pg';
import { createChangeOutbox } from '../src/change-reports.ts';
import { createUserEraser, USER_TABLES } from '../src/erasure.ts';
import { createImports } from '../src/imports.ts';
import { createReadingWriter, type ReadingWindow } from '../src/ingest-readings.ts';
import { createSummaries } from '../src/summaries.ts';
import type { ReadingRow } from './derived-rows.ts';
import { openInterrupter } from './interrupted-deletions.ts';
import { PATIENT_SCANS } from './patient-scans.ts';
import { row, shareWritingHarness } from './writing-harness.ts';

const PIECE = 10;

const harness = await shareWritingHarness();
const deletions = shared.use(await openInterrupter(harness.database));
beforeEach(() => deletions.cancelNothing());

const minutes = (minute: number) => new Date(Date.UTC(2025, 5, 1, 0, minute * 7)).toISOString();
const heart = (minute: number, source = 'iphone') =>
  row('heart-rate', minutes(minute), 60 + minute, { source });
const times = (number: number, toRow: (index: number) => ReadingRow) =>
  Array.from({ length: number }, (_, index) => toRow(index));

describe('an erasure', () => {
  const weight = (day: number) => row('weight', new Date(Date.UTC(2025, 5, day)).toISOString(), 70);

  const erase = (userId: string) => createUserEraser(harness.pool, PIECE, harness.database).erase(userId);

  /** Number of rows of the person, by table. */
  async function listLeft(userId: string) {
    const counts = USER_TABLES.map(async (table) => {
      const { rowCount } = await harness.pool.query(`SELECT FROM ${table} WHERE user_id = $1`, [userId]);
      return [table, rowCount];
    });
    return (await Promise.all(counts)).filter(([, count]) => count !== 0);
  }

  /** Checks that counts and summaries agree with the stored readings. */
  async function expectAgreement(userId: string): Promise<number> {
    const stored = await harness.storedOf(userId);
    await harness.expectDerived(userId);
    const summaries = await createSummaries(harness.pool, PATIENT_SCANS).summarise({
      askedBy: 'app_erasure',
      userId,
      metrics: ['heart-rate', 'weight'],
      timeZone: 'UTC',
      range: { from: null, to: null },
      since: null,
    });
    expect(summaries.reduce((sum, { count }) => sum + count, 0)).toBe(stored.length);
    return stored.length;
  }

  test('a person with more readings than one statement can delete is erased', async () => {
    await harness.put('much', times(5 * PIECE + 1, heart));
    await harness.put('other', times(PIECE, heart));
    await deletions.cancelWhen(`(SELECT count(*) FROM gone) > ${PIECE}`);
    // The readings, and a row for each of their counts, summaries and changes.
    expect(await erase('much')).toBeGreaterThan(5 * PIECE + 1);
    expect(await erase('much')).toBe(0);
    expect(await listLeft('much')).toEqual([]);
    expect(await expectAgreement('other')).toBe(PIECE);
  });

  test('an interrupted erasure leaves consistent data, and a repeat continues it', async () => {
    const name = { userId: 'broken-off', format: 'fhir', digest: 'a1'.repeat(32) };
    await createImports(harness.pool).start(name, 1n, false, new Date());
    await harness.put('broken-off', [...times(3 * PIECE, heart), ...times(2 * PIECE, weight)]);
    await deletions.cancelWhen(`(SELECT count(*) FROM reading WHERE user_id = 'broken-off') < ${2 * PIECE}`);
    await expect(erase('broken-off')).rejects.toMatchObject({ code: '57014' });
    const left = await expectAgreement('broken-off');
    expect(left).toBeGreaterThanOrEqual(2 * PIECE);
    expect(left).toBeLessThan(3 * PIECE);
    await expect(harness.put('broken-off', [heart(0)], name)).rejects.toMatchObject({ reason: 'not_found' });

    // A new import starts beside the remaining readings.
    await harness.put('broken-off', times(PIECE, heart));
    await harness.expectDerived('broken-off');
    await expect(erase('broken-off')).rejects.toMatchObject({ code: '57014' });
    expect(await expectAgreement('broken-off')).toBeLessThan(3 * PIECE);

    await deletions.cancelNothing();
    await erase('broken-off');
    expect(await listLeft('broken-off')).toEqual([]);
  });

  test('changes that are being reported do not keep back an erasure, and are erased too', async () => {
    const changes = 2 * PIECE + 1;
    for (let i = 0; i < changes; i += 1) await harness.put('reported', [heart(i)]);
    const [taken, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // More than there are, because the other tests leave changes too.
    const fail = (_change: unknown, error: unknown) => {
      throw error;
    };
    const report = () => {
      taken.resolve();
      return released.promise;
    };
    const reporting = createChangeOutbox(harness.pool, harness.database).reportNext(10_000, report, fail);
    await taken.promise;
    await erase('reported');
    released.resolve();
    expect(await reporting).toBeGreaterThanOrEqual(changes);
    expect(await listLeft('reported')).toEqual([]);
  });

  const onCluster = findCitusNodes() === null ? () => undefined : test;
  onCluster('a write whose commit a server does not know yet is erased too', async () => {
    const userId = 'undecided';
    const { pathname } = new URL(harness.database.adminUrl);
    const { rows } = await harness.pool.query(
      `SELECT shard_name AS shard, nodeport AS port FROM citus_shards
       WHERE shardid = get_shard_id_for_distribution_column('profile', $1::text)`,
      [userId],
    );
    const [{ shard, port }] = rows;
    const server = new URL(pathname, harness.database.adminUrl);
    server.port = String(port);
    const worker = new pg.Client({ connectionString: server.href });
    await worker.connect();
    try {
      await worker.query('SET citus.enable_manual_changes_to_shards = on');
      await worker.query('BEGIN');
      await worker.query(`INSERT INTO ${shard} (user_id) VALUES ($1)`, [userId]);
      await worker.query("PREPARE TRANSACTION 'undecided'");
      const erasing = erase(userId);
      const asked = new Set<number>();
      const isOver = erasing.then(() => true);
      while (asked.size < 3 && !(await Promise.race([isOver, setImmediate(false)]))) {
        const found = await harness.pool.query(
          `SELECT extract(epoch FROM query_start)::float8 AS at FROM pg_stat_activity
           WHERE query LIKE '%pg_prepared_xacts%' AND pid <> pg_backend_pid()`,
        );
        for (const { at } of found.rows) asked.add(at);
      }
      // It looks again and again, and has not ended.
      expect(asked.size).toBe(3);
      await worker.query("COMMIT PREPARED 'undecided'");
      await erasing;
      expect(await listLeft(userId)).toEqual([]);
    } finally {
      await worker.query("ROLLBACK PREPARED 'undecided'").catch(() => undefined);
      await worker.end();
    }
  });
});

describe('the deletion of a window', () => {
  function windowOf(changes: Partial<ReadingWindow> = {}): ReadingWindow {
    return { metric: 'heart-rate', source: null, range: { from: null, to: null }, ...changes };
  }

  const remove = (userId: string, ...windows: ReadingWindow[]) =>
    createReadingWriter(harness.pool, PIECE).delete(userId, [], windows);

  async function countStored(userId: string): Promise<number> {
    return (await harness.storedOf(userId)).length;
  }

  test('readings of other sources, at the same instants and outside the window are kept', async () => {
    const sources = ['apple-watch', 'csv', 'iphone'];
    // More readings at one instant than one deletion piece.
    const ends = times(2 * PIECE, (index) =>
      row('heart-rate', minutes(20), 50, { end: minutes(21 + index), source: 'csv' }),
    );
    await harness.put('some-in-a-window', [
      ...sources.flatMap((source) => times(3 * PIECE, (index) => heart(index, source))),
      ...ends,
    ]);
    const range = { from: new Date(minutes(5)), to: new Date(minutes(25)) };
    expect(await remove('some-in-a-window', windowOf({ source: 'csv', range }))).toBe(20 + 2 * PIECE);
    const left = await harness.storedOf('some-in-a-window');
    const csv = left
      .filter(({ source }) => source === 'csv')
      .map(({ start }) => new Date(start).toISOString());
    expect(left.length).toBe(9 * PIECE - 20);
    expect(csv.filter((at) => at >= minutes(5) && at < minutes(25))).toEqual([]);
    await harness.expectDerived('some-in-a-window');
  });

  test('an interrupted deletion leaves consistent counts and quarter hours, and a repeat completes it', async () => {
    await harness.put('interrupted-in-a-window', times(4 * PIECE, heart));
    await deletions.cancelWhen(
      `(SELECT count(*) FROM reading WHERE user_id = 'interrupted-in-a-window') < ${2 * PIECE}`,
    );
    await expect(remove('interrupted-in-a-window', windowOf())).rejects.toMatchObject({
      code: '57014',
    });
    expect(await countStored('interrupted-in-a-window')).toBe(2 * PIECE);
    await harness.expectDerived('interrupted-in-a-window');

    await deletions.cancelNothing();
    expect(await remove('interrupted-in-a-window', windowOf())).toBe(2 * PIECE);
    expect(await countStored('interrupted-in-a-window')).toBe(0);
    await harness.expectDerived('interrupted-in-a-window');
    expect(await remove('interrupted-in-a-window', windowOf())).toBe(0);
  });
});
