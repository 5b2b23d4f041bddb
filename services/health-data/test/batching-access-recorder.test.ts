import { describe, expect, test } from '@jest/globals';
import type { Access, Verdict } from '../src/app/ports.ts';
import { createBatchingAccessRecorder, type SendAccesses } from '../src/clients/batching-access-recorder.ts';

const OPTIONS = { maxBatch: 3, maxQueue: 4, maxWaitMs: 1_000 };

function access(requestId: string): Access {
  return {
    clientId: 'app_1',
    userId: 'ada',
    grantId: 'grt_1',
    familyId: 'fam_1',
    tokenHash: '',
    tokenExpiresAt: 0,
    scope: 'read:mood',
    endpoint: '/api/v1/mood',
    from: '',
    to: '',
    page: 1,
    recordCount: 0,
    requestId,
    dataFrom: null,
  };
}

/** A consent service whose calls the test answers one by one. */
function manualSend() {
  const calls: { ids: string[]; answer(verdicts: (Verdict | null)[]): void; fail(error: Error): void }[] = [];
  const send: SendAccesses = (accesses) => {
    const { promise, resolve, reject } = Promise.withResolvers<(Verdict | null)[]>();
    calls.push({ ids: accesses.map(({ requestId }) => requestId), answer: resolve, fail: reject });
    return promise;
  };
  return { calls, send };
}

/** Runs everything that is ready to continue. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: { reason?: string }) => error.reason,
  );

describe('the access recorder', () => {
  test('sends the accesses of one turn together', async () => {
    const { calls, send } = manualSend();
    const recorder = createBatchingAccessRecorder(send, OPTIONS);
    const results = ['a', 'b', 'c'].map((id) => recorder.record(access(id)));
    await settle();
    expect(calls.map(({ ids }) => ids)).toEqual([['a', 'b', 'c']]);
    calls[0]?.answer(['released', 'released', 'released']);
    expect(await Promise.all(results)).toEqual(['released', 'released', 'released']);
  });

  test('sends the first access at once, then those that arrived in the meantime together, one call at a time, in order', async () => {
    const { calls, send } = manualSend();
    const recorder = createBatchingAccessRecorder(send, OPTIONS);
    const first = recorder.record(access('a'));
    await settle();
    const results = [first, ...['b', 'c', 'd', 'e'].map((id) => recorder.record(access(id)))];
    expect(calls.map(({ ids }) => ids)).toEqual([['a']]);
    calls[0]?.answer(['released']);
    await settle();
    expect(calls.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c', 'd']]);
    calls[1]?.answer(['released', 'grant_revoked', 'token_expired']);
    await settle();
    calls[2]?.answer(['app_not_alive']);
    expect(await Promise.all(results)).toEqual([
      'released',
      'released',
      'grant_revoked',
      'token_expired',
      'app_not_alive',
    ]);
    expect(calls.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
  });

  test('a failed call refuses only its own accesses; the next call is sent as usual', async () => {
    const { calls, send } = manualSend();
    const recorder = createBatchingAccessRecorder(send, OPTIONS);
    const first = recorder.record(access('a'));
    await settle();
    const second = recorder.record(access('b'));
    calls[0]?.fail(new Error('connection lost'));
    expect(await reasonOf(first)).toBe('access_not_recorded');
    await settle();
    calls[1]?.answer(['released']);
    expect(await second).toBe('released');
    await settle();
    const third = recorder.record(access('c'));
    await settle();
    calls[2]?.answer(['released']);
    expect(await third).toBe('released');
  });

  test('a failed call refuses all of its accesses', async () => {
    const { calls, send } = manualSend();
    const recorder = createBatchingAccessRecorder(send, OPTIONS);
    const results = ['a', 'b', 'c'].map((id) => recorder.record(access(id)));
    await settle();
    calls[0]?.fail(new Error('connection lost'));
    expect(await Promise.all(results.map(reasonOf))).toEqual(Array(3).fill('access_not_recorded'));
  });

  test.each([[[]], [['released']], [['released', 'released', 'released']]] as const)(
    'a response that does not have one verdict for each access releases nothing: %j for two',
    async (verdicts) => {
      const { calls, send } = manualSend();
      const recorder = createBatchingAccessRecorder(send, OPTIONS);
      const results = ['a', 'b'].map((id) => recorder.record(access(id)));
      await settle();
      calls[0]?.answer([...verdicts]);
      expect(await Promise.all(results.map(reasonOf))).toEqual(Array(2).fill('access_not_recorded'));
    },
  );

  test('a response with too few or unknown verdicts releases only what is certain', async () => {
    const { calls, send } = manualSend();
    const recorder = createBatchingAccessRecorder(send, OPTIONS);
    const first = recorder.record(access('a'));
    await settle();
    const rest = [recorder.record(access('b')), recorder.record(access('c'))];
    calls[0]?.answer([]);
    expect(await reasonOf(first)).toBe('access_not_recorded');
    await settle();
    calls[1]?.answer([null, 'released']);
    expect(await Promise.all(rest.map(reasonOf))).toEqual(['access_not_recorded', 'no error']);
  });

  test('a full queue refuses immediately', async () => {
    const { calls, send } = manualSend();
    const recorder = createBatchingAccessRecorder(send, OPTIONS);
    const first = recorder.record(access('a'));
    await settle();
    const waiting = [first, ...['b', 'c', 'd', 'e'].map((id) => recorder.record(access(id)))];
    expect(await reasonOf(recorder.record(access('f')))).toBe('access_not_recorded');
    for (const size of [1, 3, 1]) {
      calls.at(-1)?.answer(Array(size).fill('released'));
      await settle();
    }
    expect(await Promise.all(waiting)).toEqual(Array(5).fill('released'));
  });

  test('an access that waited too long is refused instead of sent', async () => {
    let now = 0;
    const { calls, send } = manualSend();
    const recorder = createBatchingAccessRecorder(send, { ...OPTIONS, monotonicNow: () => now });
    const first = recorder.record(access('a'));
    await settle();
    const late = recorder.record(access('late'));
    now = 600;
    const inTime = recorder.record(access('in time'));
    now = 1_001;
    calls[0]?.answer(['released']);
    expect(await first).toBe('released');
    expect(await reasonOf(late)).toBe('access_not_recorded');
    await settle();
    expect(calls[1]?.ids).toEqual(['in time']);
    calls[1]?.answer(['released']);
    expect(await inTime).toBe('released');
  });

  test('accesses are sent as usual after a whole batch waited too long', async () => {
    let now = 0;
    const { calls, send } = manualSend();
    const recorder = createBatchingAccessRecorder(send, { ...OPTIONS, monotonicNow: () => now });
    const first = recorder.record(access('a'));
    await settle();
    const late = ['b', 'c', 'd'].map((id) => recorder.record(access(id)));
    now = 600;
    const results = [recorder.record(access('in time'))];
    now = 1_001;
    calls[0]?.answer(['released']);
    expect(await first).toBe('released');
    expect(await Promise.all(late.map(reasonOf))).toEqual(Array(3).fill('access_not_recorded'));
    await settle();
    results.push(recorder.record(access('later')));
    calls[1]?.answer(['released']);
    await settle();
    calls[2]?.answer(['released']);
    expect(await Promise.all(results)).toEqual(['released', 'released']);
    expect(calls.map(({ ids }) => ids)).toEqual([['a'], ['in time'], ['later']]);
  });
});
