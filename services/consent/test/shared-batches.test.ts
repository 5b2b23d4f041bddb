import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import type { AccessRecorder } from '../src/app/access-recorder.ts';
import type { Access, Judgement, Verdict } from '../src/domain/access.ts';
import { type FakeStore, some, startRecorder } from './fake-access-store.ts';

afterEach(() => {
  jest.useRealTimers();
});

const VERDICTS: readonly Verdict[] = ['released', 'grant_revoked', 'token_expired', 'scope_withdrawn'];
const NOT_RECORDED = {
  status: 'rejected',
  reason: expect.objectContaining({ reason: 'access_not_recorded' }),
};

/** Judges an access by its page. */
const byPage = ({ page }: Access): Judgement => VERDICTS[page - 1] ?? 'released';
const pages = (...numbers: number[]) => numbers.flatMap((page) => some(1, { page }));

/** Records these calls in one batch, after a first one whose insert is over when the function returns. */
async function recordTogether(recorder: AccessRecorder, store: FakeStore, calls: readonly Access[][]) {
  const gate = Promise.withResolvers<void>();
  store.insertGate = gate.promise;
  const first = recorder.record(some(1));
  await eventually(() => expect(store.told).toEqual(['insert 1']));
  const outcomes = Promise.allSettled(calls.map((accesses) => recorder.record(accesses)));
  gate.resolve();
  await first;
  return outcomes;
}

describe('calls of one batch', () => {
  test('get their own verdicts, in the order of their accesses', async () => {
    const [recorder, store] = startRecorder();
    store.judgement = byPage;
    const calls = [pages(2), pages(1, 1), pages(1, 3, 2), pages(4), pages(1)];
    const outcomes = await recordTogether(recorder, store, calls);
    expect(outcomes).toEqual(calls.map((accesses) => ({ status: 'fulfilled', value: accesses.map(byPage) })));
    expect(store.batches[1]?.recordCount).toBe(8);
  });

  const SOME = [some(1), some(2), some(1)];

  test.each<[string, (judgements: Judgement[]) => Judgement[]]>([
    ['too few', (judgements) => judgements.slice(1)],
    ['too many', (judgements) => ['released', ...judgements]],
    ['no', () => []],
  ])('are all refused when there are %s judgements', async (_, change) => {
    const [recorder, store] = startRecorder();
    const judge = store.judge.bind(store);
    store.judge = async (accesses) => {
      const judgements = await judge(accesses);
      return accesses.length === 1 ? judgements : change(judgements);
    };
    expect(await recordTogether(recorder, store, SOME)).toEqual(SOME.map(() => NOT_RECORDED));
    store.judge = judge;
    expect(await recorder.record(some(1))).toEqual(['released']);
  });

  test('are all refused when the judgement fails, and the next batch is judged', async () => {
    const [recorder, store] = startRecorder();
    const judge = store.judge.bind(store);
    store.judge = async (accesses) => {
      if (accesses.length > 1) throw new Error('connection lost');
      return judge(accesses);
    };
    expect(await recordTogether(recorder, store, SOME)).toEqual(SOME.map(() => NOT_RECORDED));
    expect(await recorder.record(some(1))).toEqual(['released']);
  });

  test('are all refused when the insert fails, and nothing of them is judged', async () => {
    const [recorder, store] = startRecorder();
    const insert = store.insert.bind(store);
    store.insert = async (batch) => {
      if (batch.recordCount > 1) throw new Error('connection lost');
      await insert(batch);
    };
    expect(await recordTogether(recorder, store, SOME)).toEqual(SOME.map(() => NOT_RECORDED));
    expect(store.told.filter((told) => told.startsWith('judge'))).toEqual(['judge 1']);
  });

  test('have at most as many records as a batch may have, with the refusals of earlier calls', async () => {
    const [recorder, store] = startRecorder();
    store.judgement = byPage;
    const calls = Array.from({ length: 12 }, () => pages(2, 2, 1, 2));
    await Promise.all(calls.map((accesses) => recorder.record(accesses)));
    const sizes = store.batches.map(({ recordCount }) => recordCount);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(10);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(12 * (4 + 3));
  });
});

