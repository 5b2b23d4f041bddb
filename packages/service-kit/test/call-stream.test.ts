import { EventEmitter } from 'node:events';
import { toBinary } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  HealthDataService,
  type ReadRequestSchema,
  ReadResponseSchema,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { CallStream, leastLoaded, StreamLost } from '../src/rpc/call-stream.ts';
import { encode } from '../src/rpc/calls.ts';
import { type ReadOutcome, sendReads } from './call-stream-service.ts';

/** The network's side of a stream, for answers that no service of ours sends, or that come when the test says so. */
class FakeDuplex extends EventEmitter {
  readonly sent: { calls: { id: number; timeoutMs: number }[] }[] = [];
  hasEnded = false;
  getPeer = () => '127.0.0.1:1';
  write = (message: FakeDuplex['sent'][number]) => void this.sent.push(message);
  end = () => {
    this.hasEnded = true;
  };
  cancel = () => undefined;
  answer(...answers: object[]): void {
    this.emit('data', { answers, closing: false });
  }
}

type ReadStream = CallStream<typeof ReadRequestSchema, typeof ReadResponseSchema>;

function openOn(duplex: FakeDuplex): ReadStream {
  const { read: method } = HealthDataService.method;
  return new CallStream({ method, duplex: duplex as never, onClosed: () => undefined });
}

describe('received answers', () => {
  let duplex: FakeDuplex;
  let stream: ReadStream;
  let outcomes: Promise<ReadOutcome>[];

  beforeEach(() => {
    duplex = new FakeDuplex();
    stream = openOn(duplex);
    outcomes = sendReads(stream, [{ request: {} }, { request: {} }, { request: {} }]);
  });

  const response = (etag: string) => ({
    case: 'response',
    value: encode(ReadResponseSchema, { etag }),
  });

  test('an answer that cannot be read fails its call alone, and one without a call changes nothing', async () => {
    const [one, two, three] = duplex.sent[0]?.calls ?? [];
    duplex.answer(
      { id: one?.id, result: { case: 'response', value: Uint8Array.of(0xff) } },
      { id: 4_000_000, result: response('unknown') },
      { id: two?.id, result: { case: undefined } },
      { id: three?.id, result: response('good') },
      { id: three?.id, result: response('again') },
    );
    const [unreadable, empty, good] = await Promise.all(outcomes);
    expect([unreadable, empty]).toMatchObject([{ reason: 'internal' }, { reason: 'internal' }]);
    expect(good).toMatchObject({ etag: 'good' });
    expect(toBinary(ReadResponseSchema, good as never)).toEqual(Uint8Array.from(response('good').value));
  });

  test('answers belong to the calls with their ids, in whatever order they arrive', async () => {
    const ids = (duplex.sent[0]?.calls ?? []).map(({ id }) => id);
    for (const id of [...ids].reverse()) duplex.answer({ id, result: response(String(id)) });
    expect(await Promise.all(outcomes)).toMatchObject(ids.map((id) => ({ etag: String(id) })));
  });

  test('the load is the number of calls without an answer', async () => {
    expect(stream.load).toBe(3);
    duplex.answer({ id: duplex.sent[0]?.calls[0]?.id, result: response('a') });
    expect(stream.load).toBe(2);
    duplex.emit('end');
    expect(stream.load).toBe(0);
    await Promise.all(outcomes);
  });

  test('calls without an answer are lost when the service ends the stream, and may have been executed', async () => {
    duplex.answer({ id: duplex.sent[0]?.calls[0]?.id, result: response('answered') });
    duplex.emit('end');
    const [answered, ...lost] = await Promise.all(outcomes);
    expect(answered).toMatchObject({ etag: 'answered' });
    expect(lost).toHaveLength(2);
    for (const outcome of lost) {
      expect(outcome).toBeInstanceOf(StreamLost);
      expect(outcome).toMatchObject({ mayBeExecuted: true });
    }
    expect(duplex.hasEnded).toBe(true);
  });

  test('a service that accepts no more calls gets none, and still answers those it has', async () => {
    duplex.emit('data', { answers: [], closing: true });
    const [refused] = sendReads(stream, [{ request: {} }]);
    expect(await refused).toMatchObject({ name: 'StreamLost', mayBeExecuted: false });
    expect(duplex.sent).toHaveLength(1);
    for (const { id } of duplex.sent[0]?.calls ?? []) duplex.answer({ id, result: response('answered') });
    expect(await Promise.all(outcomes)).toMatchObject(Array(3).fill({ etag: 'answered' }));
  });
});

describe('the choice of a replica', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    jest.advanceTimersByTime(1_000);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** A replica that answers all its calls when the test says so. */
  class Replica extends FakeDuplex {
    readonly stream = openOn(this);

    answerAll(): void {
      const ids = this.sent.splice(0).flatMap(({ calls }) => calls.map(({ id }) => id));
      this.answer(...ids.map((id) => ({ id, result: { case: 'response', value: new Uint8Array() } })));
    }
  }

  /** Sends calls, each to the least loaded replica, and returns to which. */
  function createSender(...replicas: Replica[]) {
    const ignore = () => undefined;
    return (timeoutMs = 5_000) => {
      jest.advanceTimersByTime(1);
      const stream = leastLoaded(replicas.map((replica) => replica.stream));
      stream?.send([{ request: {}, timeoutMs, resolve: ignore, reject: ignore }]);
      return replicas.findIndex((replica) => replica.stream === stream);
    };
  }

  test('replicas that answer take turns, and one with unanswered calls gets fewer', () => {
    const [a, b] = [new Replica(), new Replica()];
    const send = createSender(a, b);
    expect([send(), send(), send(), send()]).toEqual([0, 1, 0, 1]);
    b.answerAll();
    expect([send(), send()]).toEqual([1, 1]);
  });

  test('a replica that owes an answer gets no call, also after its calls have timed out, until it answers', () => {
    const [frozen, other] = [new Replica(), new Replica()];
    const send = createSender(frozen, other);
    expect(send(1_000)).toBe(0);
    jest.advanceTimersByTime(1_500);
    expect(frozen.stream.load).toBe(0);
    for (let sent = 0; sent < 10; sent += 1) {
      expect(send()).toBe(1);
      if (sent % 5 === 4) other.answerAll();
    }
    frozen.answerAll();
    expect([send(), send()]).toEqual([0, 1]);
  });

  test('if no replica answers, the least loaded one is used', () => {
    const [a, b] = [new Replica(), new Replica()];
    const send = createSender(a, b);
    expect([send(), send(), send()]).toEqual([0, 1, 0]);
    jest.advanceTimersByTime(1_000);
    expect(send()).toBe(1);
    expect(createSender()()).toBe(-1);
  });
});
