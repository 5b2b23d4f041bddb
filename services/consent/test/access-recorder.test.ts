import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { digestAccessRecord } from '@phds/record-chain/access-record';
import { hashBatch, hashBeginning } from '@phds/record-chain/chain';
import { eventually } from '@phds/test-kit/conditions';
import type { AccessRecordBatch } from '../src/app/access-ports.ts';
import { some, startRecorder as start } from './fake-access-store.ts';

describe('the access recorder', () => {
  test('puts calls that arrive during a batch together into the next one, undivided', async () => {
    const [recorder, store] = start();
    const gate = Promise.withResolvers<void>();
    store.insertGate = gate.promise;
    const calls = [1, 4, 3, 2, 5].map((count) => recorder.record(some(count)));
    await eventually(() => expect(store.told).toEqual(['insert 1']));
    gate.resolve();
    expect((await Promise.all(calls)).map((verdicts) => verdicts.length)).toEqual([1, 4, 3, 2, 5]);
    expect(store.batches.map((batch) => batch.recordCount)).toEqual([1, 9, 5]);
  });

  test('has one insert in flight, and judges a batch after its commit while the next one is inserted', async () => {
    const [recorder, store] = start();
    const gate = Promise.withResolvers<void>();
    store.judgeGate = gate.promise;
    const first = recorder.record(some(1));
    await eventually(() => expect(store.told).toEqual(['insert 1', 'inserted 1', 'judge 1']));
    const others = [recorder.record(some(8)), recorder.record(some(9))];
    await eventually(() => expect(store.told).toHaveLength(5));
    // The third waits: at most one batch is judged and one inserted at a time.
    expect(store.told.slice(3)).toEqual(['insert 8', 'inserted 8']);
    gate.resolve();
    await Promise.all([first, ...others]);
    expect(store.told.slice(5)).toEqual(expect.arrayContaining(['judge 8', 'insert 9', 'judge 9']));
  });

  test('chains its batches, and writes refusals as separate records that repeat the refused one', async () => {
    const [recorder, store] = start();
    store.judgement = (access) => (access.page === 2 ? 'grant_revoked' : 'released');
    const accesses = [...some(1), ...some(1, { page: 2 })];
    expect(await recorder.record(accesses)).toEqual(['released', 'grant_revoked']);
    await recorder.record(some(1));
    const [one, two, three] = store.batches as [AccessRecordBatch, AccessRecordBatch, AccessRecordBatch];
    let previous = hashBeginning(one.writer);
    for (const [seq, batch] of [one, two, three].entries()) {
      expect(batch).toMatchObject({ writer: one.writer, seq });
      expect(batch.digests).toEqual(Buffer.concat(batch.accessRecords.map(digestAccessRecord)));
      expect(batch.previousHash).toEqual(previous);
      previous = hashBatch(previous, seq, batch.digests);
      expect(batch.hash).toEqual(previous);
    }
    const [, refused] = one.accessRecords;
    expect(two.accessRecords).toEqual([
      {
        ...refused,
        id: two.accessRecords[0]?.id,
        at: two.at,
        refersTo: refused?.id,
        verdict: 'grant_revoked',
      },
    ]);
  });

  test('returns a refusal only after it is recorded', async () => {
    const [recorder, store] = start();
    store.judgement = () => 'token_expired';
    const [judging, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    store.judgeGate = judging.promise;
    let isAnswered = false;
    const call = recorder.record(some(1)).then(() => {
      isAnswered = true;
    });
    await eventually(() => expect(store.told).toContain('judge 1'));
    store.insertGate = gate.promise;
    judging.resolve();
    await eventually(() => expect(store.told.at(-1)).toBe('insert 1'));
    expect(isAnswered).toBe(false);
    gate.resolve();
    await call;
  });

  test('immediately refuses exactly the calls for which the queue has no room', async () => {
    const [recorder, store] = start({ maxQueued: 6 });
    const gate = Promise.withResolvers<void>();
    store.insertGate = gate.promise;
    const first = recorder.record(some(1));
    await eventually(() => expect(store.told).toHaveLength(1));
    const waiting = [recorder.record(some(4)), recorder.record(some(2))];
    await expect(recorder.record(some(1))).rejects.toMatchObject({
      reason: 'access_not_recorded',
      retryAfterSeconds: 1,
    });
    gate.resolve();
    expect((await Promise.all([first, ...waiting])).flat()).toHaveLength(7);
    expect((await recorder.record(some(6))).length).toBe(6);
  });

  test('ends a wait that is too long, even while the database hangs, and never records the refused call', async () => {
    const [recorder, store] = start({ maxWaitMs: 30 });
    const gate = Promise.withResolvers<void>();
    store.insertGate = gate.promise;
    const first = recorder.record(some(1));
    await eventually(() => expect(store.told).toHaveLength(1));
    await expect(recorder.record(some(3))).rejects.toMatchObject({ reason: 'access_not_recorded' });
    gate.resolve();
    expect(await first).toEqual(['released']);
    await recorder.record(some(2));
    expect(store.batches.map((batch) => batch.recordCount)).toEqual([1, 2]);
  });

  test('starts another chain after an insert with an unknown outcome', async () => {
    const [recorder, store] = start();
    await recorder.record(some(1));
    store.insertGate = Promise.reject(new Error('connection lost'));
    store.insertGate.catch(() => undefined);
    await expect(recorder.record(some(1))).rejects.toMatchObject({ reason: 'access_not_recorded' });
    store.insertGate = Promise.resolve();
    await recorder.record(some(1));
    const [before, after] = store.batches as [AccessRecordBatch, AccessRecordBatch];
    expect(after.writer).not.toBe(before.writer);
    expect(after).toMatchObject({ seq: 0, previousHash: hashBeginning(after.writer) });
  });

  test('continues the chain of the batch in progress, and begins another one after it, when the database may lack the end', async () => {
    const [recorder, store] = start();
    await recorder.record(some(1));
    const gate = Promise.withResolvers<void>();
    store.insertGate = gate.promise;
    const inProgress = recorder.record(some(1));
    await eventually(() => expect(store.told.at(-1)).toBe('insert 1'));
    recorder.beginChain();
    gate.resolve();
    await inProgress;
    await recorder.record(some(1));
    await recorder.record(some(1));
    const [first, second, third, fourth] = store.batches as AccessRecordBatch[];
    expect(second).toMatchObject({ writer: first?.writer, seq: 1 });
    expect(third?.writer).not.toBe(first?.writer);
    expect(third).toMatchObject({ seq: 0, previousHash: hashBeginning(third?.writer ?? '') });
    expect(fourth).toMatchObject({ writer: third?.writer, seq: 1 });
  });

  test("returns to the clock's time after the clock was temporarily far ahead: in another chain, once the refusals are written", async () => {
    const [recorder, store, clock] = start();
    const [now, later] = [clock.now().getTime(), 86_400_000];
    await recorder.record(some(1));
    clock.advance(later);
    store.judgement = (access) => (access.page === 2 ? 'grant_revoked' : 'released');
    const gate = Promise.withResolvers<void>();
    store.judgeGate = gate.promise;
    store.told.length = 0;
    const refused = recorder.record(some(1, { page: 2 }));
    await eventually(() => expect(store.told.at(-1)).toBe('judge 1'));
    clock.advance(-later);
    const calls = [recorder.record(some(3)), recorder.record(some(2, { page: 2 }))];
    // By then, everything that does not wait for the judgement has happened.
    await new Promise(setImmediate);
    expect(store.told.at(-1)).toBe('judge 1');
    gate.resolve();
    expect(await refused).toEqual(['grant_revoked']);
    await Promise.all(calls);
    const [first, ahead, refusal, after, last] = store.batches as [AccessRecordBatch, ...AccessRecordBatch[]];
    expect([ahead, refusal]).toMatchObject([
      { writer: first.writer, seq: 1, at: now + later, recordCount: 1 },
      { writer: first.writer, seq: 2, at: now + later, recordCount: 1 },
    ]);
    const [referring, referred] = [refusal?.accessRecords[0], ahead?.accessRecords[0]];
    expect(referring?.refersTo).toEqual(referred?.id);
    expect(Buffer.compare(referring!.id, referred!.id)).toBe(1);
    expect([after, last]).toMatchObject([
      { seq: 0, at: now, recordCount: 5 },
      { writer: after?.writer, seq: 1, at: now, recordCount: 2 },
    ]);
    expect(after).toMatchObject({ previousHash: hashBeginning(after!.writer) });
    expect(after?.writer).not.toBe(first.writer);
  });

  test('continues its chain when the clock goes back slightly', async () => {
    const [recorder, store, clock] = start();
    await recorder.record(some(1));
    clock.advance(-5_000);
    await recorder.record(some(1));
    const [before, after] = store.batches as [AccessRecordBatch, AccessRecordBatch];
    expect(after).toMatchObject({ writer: before.writer, seq: 1, at: before.at });
  });

  test('releases nothing of a batch with too few judgements', async () => {
    const [recorder, store] = start();
    store.judge = async () => ['released'];
    await expect(recorder.record(some(2))).rejects.toMatchObject({ reason: 'access_not_recorded' });
  });

  test('identifies the person of each record by the reference of its grant, read once, whatever the access says', async () => {
    const [recorder, store] = start();
    store.refs.set('grt_2', randomBytes(16));
    await recorder.record([...some(2), ...some(1, { grantId: 'grt_2' })]);
    await recorder.record(some(1, { userId: 'somebody-else' }));
    expect(store.askedFor).toEqual([['grt_1', 'grt_2']]);
    const refs = store.batches.flatMap((batch) => batch.accessRecords.map(({ userRef }) => userRef));
    expect(refs).toEqual(['grt_1', 'grt_1', 'grt_2', 'grt_1'].map((id) => store.refs.get(id)));
  });

  test('releases nothing when a record lacks the reference of its grant', async () => {
    const [recorder, store] = start();
    store.judgement = () => 'reference_differs';
    await expect(recorder.record(some(1))).rejects.toMatchObject({ reason: 'access_not_recorded' });
  });

  test('completes running calls on disposal', async () => {
    const [recorder, store] = start();
    store.judgement = () => 'grant_expired';
    const call = recorder.record(some(3));
    await recorder[Symbol.asyncDispose]();
    expect(store.batches.map((batch) => batch.recordCount)).toEqual([3, 3]);
    expect(await call).toHaveLength(3);
  });
});