describe('a refusal', () => {
  test('refers to the record of its own access, also when its batch had refusals of another', async () => {
    const [recorder, store] = startRecorder();
    store.judgement = byPage;
    const gate = Promise.withResolvers<void>();
    store.judgeGate = gate.promise;
    const calls = [recorder.record(pages(2))];
    await eventually(() => expect(store.told.at(-1)).toBe('judge 1'));
    calls.push(recorder.record(pages(1, 1)));
    await eventually(() => expect(store.told.at(-1)).toBe('inserted 2'));
    calls.push(recorder.record(pages(1, 3)));
    gate.resolve();
    await Promise.all(calls);
    const [first, , mixed, last] = store.batches;
    expect(mixed?.accessRecords.map(({ verdict }) => verdict)).toEqual(['grant_revoked', '', '']);
    expect(mixed?.accessRecords[0]?.refersTo).toEqual(first?.accessRecords[0]?.id);
    expect(last?.accessRecords).toMatchObject([
      { verdict: 'token_expired', refersTo: mixed?.accessRecords[2]?.id },
    ]);
  });

  test('that cannot be recorded makes its call fail as not recorded', async () => {
    const [recorder, store] = startRecorder();
    store.judgement = byPage;
    const insert = store.insert.bind(store);
    store.insert = async (batch) => {
      if (batch.accessRecords.some(({ refersTo }) => refersTo !== null)) throw new Error('connection lost');
      await insert(batch);
    };
    const calls = [recorder.record(pages(2)), recorder.record(pages(3))];
    expect(await Promise.allSettled(calls)).toEqual([NOT_RECORDED, NOT_RECORDED]);
    expect(await recorder.record(pages(1))).toEqual(['released']);
  });
});

test('a call with more accesses than a batch may have is an error of its caller', async () => {
  const [recorder, store] = startRecorder();
  await expect(recorder.record(some(11))).rejects.toThrow(RangeError);
  expect(await recorder.record(some(10))).toHaveLength(10);
  expect(store.batches).toHaveLength(1);
});

describe('calls that wait too long', () => {
  test('are each refused on time while the database hangs, and make room for others', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    const [recorder, store] = startRecorder({ maxWaitMs: 1_000, maxQueued: 4 });
    const gate = Promise.withResolvers<void>();
    store.insertGate = gate.promise;
    const first = recorder.record(some(1));
    await eventually(() => expect(store.told).toEqual(['insert 1']));
    const late = [recorder.record(some(2))];
    jest.advanceTimersByTime(400);
    late.push(recorder.record(some(2)));
    const refused = Promise.allSettled(late);
    jest.advanceTimersByTime(1_002);
    const later = recorder.record(some(2));
    jest.advanceTimersByTime(500);
    expect(await refused).toEqual([NOT_RECORDED, NOT_RECORDED]);
    gate.resolve();
    expect(await later).toHaveLength(2);
    expect(await first).toHaveLength(1);
    expect(store.batches.map(({ recordCount }) => recordCount)).toEqual([1, 2]);
  });

  test('are not recorded, even if no timer has fired meanwhile', async () => {
    const [recorder, store] = startRecorder({ maxWaitMs: 60_000 });
    const gate = Promise.withResolvers<void>();
    store.insertGate = gate.promise;
    const first = recorder.record(some(1));
    await eventually(() => expect(store.told).toEqual(['insert 1']));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout'] });
    const late = Promise.allSettled([recorder.record(some(2))]);
    jest.advanceTimersByTime(60_001);
    gate.resolve();
    expect(await late).toEqual([NOT_RECORDED]);
    expect(await first).toHaveLength(1);
    expect(store.batches.map(({ recordCount }) => recordCount)).toEqual([1]);
  });
});
