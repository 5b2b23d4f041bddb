import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { eventually } from '@phds/test-kit/conditions';
import { BatchedReads, etagOf, FakeStream, HEART, reasonOf, responseOf } from './fake-read-stream.ts';

let reads: BatchedReads;
beforeEach(() => {
  reads = new BatchedReads();
});
afterEach(() => reads[Symbol.dispose]());

describe('a batch', () => {
  test('leaves at once, with all reads that arrive in the same turn, and each gets its own answer', async () => {
    const outcomes = reads.readMany(3, 'r');
    await reads.stream.whenSent(1);
    expect(reads.stream.ids(0)).toEqual(['r0', 'r1', 'r2']);
    expect(reads.stream.batches[0]?.[0]).toMatchObject({ assertion: 'a.b.c' });
    reads.stream.answer(0);
    expect(await Promise.all(outcomes.map(etagOf))).toEqual(['r0', 'r1', 'r2']);
    expect(reads.alone).toEqual([]);
  });

  test('has at most 64 reads, and two are in flight: the rest waits until one is answered', async () => {
    const { stream } = reads;
    const outcomes = reads.readMany(300, 'r');
    await stream.whenSent(2);
    expect(stream.batches.map(({ length }) => length)).toEqual([64, 64]);
    stream.answer(1);
    await stream.whenSent(3);
    expect(stream.ids(2)).toEqual(Array.from({ length: 64 }, (_, index) => `r${index + 128}`));
    stream.answer(0);
    await stream.whenSent(4);
    stream.answer(2);
    await stream.whenSent(5);
    stream.answer(3);
    stream.answer(4);
    expect(await Promise.all(outcomes.map(etagOf))).toEqual(outcomes.map((_, index) => `r${index}`));
  });

  test('with a slow read does not hold up the following ones', async () => {
    const { stream } = reads;
    const slow: ReturnType<BatchedReads['read']>[] = [];
    for (const index of [0, 1]) {
      slow.push(reads.read('slow'), reads.read('fast'));
      await stream.whenSent(index + 1);
      stream.batches[index]?.[1]?.resolve(responseOf('fast'));
    }
    const next = reads.read('next');
    await stream.whenSent(3);
    stream.answer(2);
    expect(await etagOf(next)).toBe('next');
    stream.answer(0);
    stream.answer(1);
    expect(await Promise.all(slow.map(etagOf))).toEqual(['slow', 'fast', 'slow', 'fast']);
  });

  test('goes to the replica with the fewest unanswered reads', async () => {
    const other = new FakeStream();
    reads.open = [reads.stream, other];
    void reads.readMany(10, 'a');
    await reads.stream.whenSent(1);
    const outcome = reads.read('b');
    await other.whenSent(1);
    other.answer(0);
    expect(await etagOf(outcome)).toBe('b');
    expect(reads.stream.batches).toHaveLength(1);
  });

  test('is shared by the apps in turn: an app with few reads does not wait behind one with many', async () => {
    await reads.fill(2);
    void reads.readMany(500, 'busy', { clientId: 'app_busy' });
    void reads.readMany(3, 'quiet', { clientId: 'app_quiet' });
    void reads.read('single', { clientId: 'app_single' });
    reads.stream.answer(0);
    await reads.stream.whenSent(3);
    const ids = reads.stream.ids(2);
    expect(ids).toHaveLength(64);
    expect(ids.slice(0, 7)).toEqual(['busy0', 'quiet0', 'single', 'busy1', 'quiet1', 'busy2', 'quiet2']);
  });
});

describe('a waiting read', () => {
  test('is dropped if its client hangs up before it is sent', async () => {
    await reads.fill();
    const gone = reads.read('gone', { isWanted: () => false });
    const wanted = reads.read('wanted');
    reads.stream.answer(0);
    await reads.stream.whenSent(2);
    expect(reads.stream.ids(1)).toEqual(['wanted']);
    reads.stream.answer(1);
    expect(await etagOf(wanted)).toBe('wanted');
    expect(await reasonOf(gone)).toBe('unavailable');
    expect(reads.alone).toEqual([]);
  });

  test('has less time left for its answer', async () => {
    await reads.fill();
    void reads.read('waiting');
    const begin = performance.now();
    await eventually(() => performance.now() - begin > 20);
    reads.stream.answer(0);
    await reads.stream.whenSent(2);
    expect(reads.stream.batches[0]?.[0]?.timeoutMs).toBeGreaterThan(19_000);
    expect(reads.stream.batches[1]?.[0]?.timeoutMs).toBeLessThan(20_000 - 20);
  });
});

test('a read without time left is refused before it is sent', async () => {
  const late = new BatchedReads(0);
  expect(await reasonOf(late.read('late'))).toBe('unavailable');
  expect([late.stream.batches, late.alone]).toEqual([[], []]);
});

test.each([
  ['while no stream is open', HEART],
  ['of a deep page', { ...HEART, parameters: { page: { page: 2, pageSize: 20 } } }],
  ['since a date', { ...HEART, parameters: { from: '2026-01-01' } }],
  ['until a date', { ...HEART, parameters: { to: '2026-01-01' } }],
  ['of changes', { ...HEART, parameters: { updatedSince: '2026-01-01T00:00:00Z' } }],
  ['of a summary', { endpoint: Endpoint.AGGREGATIONS }],
  ['of EHR records', { endpoint: Endpoint.EHR }],
])('a read %s is sent alone by the unary rpc', async (name, request) => {
  if (name === 'while no stream is open') reads.open = [];
  expect(await etagOf(reads.read('r', { request }))).toBe('alone r');
  expect(reads.stream.batches).toEqual([]);
});

test.each([
  ['without a page', {}],
  ['on the first page', { page: { page: 1, pageSize: 100 } }],
  ['of one type', { type: 'Heart Rate' }],
])('a read of the newest readings %s goes over the stream', async (_, parameters) => {
  const outcome = reads.read('r', { request: { ...HEART, parameters } });
  await reads.stream.whenSent(1);
  reads.stream.answer(0);
  expect(await etagOf(outcome)).toBe('r');
});
