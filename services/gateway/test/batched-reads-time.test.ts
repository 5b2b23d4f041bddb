import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { unavailable } from '@phds/service-kit/errors';
import { StreamLost } from '@phds/service-kit/rpc/call-stream';
import { BatchedReads, etagOf, reasonOf, responseOf } from './fake-read-stream.ts';

// Time stands still except where a test moves it, so nothing here happens because a batch has become slow meanwhile.
let reads: BatchedReads;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  reads = new BatchedReads();
});
afterEach(() => {
  reads[Symbol.dispose]();
  jest.useRealTimers();
});

/** Lets everything go on that waits for nothing. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const lost = () => new StreamLost(new Error('cut'), true);

describe('the next batch', () => {
  test.each([
    ['one read', (index: number) => index === 0],
    ['every read', () => true],
  ])('follows at once when a batch is settled in which %s failed', async (_, fails) => {
    const { stream } = reads;
    await reads.fill();
    const next = reads.read('next');
    for (const [index, read] of (stream.batches[0] ?? []).entries()) {
      if (fails(index)) read.reject(unavailable());
      else read.resolve(responseOf('answered'));
    }
    await stream.whenSent(2);
    stream.answer(1);
    expect(await etagOf(next)).toBe('next');
  });

  test('leaves beside another when 12 reads wait, and after it when there are fewer', async () => {
    const { stream } = reads;
    await reads.fill();
    const few = reads.readMany(11, 'few');
    await turn();
    expect(stream.batches).toHaveLength(1);
    few.push(reads.read('few11'));
    await stream.whenSent(2);
    const last = reads.read('last');
    stream.answer(0);
    stream.answer(1);
    await stream.whenSent(3);
    stream.answer(2);
    expect(await Promise.all([...few, last].map(etagOf))).toEqual([...stream.ids(1), 'last']);
  });

  test('follows after 100 ms when a batch is slow, and its answers later make no room for a third', async () => {
    const { stream } = reads;
    await reads.fill(2);
    const waiting = reads.readMany(3 * 64, 'waiting');
    jest.advanceTimersByTime(99);
    await turn();
    expect(stream.batches).toHaveLength(2);
    jest.advanceTimersByTime(1);
    await stream.whenSent(4);
    stream.answer(0);
    stream.answer(1);
    await turn();
    expect(stream.batches).toHaveLength(4);
    stream.answer(2);
    await stream.whenSent(5);
    stream.answer(3);
    stream.answer(4);
    expect(await Promise.all(waiting.map(etagOf))).toHaveLength(3 * 64);
  });
});

describe('a read whose stream is lost', () => {
  test('is repeated by the unary rpc within the time that it has left', async () => {
    const outcome = reads.read('a');
    await reads.stream.whenSent(1);
    jest.advanceTimersByTime(5_000);
    reads.stream.fail(lost());
    expect(await etagOf(outcome)).toBe('alone a');
    expect(reads.aloneTimeouts).toEqual([15_000]);
  });

  test('is not repeated when no time is left', async () => {
    const outcome = reads.read('a');
    await reads.stream.whenSent(1);
    jest.advanceTimersByTime(20_000);
    reads.stream.fail(lost());
    expect(await reasonOf(outcome)).toBe('unavailable');
    expect(reads.alone).toEqual([]);
  });

  test('is not repeated when its client has hung up meanwhile', async () => {
    let isWanted = true;
    const outcome = reads.read('a', { isWanted: () => isWanted });
    await reads.stream.whenSent(1);
    isWanted = false;
    reads.stream.fail(lost());
    expect(await reasonOf(outcome)).toBe('unavailable');
    expect(reads.alone).toEqual([]);
  });
});

test('a read whose time is over while it waits is refused instead of sent', async () => {
  using short = new BatchedReads(50);
  await short.fill();
  const late = short.read('late');
  jest.advanceTimersByTime(60);
  void short.read('in time');
  short.stream.answer(0);
  await short.stream.whenSent(2);
  expect(short.stream.ids(1)).toEqual(['in time']);
  expect(await reasonOf(late)).toBe('unavailable');
  expect(short.alone).toEqual([]);
});

test('a waiting read is refused as unavailable when 2,000 others wait, and accepted again when there is room', async () => {
  await reads.fill(2);
  void reads.readMany(2_000, 'waiting');
  expect(await reasonOf(reads.read('too many'))).toBe('unavailable');
  reads.stream.answer(0);
  await reads.stream.whenSent(3);
  const accepted = etagOf(reads.read('accepted')).catch(() => 'refused');
  reads.stream.answer(1);
  const waits = reads.stream.whenSent(4).then(() => 'waits');
  expect(await Promise.race([accepted, waits])).toBe('waits');
  expect(reads.alone).toEqual([]);
});
