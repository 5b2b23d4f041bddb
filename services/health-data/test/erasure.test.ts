import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { createPgChangeOutbox } from '../src/store/pg-change-outbox.ts';
import { createPgImports } from '../src/store/pg-imports.ts';
import { createPgSandboxPeople } from '../src/store/pg-sandbox-people.ts';
import { createPgSummaries } from '../src/store/pg-summaries.ts';
import { createPgUserEraser, USER_TABLES } from '../src/store/pg-user-eraser.ts';
import { type Interrupter, openInterrupter } from './interrupted-deletions.ts';
import { PATIENT_SCANS } from './patient-scans.ts';
import { type RollupHarness, row, startRollupHarness } from './rollup-harness.ts';
import { computeKept, type ReadingRow } from './rollup-reference.ts';

const PIECE = 10;

let harness: RollupHarness;
let deletions: Interrupter;
beforeAll(async () => {
  harness = await startRollupHarness();
  deletions = await openInterrupter(harness.database);
});
afterAll(async () => {
  await deletions[Symbol.asyncDispose]();
  await harness[Symbol.asyncDispose]();
});

const heart = (minute: number) =>
  row('heart-rate', new Date(Date.UTC(2025, 5, 1, 0, minute * 7)).toISOString(), 60);
const weight = (day: number) => row('weight', new Date(Date.UTC(2025, 5, day)).toISOString(), 70);
const times = (number: number, toRow: (index: number) => ReadingRow) =>
  Array.from({ length: number }, (_, index) => toRow(index));

const erase = (userId: string) => createPgUserEraser(harness.pool, PIECE).erase(userId);

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
  const ofCounts = (rows: readonly string[]) => rows.filter((text) => text.startsWith('reading_count'));
  expect(ofCounts(await harness.keptOf(userId))).toEqual(ofCounts(computeKept(stored, 'UTC')));
  const summaries = await createPgSummaries(harness.pool, PATIENT_SCANS).summarise({
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
  await erase('much');
  expect(await listLeft('much')).toEqual([]);
  expect(await expectAgreement('other')).toBe(PIECE);
});

test('an interrupted erasure leaves consistent data, and a repeat continues it', async () => {
  const name = { userId: 'broken-off', format: 'fhir', digest: 'a1'.repeat(32) };
  await createPgImports(harness.pool).start(name, 1, false, new Date());
  await harness.put('broken-off', [...times(3 * PIECE, heart), ...times(2 * PIECE, weight)]);
  await deletions.cancelWhen(`(SELECT count(*) FROM reading WHERE user_id = 'broken-off') < ${2 * PIECE}`);
  await expect(erase('broken-off')).rejects.toMatchObject({ reason: 'unavailable' });
  const left = await expectAgreement('broken-off');
  expect(left).toBeGreaterThanOrEqual(2 * PIECE);
  expect(left).toBeLessThan(3 * PIECE);
  await expect(harness.put('broken-off', [heart(0)], name)).rejects.toMatchObject({ reason: 'not_found' });

  // A new import starts: its rollups are those of the remaining readings, and are deleted first again.
  await harness.put('broken-off', times(PIECE, heart));
  await harness.expectKept('broken-off');
  await expect(erase('broken-off')).rejects.toMatchObject({ reason: 'unavailable' });
  expect(await expectAgreement('broken-off')).toBeLessThan(3 * PIECE);

  await deletions.cancelNothing();
  await erase('broken-off');
  expect(await listLeft('broken-off')).toEqual([]);
});

/** Waits until a statement waits for a row. */
const untilWaiting = () =>
  eventually(async () => {
    const { rowCount } = await harness.pool.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    expect(rowCount).toBe(1);
  });

test('changes that are being reported during an erasure are erased too', async () => {
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
  const reporting = createPgChangeOutbox(harness.pool).reportNext(10_000, report, fail);
  await taken.promise;
  const erasing = erase('reported');
  await untilWaiting();
  released.resolve();
  expect(await reporting).toBeGreaterThanOrEqual(changes);
  await erasing;
  expect(await listLeft('reported')).toEqual([]);
});

test('a sandbox person who is used during an erasure is erased too', async () => {
  const userId = 'sandbox:app_sandbox_1:dora';
  const now = new Date();
  await createPgSandboxPeople(harness.pool).use(userId, now, null);
  const other = await harness.pool.connect();
  try {
    await other.query('BEGIN');
    await other.query('UPDATE sandbox_person SET changes = changes + 1 WHERE user_id = $1', [userId]);
    const erasing = erase(userId);
    await untilWaiting();
    await other.query('COMMIT');
    await erasing;
  } finally {
    other.release();
  }
  expect(await listLeft(userId)).toEqual([]);
});

describe('the erasure of a sandbox person whom nobody uses', () => {
  const [before, since, now] = ['2026-01-01', '2026-01-02', '2026-01-03'].map((day) => new Date(day)) as [
    Date,
    Date,
    Date,
  ];

  async function preparePerson(userId: string) {
    const people = createPgSandboxPeople(harness.pool);
    await people.use(userId, before, null);
    await harness.put(userId, times(3 * PIECE, heart));
    await people.made(userId, before);
    return people;
  }
  const eraseUnused = (userId: string) => createPgUserEraser(harness.pool, PIECE).eraseUnused(userId, since);

  test('removes everything', async () => {
    const userId = 'sandbox:app_sandbox_2:ada';
    await preparePerson(userId);
    await eraseUnused(userId);
    expect(await listLeft(userId)).toEqual([]);
  });

  test('removes nothing of a person who is used just before it begins', async () => {
    const userId = 'sandbox:app_sandbox_3:ada';
    const people = await preparePerson(userId);
    const other = await harness.pool.connect();
    try {
      await other.query('BEGIN');
      await other.query('UPDATE sandbox_person SET used_at = $2 WHERE user_id = $1', [userId, now]);
      const erasing = eraseUnused(userId);
      await untilWaiting();
      await other.query('COMMIT');
      await erasing;
    } finally {
      other.release();
    }
    expect(await harness.storedOf(userId)).toHaveLength(3 * PIECE);
    expect((await people.use(userId, now, null)).madeUntil).toEqual(before);
  });

  test('stops at a use between two pieces, which makes the data anew', async () => {
    const userId = 'sandbox:app_sandbox_4:ada';
    const people = await preparePerson(userId);
    await deletions.cancelWhen(`(SELECT count(*) FROM reading WHERE user_id = '${userId}') < ${PIECE}`);
    await expect(eraseUnused(userId)).rejects.toMatchObject({ reason: 'unavailable' });
    await deletions.cancelNothing();
    expect((await people.use(userId, now, null)).madeUntil).toBeNull();
    const left = await expectAgreement(userId);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(3 * PIECE);
    await eraseUnused(userId);
    expect(await harness.storedOf(userId)).toHaveLength(left);
  });
});
