import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ReadingWindow } from '../src/app/ports.ts';
import { createPgReadingWriter } from '../src/store/pg-reading-writer.ts';
import { type Interrupter, openInterrupter } from './interrupted-deletions.ts';
import { type RollupHarness, row, startRollupHarness } from './rollup-harness.ts';
import type { ReadingRow } from './rollup-reference.ts';

const PIECE = 10;

let harness: RollupHarness;
let deletions: Interrupter;
beforeAll(async () => {
  harness = await startRollupHarness();
  deletions = await openInterrupter(harness.database);
});
beforeEach(() => deletions.cancelNothing());
afterAll(async () => {
  await deletions[Symbol.asyncDispose]();
  await harness[Symbol.asyncDispose]();
});

const minutes = (minute: number) => new Date(Date.UTC(2025, 5, 1, 0, minute * 7)).toISOString();
const heart = (minute: number, source = 'iphone') =>
  row('heart-rate', minutes(minute), 60 + minute, { source });
const times = (number: number, toRow: (index: number) => ReadingRow) =>
  Array.from({ length: number }, (_, index) => toRow(index));

function windowOf(changes: Partial<ReadingWindow> = {}): ReadingWindow {
  return { metric: 'heart-rate', source: null, range: { from: null, to: null }, ...changes };
}

const remove = (userId: string, ...windows: ReadingWindow[]) =>
  createPgReadingWriter(harness.pool, (id) => harness.deferred.push(id), PIECE).delete(userId, [], windows);

async function countStored(userId: string): Promise<number> {
  return (await harness.storedOf(userId)).length;
}

test('a window with more readings than one statement can delete is deleted', async () => {
  await harness.put('much', times(5 * PIECE + 1, heart));
  await harness.put('much', [row('steps', minutes(0), 5)]);
  await deletions.cancelWhen(`(SELECT count(*) FROM gone) > ${PIECE}`);
  expect(await remove('much', windowOf())).toBe(5 * PIECE + 1);
  expect((await harness.storedOf('much')).map(({ type }) => type)).toEqual(['steps']);
  await harness.expectKept('much');
});

test('readings of other sources, at the same instants and outside the window are kept', async () => {
  const sources = ['apple-watch', 'csv', 'iphone'];
  // More readings at one instant than one deletion piece.
  const ends = times(2 * PIECE, (index) =>
    row('heart-rate', minutes(20), 50, { end: minutes(21 + index), source: 'csv' }),
  );
  await harness.put('some', [
    ...sources.flatMap((source) => times(3 * PIECE, (index) => heart(index, source))),
    ...ends,
  ]);
  const range = { from: new Date(minutes(5)), to: new Date(minutes(25)) };
  expect(await remove('some', windowOf({ source: 'csv', range }))).toBe(20 + 2 * PIECE);
  const left = await harness.storedOf('some');
  const csv = left.filter(({ source }) => source === 'csv').map(({ start }) => new Date(start).toISOString());
  expect(left.length).toBe(9 * PIECE - 20);
  expect(csv.filter((at) => at >= minutes(5) && at < minutes(25))).toEqual([]);
  await harness.expectKept('some');
});

test('an interrupted deletion leaves consistent counts and rollups, and a repeat completes it', async () => {
  await harness.put('interrupted', times(4 * PIECE, heart));
  await deletions.cancelWhen(`(SELECT count(*) FROM reading WHERE user_id = 'interrupted') < ${2 * PIECE}`);
  await expect(remove('interrupted', windowOf())).rejects.toMatchObject({ reason: 'unavailable' });
  expect(await countStored('interrupted')).toBe(2 * PIECE);
  await harness.expectKept('interrupted');

  await deletions.cancelNothing();
  expect(await remove('interrupted', windowOf())).toBe(2 * PIECE);
  expect(await countStored('interrupted')).toBe(0);
  await harness.expectKept('interrupted');
  expect(await remove('interrupted', windowOf())).toBe(0);
});

test('a deletion in pieces rebuilds invalid rollups', async () => {
  await harness.put('stale', times(3 * PIECE, heart));
  await harness.invalidate('stale');
  expect(await remove('stale', windowOf({ range: { from: new Date(minutes(5)), to: null } }))).toBe(
    3 * PIECE - 5,
  );
  await harness.expectKept('stale');
});
