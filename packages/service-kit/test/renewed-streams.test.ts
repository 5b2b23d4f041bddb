import { afterEach, expect, jest, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { startTcpProxy } from '@phds/test-kit/tcp-proxy';
import {
  openStreams,
  openUnary,
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

/** Replaces the timers of streams, connections and servers by ones that only `advance` moves. */
function holdTimers(): void {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
}

/**
 * Returns a function that moves the timers on in steps. After each step it waits for calls on another connection; meanwhile,
 * everything that the step has sent arrives.
 */
function openClock(port: number) {
  const other = openUnary([port]);
  const advance = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 100) {
      jest.advanceTimersByTime(100);
      for (let call = 0; call < 3; call += 1) await other.read({});
    }
  };
  return { advance, [Symbol.dispose]: () => other[Symbol.dispose]() };
}

/** The current stream to the only replica. */
function currentOf({ open: [stream] }: ReadStreams): ReadStreams['open'][number] {
  if (stream === undefined) throw new Error('no stream is open');
  return stream;
}

test('a stream that was replaced still answers the calls it carries, and accepts no more', async () => {
  const release = Promise.withResolvers<void>();
  const begun: string[] = [];
  await using server = await serve(async (request, context) => {
    begun.push(request.requestId);
    await release.promise;
    return answer(request, context);
  });
  using streams = openStreams([server.rpcPort], { renewMs: 10 });
  await whenOpen(streams);
  const used = new Set<ReadStreams['open'][number]>();
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
  for (const stream of used) {
    const [late] = sendReads(stream, [named('late')]);
    expect(await late).toMatchObject({ name: 'StreamLost', mayBeExecuted: false });
  }
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
  holdTimers();
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

test('a dead connection is left after 12 seconds, when a renewal was not answered', async () => {
  await using server = await serve(answer);
  await using proxy = await startTcpProxy(`http://127.0.0.1:${server.rpcPort}`);
  holdTimers();
  using clock = openClock(server.rpcPort);
  using streams = openStreams([proxy.port]);
  const dead = await whenOpen(streams);
  // The first round of openings is over.
  await clock.advance(100);
  proxy.set({ kind: 'half-open' });
  proxy.set({ kind: 'pass' });
  const [lost] = sendReads(dead, [{ ...named('lost'), timeoutMs: 5_000 }]);
  await clock.advance(11_700);
  expect(await lost).toMatchObject({ reason: 'unavailable' });
  expect(currentOf(streams)).toBe(dead);
  await clock.advance(1_000);
  expect(currentOf(streams)).not.toBe(dead);
  const [outcome] = sendReads(currentOf(streams), [named('a')]);
  expect(await outcome).toMatchObject({ etag: 'a' });
});

test('a replica that hangs gets no more calls once its stream is older than 15 seconds, and still answers those it has', async () => {
  await using here = await serve(answer);
  await using there = await serve(answer);
  await using proxy = await startTcpProxy(`http://127.0.0.1:${there.rpcPort}`);
  holdTimers();
  using clock = openClock(here.rpcPort);
  using streams = openStreams([here.rpcPort, proxy.port]);
  await eventually(async () => {
    await clock.advance(100);
    return streams.open.length === 2;
  });
  const stream = streams.open.find(({ peer }) => peer.endsWith(`:${proxy.port}`));
  if (stream === undefined) throw new Error('no stream to the replica');
  proxy.set({ kind: 'hold' });
  const [held] = sendReads(stream, [{ ...named('held'), timeoutMs: 60_000 }]);
  await clock.advance(13_000);
  expect(streams.open).toContain(stream);
  await clock.advance(11_000);
  expect(streams.open.map(({ peer }) => peer)).toEqual([`127.0.0.1:${here.rpcPort}`]);
  proxy.set({ kind: 'pass' });
  expect(await held).toMatchObject({ etag: 'held' });
});

test('a service that stops while it admits a stream is not held up by it', async () => {
  const asked = Promise.withResolvers<void>();
  const admitted = Promise.withResolvers<string>();
  const verifyCaller = () => {
    asked.resolve();
    return admitted.promise;
  };
  const server = await serve(answer, { verifyCaller });
  // Time stands still, so the service does not stop because of its time limit.
  holdTimers();
  using _streams = openStreams([server.rpcPort]);
  await asked.promise;
  const stopped = server[Symbol.asyncDispose]();
  admitted.resolve('gateway');
  await stopped;
});
