import { afterEach, expect, jest, test } from '@jest/globals';
import { batchingCalls } from '@phds/service-kit/batched-calls';
import { currentDeadline, Deadline, withinDeadline } from '@phds/service-kit/deadline';
import { eventually } from '@phds/test-kit/conditions';

afterEach(() => {
  jest.useRealTimers();
});

/** Lets everything go on that waits for nothing. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Runs that end when the test says so, and return the items with their run's number. */
function createRuns() {
  const runs: { readonly items: readonly string[]; readonly end: PromiseWithResolvers<void> }[] = [];
  const call = batchingCalls(async (items: readonly string[]) => {
    const end = Promise.withResolvers<void>();
    runs.push({ items, end });
    const number = runs.length;
    await end.promise;
    return items.map((item) => `${item}${number}`);
  });
  return { runs, call };
}

test('callers that arrive during a run are answered together by the next one, which begins after they called', async () => {
  const { runs, call } = createRuns();
  const first = call('a');
  await eventually(async () => runs.length === 1);
  const calls = ['b', 'c'].map(call);
  runs[0]?.end.resolve();
  expect(await first).toBe('a1');
  await eventually(async () => runs.length === 2);
  runs[1]?.end.resolve();
  expect(await Promise.all(calls)).toEqual(['b2', 'c2']);
  const later = call('d');
  await eventually(async () => runs.length === 3);
  runs[2]?.end.resolve();
  expect(await later).toBe('d3');
  expect(runs.map(({ items }) => items)).toEqual([['a'], ['b', 'c'], ['d']]);
});

test('a run that fails fails those who waited for it, and not those of the next run', async () => {
  const { runs, call } = createRuns();
  const first = call('a');
  await eventually(async () => runs.length === 1);
  const outcomes = Promise.allSettled([first, call('b')]);
  runs[0]?.end.reject(new Error('lost'));
  await eventually(async () => runs.length === 2);
  runs[1]?.end.resolve();
  expect(await outcomes).toMatchObject([{ reason: { message: 'lost' } }, { value: 'b2' }]);
});

test('a run that hangs does not hold up the callers after it', async () => {
  const { runs, call } = createRuns();
  const hanging = call('a');
  await eventually(async () => runs.length === 1);
  const next = call('b');
  await eventually(async () => runs.length === 2);
  runs[1]?.end.resolve();
  expect(await next).toBe('b2');
  runs[0]?.end.resolve();
  expect(await hanging).toBe('a1');
});

test('the late end of a run that hung starts no run beside the one in progress', async () => {
  const { runs, call } = createRuns();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  const first = call('a');
  await turn();
  const second = call('b');
  jest.advanceTimersByTime(49);
  expect(runs).toHaveLength(1);
  jest.advanceTimersByTime(1);
  await turn();
  expect(runs).toHaveLength(2);
  const third = call('c');
  runs[0]?.end.resolve();
  expect(await first).toBe('a1');
  await turn();
  expect(runs).toHaveLength(2);
  runs[1]?.end.resolve();
  await turn();
  runs[2]?.end.resolve();
  expect([await second, await third]).toEqual(['b2', 'c3']);
});

test('a run that fails rejects all of its callers', async () => {
  const { runs, call } = createRuns();
  const outcomes = Promise.allSettled(['a', 'b', 'c'].map(call));
  await eventually(async () => runs.length === 1);
  const reason = new Error('lost');
  runs[0]?.end.reject(reason);
  expect(await outcomes).toEqual(Array(3).fill({ status: 'rejected', reason }));
});

test('a run takes at most 64 items that arrive together, and the rest follows', async () => {
  const { runs, call } = createRuns();
  const calls = Array.from({ length: 100 }, (_, number) => call(`${number}-`));
  for (const [index, length] of [64, 36].entries()) {
    await eventually(async () => runs.length === index + 1);
    expect(runs[index]?.items).toHaveLength(length);
    runs[index]?.end.resolve();
  }
  expect((await Promise.all(calls)).at(-1)).toBe('99-2');
});

test('a wrong number of results fails every caller', async () => {
  const call = batchingCalls(async (_items: readonly string[]) => ['a', 'b']);
  await expect(call('a')).rejects.toThrow('not one result for each item');
});

test('a run does not observe the deadline of the caller that began it', async () => {
  const call = batchingCalls(async (items: readonly string[]) => items.map(() => currentDeadline()));
  expect(await withinDeadline(new Deadline(1_000), () => call('a'))).toBeUndefined();
});
