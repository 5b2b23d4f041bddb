import { EventEmitter } from 'node:events';
import { toBinary } from '@bufbuild/protobuf';
import { beforeEach, expect, test } from '@jest/globals';
import {
  HealthDataService,
  type ReadRequestSchema,
  ReadResponseSchema,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { CallStream, StreamLost } from '../src/rpc/call-stream.ts';
import { encode } from '../src/rpc/calls.ts';
import { type ReadOutcome, sendReads } from './call-stream-service.ts';

/** The network's side of a stream, for answers that no service of ours sends. */
class FakeDuplex extends EventEmitter {
  readonly sent: { calls: { id: number; timeoutMs: number }[] }[] = [];
  hasEnded = false;
  getPeer = () => '127.0.0.1:1';
  write = (message: FakeDuplex['sent'][number]) => void this.sent.push(message);
  end = () => {
    this.hasEnded = true;
  };
  answer(...answers: object[]): void {
    this.emit('data', { answers, closing: false });
  }
}

type Read = typeof ReadRequestSchema;
let duplex: FakeDuplex;
let stream: CallStream<Read, typeof ReadResponseSchema>;
let outcomes: Promise<ReadOutcome>[];

beforeEach(() => {
  duplex = new FakeDuplex();
  stream = new CallStream({
    method: HealthDataService.method.read,
    duplex: duplex as never,
    onClosed: () => undefined,
  });
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
