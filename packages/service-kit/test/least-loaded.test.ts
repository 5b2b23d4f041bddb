import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { CallStream, type CallStreamOptions, leastLoaded } from '../src/rpc/call-stream.ts';

type Read = (typeof HealthDataService)['method']['read'];
type Duplex = CallStreamOptions<Read['input'], Read['output']>['duplex'];

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  jest.advanceTimersByTime(1_000);
});
afterEach(() => {
  jest.useRealTimers();
});

/** A stream to a replica that answers when the test says so. */
class Replica extends EventEmitter {
  readonly ids: number[] = [];
  readonly stream: CallStream<Read['input'], Read['output']>;

  constructor() {
    super();
    const duplex = Object.assign(this, {
      getPeer: () => '',
      write: ({ calls }: { calls: { id: number }[] }) => this.ids.push(...calls.map(({ id }) => id)),
      end: () => undefined,
      cancel: () => undefined,
    }) as unknown as Duplex;
    this.stream = new CallStream({
      method: HealthDataService.method.read,
      duplex,
      onClosed: () => undefined,
    });
  }

  answer(): void {
    const answers = this.ids
      .splice(0)
      .map((id) => ({ id, result: { case: 'response', value: new Uint8Array() } }));
    this.emit('data', { answers, closing: false });
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
  b.answer();
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
    if (sent % 5 === 4) other.answer();
  }
  frozen.answer();
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
