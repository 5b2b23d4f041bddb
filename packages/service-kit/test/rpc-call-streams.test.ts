import { once } from 'node:events';
import { credentials, Client as GrpcClient, Metadata, status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { startTcpProxy } from '@phds/test-kit/tcp-proxy';
import { StreamLost } from '../src/rpc/call-stream.ts';
import {
  connection,
  createHoldableTokens,
  openStreams,
  type Respond,
  sendReads,
  serve,
  whenOpen,
} from './call-stream-service.ts';

const answer: Respond = async ({ requestId }) => ({ etag: requestId });
const named = (requestId: string) => ({ request: { requestId } });
const same = (bytes: Buffer) => bytes;

/** Handlers that wait, and those that run. */
function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun: string[] = [];
  const respond: Respond = async (request, context) => {
    begun.push(request.requestId);
    if (request.requestId.startsWith('held')) await promise;
    return answer(request, context);
  };
  return { respond, begun, release: resolve };
}

/** Opens a stream without our client. `ended` is the status that ends it. */
function openRaw(port: number, metadata: Metadata) {
  const grpc = new GrpcClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const { promise, resolve } = Promise.withResolvers<status>();
  const path = '/phds.healthdata.v1.HealthDataService/Reads';
  const stream = grpc.makeBidiStreamRequest(path, same, same, metadata);
  stream.on('error', () => undefined).on('status', ({ code }) => resolve(code));
  stream.resume();
  return { write: (bytes: Buffer) => stream.write(bytes), ended: promise.finally(() => grpc.close()) };
}

describe('who may open a stream', () => {
  test('only a service that the unary rpc admits; nothing runs for others', async () => {
    const { respond, begun } = createGate();
    await using server = await serve(respond);
    const failure = Promise.withResolvers<unknown>();
    const stranger = connection([server.rpcPort], 'importer');
    using streams = openStreams([], { ...stranger, onFailure: failure.resolve });
    expect(await failure.promise).toMatchObject({ reason: 'caller_not_admitted' });
    expect(streams.open).toEqual([]);
    // A message with one call without a request.
    const call = Buffer.from([0x0a, 0x04, 0x08, 0x01, 0x10, 0x64]);
    const raw = openRaw(server.rpcPort, new Metadata());
    raw.write(call);
    expect(await raw.ended).toBe(status.PERMISSION_DENIED);
    expect(begun).toEqual([]);
  });

  test('an undecodable message ends the stream and its calls, as an invalid request, not as a fault of the service', async () => {
    const begun = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    await using server = await serve(async (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve());
      begun.resolve();
      await aborted.promise;
      return {};
    });
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${await connection([]).tokens('health-data')}`);
    const raw = openRaw(server.rpcPort, metadata);
    // One call, which would end by its deadline after 30 s.
    raw.write(Buffer.from([0x0a, 0x06, 0x08, 0x01, 0x10, 0xff, 0xff, 0x7f]));
    await begun.promise;
    const since = performance.now();
    raw.write(Buffer.from([0x0a, 0xff]));
    expect(await raw.ended).toBe(status.INVALID_ARGUMENT);
    await aborted.promise;
    expect(performance.now() - since).toBeLessThan(20_000);
  });
});

describe('a stream', () => {
  test('serves no call after its service token has expired by the clock of the service, and a new one does', async () => {
    const clock = new FakeClock(new Date());
    const { respond, begun } = createGate();
    await using server = await serve(respond, { clock });
    using streams = openStreams([], connection([server.rpcPort], 'gateway', clock));
    const stream = await whenOpen(streams);
    const [early] = sendReads(stream, [named('early')]);
    expect(await early).toMatchObject({ etag: 'early' });
    clock.advance(310_000);
    const [refused] = sendReads(stream, [named('late')]);
    expect(await refused).toBeInstanceOf(StreamLost);
    expect(await refused).toMatchObject({ reason: 'unavailable', mayBeExecuted: false });
    expect(begun).toEqual(['early']);
    const renewed = await eventually(() => streams.open[0] ?? false);
    expect(renewed).not.toBe(stream);
    const [outcome] = sendReads(renewed, [named('renewed')]);
    expect(await outcome).toMatchObject({ etag: 'renewed' });
  });

  test('that is lost in the middle of a batch fails exactly the calls without an answer, as unavailable', async () => {
    const { respond, begun, release } = createGate();
    await using server = await serve(respond);
    await using proxy = await startTcpProxy(`http://127.0.0.1:${server.rpcPort}`);
    // Renewals do not come in time to replace it.
    using streams = openStreams([proxy.port], { renewMs: 600_000 });
    const stream = await whenOpen(streams);
    const [first, held] = sendReads(stream, [named('first'), named('held')]);
    expect(await first).toMatchObject({ etag: 'first' });
    await eventually(() => begun.includes('held'));
    await proxy.cut();
    expect(await held).toBeInstanceOf(StreamLost);
    expect(await held).toMatchObject({ reason: 'unavailable', retryAfterSeconds: 1, mayBeExecuted: true });
    expect(streams.open).toEqual([]);
    release();
    const [after] = sendReads(stream, [named('after')]);
    expect(await after).toMatchObject({ reason: 'unavailable', mayBeExecuted: false });
    await proxy.restore();
    const [outcome] = sendReads(await whenOpen(streams), [named('again')]);
    expect(await outcome).toMatchObject({ etag: 'again' });
  });

  test.each(['closes its streams', 'loses its connection'])(
    'ends the work for its calls, long before their deadlines, when the caller %s',
    async (name) => {
      const begun: string[] = [];
      const ended: string[] = [];
      await using server = await serve(async ({ requestId }, { signal }) => {
        const end = once(signal, 'abort');
        begun.push(requestId);
        await end;
        ended.push(requestId);
        return {};
      });
      await using proxy = await startTcpProxy(`http://127.0.0.1:${server.rpcPort}`);
      using gone = openStreams([proxy.port]);
      using other = openStreams([server.rpcPort]);
      const lost = sendReads(await whenOpen(gone), [named('gone 1'), named('gone 2')]);
      // Ends by its deadline, which is earlier than those of the calls of the caller that is gone.
      const [late] = sendReads(await whenOpen(other), [{ ...named('other'), timeoutMs: 5_000 }]);
      await eventually(() => begun.length === 3);
      if (name === 'closes its streams') gone[Symbol.dispose]();
      else await proxy.cut();
      await eventually(() => ended.length >= 2);
      expect(ended.sort()).toEqual(['gone 1', 'gone 2']);
      for (const outcome of lost) expect(await outcome).toBeInstanceOf(StreamLost);
      other[Symbol.dispose]();
      expect(await late).toBeInstanceOf(StreamLost);
    },
  );
});

