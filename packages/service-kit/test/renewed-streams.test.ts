import { afterEach, expect, jest, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import {
  openStreams,
  type ReadOutcome,
  type ReadStreams,
  type Respond,
  sendReads,
  serve,
  whenOpen,
} from './call-stream-service.ts';

afterEach(() => {
  jest.useRealTimers();
});

const answer: Respond = async ({ requestId }) => ({ etag: requestId });
const named = (requestId: string) => ({ request: { requestId } });
const isFailed = (outcome: ReadOutcome) => outcome instanceof Error;

/** The current stream to the only replica. */
function currentOf({ open: [stream] }: ReadStreams): ReadStreams['open'][number] {
  if (stream === undefined) throw new Error('no stream is open');
  return stream;
}

test('a stream that was replaced still answers the calls it carries, also after it was replaced again', async () => {
  const release = Promise.withResolvers<void>();
  const begun: string[] = [];
  await using server = await serve(async (request, context) => {
    begun.push(request.requestId);
    await release.promise;
    return answer(request, context);
  });
  using streams = openStreams([server.rpcPort], { renewMs: 10 });
  await whenOpen(streams);
  const used = new Set<object>();
  const outcomes: Promise<ReadOutcome>[] = [];
  await eventually(() => {
    const stream = currentOf(streams);
    if (!used.has(stream)) outcomes.push(...sendReads(stream, [named('a'), named('b')]));
    used.add(stream);
    return used.size === 5;
  });
  await eventually(() => {
    expect(begun).toHaveLength(outcomes.length);
    expect(used).not.toContain(currentOf(streams));
  });
  release.resolve();
  expect((await Promise.all(outcomes)).filter(isFailed)).toEqual([]);
});

test('no call is lost while streams are replaced under load', async () => {
  await using server = await serve(answer);
  using streams = openStreams([server.rpcPort], { renewMs: 1 });
  const used = new Set<object>();
  await whenOpen(streams);
  while (used.size <= 50) {
    const stream = currentOf(streams);
    used.add(stream);
    const outcomes = await Promise.all(sendReads(stream, Array(20).fill(named('a'))));
    expect(outcomes.filter(isFailed)).toEqual([]);
  }
});

test('no call is lost while the server ends connections by their age, whatever timers do meanwhile', async () => {
  await using server = await serve(answer, { connectionAge: { maxMs: 3_000, graceMs: 30_000 } });
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  using streams = openStreams([server.rpcPort]);
  await whenOpen(streams);
  const used = new Set<object>();
  // Two minutes of load. Each step has calls in flight when timers fire, such as those of pings, renewals and the connection's age.
  for (let step = 0; step < 1_200; step += 1) {
    const stream = currentOf(streams);
    used.add(stream);
    const outcomes = sendReads(stream, [named('a'), named('b')]);
    jest.advanceTimersByTime(100);
    expect((await Promise.all(outcomes)).filter(isFailed)).toEqual([]);
  }
  expect(used.size).toBeGreaterThan(10);
});
