import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { hashBatch, hashBeginning } from '@phds/record-chain/chain';
import { digestRecord } from '@phds/record-chain/record';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { type AccessWriter, createAccessWriter } from '../src/app/access-writer.ts';
import type { AccessRecorder, RecordBatch } from '../src/app/record-ports.ts';
import type { Access, Judgement } from '../src/domain/access.ts';
import { accessOf } from './running-service.ts';

const GRANT = { grantId: 'grt_1', clientId: 'app_1', userId: 'ada' };

/** A recorder that a test holds up, fails and asks. */
class FakeRecorder implements AccessRecorder {
  readonly refs = new Map<string, Uint8Array>([['grt_1', randomBytes(16)]]);
  readonly askedFor: string[][] = [];
  readonly batches: RecordBatch[] = [];
  readonly told: string[] = [];
  judgement: (access: Access) => Judgement = () => 'released';
  recordGate: Promise<unknown> = Promise.resolve();
  judgeGate: Promise<unknown> = Promise.resolve();

  async findRefs(grantIds: readonly string[]): Promise<Map<string, Uint8Array>> {
    this.askedFor.push([...grantIds]);
    return new Map([...this.refs].filter(([grantId]) => grantIds.includes(grantId)));
  }

  async record(batch: RecordBatch): Promise<void> {
    this.told.push(`record ${batch.recordCount}`);
    await this.recordGate;
    this.batches.push(batch);
    this.told.push(`recorded ${batch.recordCount}`);
  }

  async judge(accesses: readonly Access[]): Promise<Judgement[]> {
    this.told.push(`judge ${accesses.length}`);
    await this.judgeGate;
    return accesses.map(this.judgement);
  }
}

function start(
  limits: { maxQueued?: number; maxWaitMs?: number } = {},
): [AccessWriter, FakeRecorder, FakeClock] {
  const [recorder, clock] = [new FakeRecorder(), new FakeClock()];
  const options = { maxBatch: 10, maxQueued: 100, maxWaitMs: 60_000, maxGrants: 4, ...limits };
  return [createAccessWriter({ recorder, clock }, options), recorder, clock];
}

const some = (count: number, change: object = {}) =>
  Array.from({ length: count }, () => ({ ...accessOf(GRANT), ...change }));