describe('a service with two replicas', () => {
  test('gets a stream to each, and again after one was away', async () => {
    const here = createGate();
    const there = createGate();
    await using first = await serve(here.respond);
    const second = await serve(there.respond);
    const ports = [first.rpcPort, second.rpcPort];
    using streams = openStreams(ports, { renewMs: 50 });
    await whenOpen(streams, 2);
    expect(streams.open.map(({ peer }) => peer).sort()).toEqual(
      ports.map((port) => `127.0.0.1:${port}`).sort(),
    );
    await Promise.all(streams.open.flatMap((stream) => sendReads(stream, [named('a')])));
    expect([here.begun.length, there.begun.length]).toEqual([1, 1]);
    await second[Symbol.asyncDispose]();
    expect((await whenOpen(streams, 1)).peer).toBe(`127.0.0.1:${first.rpcPort}`);
    await using _back = await serve(answer, { rpcPort: second.rpcPort });
    await whenOpen(streams, 2);
  });

  test('loses nothing when one stops: it answers what it received, and later calls go to the other', async () => {
    const stopping = createGate();
    const server = await serve(stopping.respond);
    await using other = await serve(answer);
    const { tokens, hold } = createHoldableTokens();
    using streams = openStreams([server.rpcPort, other.rpcPort], { renewMs: 10, tokens });
    await whenOpen(streams, 2);
    // No renewal replaces the stream before the replica stops.
    await hold();
    const stream = streams.open.find(({ peer }) => peer.endsWith(`:${server.rpcPort}`));
    if (stream === undefined) throw new Error('no stream to the replica');
    const held = sendReads(
      stream,
      Array.from({ length: 50 }, (_, index) => named(`held ${index}`)),
    );
    await eventually(() => stopping.begun.length === 50);
    const stopped = server[Symbol.asyncDispose]();
    // Sent before the caller has read that the replica is stopping.
    const last = sendReads(stream, [named('last')]);
    await eventually(() => !streams.open.includes(stream));
    const [later] = sendReads(await whenOpen(streams, 1), [named('later')]);
    expect(await later).toMatchObject({ etag: 'later' });
    stopping.release();
    const outcomes = await Promise.all([...held, ...last]);
    expect(outcomes.filter((outcome) => outcome instanceof Error)).toEqual([]);
    await stopped;
  });
});

test('while nothing listens no stream is open, failures are reported once, and a stream opens when the service starts', async () => {
  const before = await serve(answer);
  await before[Symbol.asyncDispose]();
  let failures = 0;
  const onFailure = () => {
    failures += 1;
  };
  using streams = openStreams([before.rpcPort], { onFailure });
  await eventually(() => failures === 1);
  expect(streams.open).toEqual([]);
  await using _server = await serve(answer, { rpcPort: before.rpcPort });
  await whenOpen(streams);
  expect(failures).toBe(1);
});