describe('the writer', () => {
  test('lets calls that arrive while a batch is in flight travel together in the next, whole', async () => {
    const [writer, recorder] = start();
    const gate = Promise.withResolvers<void>();
    recorder.recordGate = gate.promise;
    const calls = [1, 4, 3, 2, 5].map((count) => writer.record(some(count)));
    await eventually(() => expect(recorder.told).toEqual(['record 1']));
    gate.resolve();
    expect((await Promise.all(calls)).map((verdicts) => verdicts.length)).toEqual([1, 4, 3, 2, 5]);
    expect(recorder.batches.map((batch) => batch.recordCount)).toEqual([1, 9, 5]);
  });

  test('has one insert in flight, and judges a batch after its commit while the next is inserted', async () => {
    const [writer, recorder] = start();
    const gate = Promise.withResolvers<void>();
    recorder.judgeGate = gate.promise;
    const first = writer.record(some(1));
    await eventually(() => expect(recorder.told).toEqual(['record 1', 'recorded 1', 'judge 1']));
    const others = [writer.record(some(8)), writer.record(some(9))];
    await eventually(() => expect(recorder.told).toHaveLength(5));
    // The third waits: no more than one batch is judged and one inserted at a time.
    expect(recorder.told.slice(3)).toEqual(['record 8', 'recorded 8']);
    gate.resolve();
    await Promise.all([first, ...others]);
    expect(recorder.told.slice(5)).toEqual(expect.arrayContaining(['judge 8', 'record 9', 'judge 9']));
  });

  test('chains what it writes, refusals as records of their own that repeat what they refer to', async () => {
    const [writer, recorder] = start();
    recorder.judgement = (access) => (access.page === 2 ? 'grant_revoked' : 'released');
    const accesses = [...some(1), ...some(1, { page: 2 })];
    expect(await writer.record(accesses)).toEqual(['released', 'grant_revoked']);
    await writer.record(some(1));
    const [one, two, three] = recorder.batches as [RecordBatch, RecordBatch, RecordBatch];
    let previous = hashBeginning(one.writer);
    for (const [seq, batch] of [one, two, three].entries()) {
      expect(batch).toMatchObject({ writer: one.writer, seq });
      expect(batch.digests).toEqual(Buffer.concat(batch.records.map(digestRecord)));
      expect(batch.previousHash).toEqual(previous);
      previous = hashBatch(previous, seq, batch.digests);
      expect(batch.hash).toEqual(previous);
    }
    const [, refused] = one.records;
    expect(two.records).toEqual([
      { ...refused, id: two.records[0]?.id, at: two.at, refersTo: refused?.id, verdict: 'grant_revoked' },
    ]);
  });

  test('answers a refusal only once it is recorded', async () => {
    const [writer, recorder] = start();
    recorder.judgement = () => 'token_expired';
    const [judging, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    recorder.judgeGate = judging.promise;
    let isAnswered = false;
    const call = writer.record(some(1)).then(() => {
      isAnswered = true;
    });
    await eventually(() => expect(recorder.told).toContain('judge 1'));
    recorder.recordGate = gate.promise;
    judging.resolve();
    await eventually(() => expect(recorder.told.at(-1)).toBe('record 1'));
    expect(isAnswered).toBe(false);
    gate.resolve();
    await call;
  });

  test('refuses what finds no room in the queue, at once, and nothing else', async () => {
    const [writer, recorder] = start({ maxQueued: 6 });
    const gate = Promise.withResolvers<void>();
    recorder.recordGate = gate.promise;
    const first = writer.record(some(1));
    await eventually(() => expect(recorder.told).toHaveLength(1));
    const waiting = [writer.record(some(4)), writer.record(some(2))];
    await expect(writer.record(some(1))).rejects.toMatchObject({
      reason: 'access_not_recorded',
      retryAfterSeconds: 1,
    });
    gate.resolve();
    expect((await Promise.all([first, ...waiting])).flat()).toHaveLength(7);
    expect((await writer.record(some(6))).length).toBe(6);
  });

  test('ends a wait that is too long, also while the database hangs, and never records what it ended', async () => {
    const [writer, recorder] = start({ maxWaitMs: 30 });
    const gate = Promise.withResolvers<void>();
    recorder.recordGate = gate.promise;
    const first = writer.record(some(1));
    await eventually(() => expect(recorder.told).toHaveLength(1));
    await expect(writer.record(some(3))).rejects.toMatchObject({ reason: 'access_not_recorded' });
    gate.resolve();
    expect(await first).toEqual(['released']);
    await writer.record(some(2));
    expect(recorder.batches.map((batch) => batch.recordCount)).toEqual([1, 2]);
  });

  test('begins another chain after an insert whose outcome nobody knows', async () => {
    const [writer, recorder] = start();
    await writer.record(some(1));
    recorder.recordGate = Promise.reject(new Error('connection lost'));
    recorder.recordGate.catch(() => undefined);
    await expect(writer.record(some(1))).rejects.toMatchObject({ reason: 'access_not_recorded' });
    recorder.recordGate = Promise.resolve();
    await writer.record(some(1));
    const [before, after] = recorder.batches as [RecordBatch, RecordBatch];
    expect(after.writer).not.toBe(before.writer);
    expect(after).toMatchObject({ seq: 0, previousHash: hashBeginning(after.writer) });
  });

  test('dates by the clock again after it was far ahead for a moment: in another chain, once the refusals are written', async () => {
    const [writer, recorder, clock] = start();
    const [now, later] = [clock.now().getTime(), 86_400_000];
    await writer.record(some(1));
    clock.advance(later);
    recorder.judgement = (access) => (access.page === 2 ? 'grant_revoked' : 'released');
    const gate = Promise.withResolvers<void>();
    recorder.judgeGate = gate.promise;
    recorder.told.length = 0;
    const refused = writer.record(some(1, { page: 2 }));
    await eventually(() => expect(recorder.told.at(-1)).toBe('judge 1'));
    clock.advance(-later);
    const calls = [writer.record(some(3)), writer.record(some(2, { page: 2 }))];
    // By then everything has happened that does not wait for the judgement.
    await new Promise(setImmediate);
    expect(recorder.told.at(-1)).toBe('judge 1');
    gate.resolve();
    expect(await refused).toEqual(['grant_revoked']);
    await Promise.all(calls);
    const [first, ahead, refusal, after, last] = recorder.batches as [RecordBatch, ...RecordBatch[]];
    expect([ahead, refusal]).toMatchObject([
      { writer: first.writer, seq: 1, at: now + later, recordCount: 1 },
      { writer: first.writer, seq: 2, at: now + later, recordCount: 1 },
    ]);
    const [referring, referred] = [refusal?.records[0], ahead?.records[0]];
    expect(referring?.refersTo).toEqual(referred?.id);
    expect(Buffer.compare(referring!.id, referred!.id)).toBe(1);
    expect([after, last]).toMatchObject([
      { seq: 0, at: now, recordCount: 5 },
      { writer: after?.writer, seq: 1, at: now, recordCount: 2 },
    ]);
    expect(after).toMatchObject({ previousHash: hashBeginning(after!.writer) });
    expect(after?.writer).not.toBe(first.writer);
  });

  test('goes on in its chain when the clock goes back by little', async () => {
    const [writer, recorder, clock] = start();
    await writer.record(some(1));
    clock.advance(-5_000);
    await writer.record(some(1));
    const [before, after] = recorder.batches as [RecordBatch, RecordBatch];
    expect(after).toMatchObject({ writer: before.writer, seq: 1, at: before.at });
  });

  test('releases nothing of a batch whose judgements are too few', async () => {
    const [writer, recorder] = start();
    recorder.judge = async () => ['released'];
    await expect(writer.record(some(2))).rejects.toMatchObject({ reason: 'access_not_recorded' });
  });

  test('names the person of each record by the reference of its grant, asked for once, whoever the access says it is', async () => {
    const [writer, recorder] = start();
    recorder.refs.set('grt_2', randomBytes(16));
    await writer.record([...some(2), ...some(1, { grantId: 'grt_2' })]);
    await writer.record(some(1, { userId: 'somebody-else' }));
    expect(recorder.askedFor).toEqual([['grt_1', 'grt_2']]);
    const refs = recorder.batches.flatMap((batch) => batch.records.map(({ userRef }) => userRef));
    expect(refs).toEqual(['grt_1', 'grt_1', 'grt_2', 'grt_1'].map((id) => recorder.refs.get(id)));
  });

  test('releases nothing whose record does not carry the reference of its grant', async () => {
    const [writer, recorder] = start();
    recorder.judgement = () => 'reference_differs';
    await expect(writer.record(some(1))).rejects.toMatchObject({ reason: 'access_not_recorded' });
  });

  test('finishes what it began when it is disposed', async () => {
    const [writer, recorder] = start();
    recorder.judgement = () => 'grant_expired';
    const call = writer.record(some(3));
    await writer[Symbol.asyncDispose]();
    expect(recorder.batches.map((batch) => batch.recordCount)).toEqual([3, 3]);
    expect(await call).toHaveLength(3);
  });
});
