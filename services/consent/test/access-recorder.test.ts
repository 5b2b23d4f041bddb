import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import {
  digestAccessRecord,
  hashBatch,
  hashBeginning,
  timeOfUuid,
  toUuidText,
} from '@phds/record-chain/chain';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { type AccessRecorder, createAccessRecorder } from '../src/access/record.ts';
import { createAccessRecordStamps } from '../src/access/stamps.ts';
import type {
  Access,
  AccessRecordBatch,
  AccessStatements,
  Judgement,
  Verdict,
} from '../src/access/statements.ts';
import { accessOf } from './running-service.ts';

const GRANT = { grantId: 'grt_1', clientId: 'app_1', userId: 'ada' };

/** A store of access records that a test can block, fail and inspect. */
class FakeStore implements AccessStatements {
  readonly refs = new Map<string, Uint8Array>([['grt_1', randomBytes(16)]]);
  readonly askedFor: string[][] = [];
  readonly batches: AccessRecordBatch[] = [];
  readonly told: string[] = [];
  judgement: (access: Access) => Judgement = () => 'released';
  insertGate: Promise<unknown> = Promise.resolve();
  judgeGate: Promise<unknown> = Promise.resolve();

  async findRefs(grantIds: readonly string[]): Promise<Map<string, Uint8Array>> {
    this.askedFor.push([...grantIds]);
    return new Map([...this.refs].filter(([grantId]) => grantIds.includes(grantId)));
  }

  addRefs(...grantIds: string[]): void {
    for (const grantId of grantIds) this.refs.set(grantId, randomBytes(16));
  }

  /** Inserts wait until the returned function is called. */
  holdInserts(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.insertGate = promise;
    return resolve;
  }

  /** Judgements wait until the returned function is called. */
  holdJudgements(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.judgeGate = promise;
    return resolve;
  }

  async insert(batch: AccessRecordBatch): Promise<void> {
    this.told.push(`insert ${batch.recordCount}`);
    await this.insertGate;
    this.batches.push(batch);
    this.told.push(`inserted ${batch.recordCount}`);
  }

  async judge(accesses: readonly Access[]): Promise<Judgement[]> {
    this.told.push(`judge ${accesses.length}`);
    await this.judgeGate;
    return accesses.map(this.judgement);
  }
}

function startRecorder(
  limits: { maxQueued?: number; maxWaitMs?: number } = {},
): [AccessRecorder, FakeStore, FakeClock] {
  const [store, clock] = [new FakeStore(), new FakeClock()];
  const options = { maxBatch: 10, maxQueued: 100, maxWaitMs: 60_000, maxGrants: 4, ...limits };
  return [createAccessRecorder({ statements: store, clock, ...options }), store, clock];
}

/** With a call of one access, whose insert is held until `release`. */
async function startHeld(limits: { maxQueued?: number; maxWaitMs?: number } = {}) {
  const [recorder, store] = startRecorder(limits);
  const release = store.holdInserts();
  const first = recorder.record(some(1));
  await eventually(() => expect(store.told).toEqual(['insert 1']));
  return { recorder, store, first, release };
}

const some = (count: number, change: object = {}) =>
  Array.from({ length: count }, () => ({ ...accessOf(GRANT), ...change }));

/** Lets everything go on that waits for nothing. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 9; turn += 1) await new Promise(setImmediate);
}

describe('the access recorder', () => {
  test('has one insert in flight, and judges a batch after its commit while the next one is inserted', async () => {
    const [recorder, store] = startRecorder();
    const release = store.holdJudgements();
    const first = recorder.record(some(1));
    await eventually(() => expect(store.told).toEqual(['insert 1', 'inserted 1', 'judge 1']));
    const others = [recorder.record(some(8)), recorder.record(some(9))];
    await eventually(() => expect(store.told).toHaveLength(5));
    await turns();
    // The third waits: at most one batch is judged and one inserted at a time.
    expect(store.told.slice(3)).toEqual(['insert 8', 'inserted 8']);
    expect(recorder.waiting).toBe(8 + 9);
    release();
    await Promise.all([first, ...others]);
    expect(store.told.slice(5)).toEqual(['judge 8', 'insert 9', 'inserted 9', 'judge 9']);
    expect(recorder.waiting).toBe(0);
  });

  test('chains its batches, and writes refusals as separate records that repeat the refused one', async () => {
    const [recorder, store] = startRecorder();
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
    const [recorder, store] = startRecorder();
    store.judgement = () => 'token_expired';
    const releaseJudgement = store.holdJudgements();
    let isAnswered = false;
    const call = recorder.record(some(1)).then(() => {
      isAnswered = true;
    });
    await eventually(() => expect(store.told).toContain('judge 1'));
    const release = store.holdInserts();
    releaseJudgement();
    await eventually(() => expect(store.told.at(-1)).toBe('insert 1'));
    expect(isAnswered).toBe(false);
    release();
    await call;
  });

  test('immediately refuses exactly the calls for which the queue has no room', async () => {
    const { recorder, first, release } = await startHeld({ maxQueued: 6 });
    const waiting = [recorder.record(some(4)), recorder.record(some(2))];
    await expect(recorder.record(some(1))).rejects.toMatchObject({
      reason: 'access_not_recorded',
      retryAfterSeconds: 1,
    });
    release();
    expect((await Promise.all([first, ...waiting])).flat()).toHaveLength(7);
    expect((await recorder.record(some(6))).length).toBe(6);
  });

  test('starts another chain after an insert with an unknown outcome', async () => {
    const [recorder, store] = startRecorder();
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
    const [recorder, store] = startRecorder();
    await recorder.record(some(1));
    const release = store.holdInserts();
    const inProgress = recorder.record(some(1));
    await eventually(() => expect(store.told.at(-1)).toBe('insert 1'));
    recorder.beginChain();
    release();
    await inProgress;
    await recorder.record(some(1));
    await recorder.record(some(1));
    const [first, second, third, fourth] = store.batches as AccessRecordBatch[];
    expect(second).toMatchObject({ writer: first?.writer, seq: 1 });
    expect(third?.writer).not.toBe(first?.writer);
    expect(third).toMatchObject({ seq: 0, previousHash: hashBeginning(third?.writer ?? '') });
    expect(fourth).toMatchObject({ writer: third?.writer, seq: 1 });
  });

  test("returns to the clock's time after the clock was temporarily far ahead, in another chain; a refusal is later than its record", async () => {
    const [recorder, store, clock] = startRecorder();
    const [now, later] = [clock.now().getTime(), 86_400_000];
    await recorder.record(some(1));
    clock.advance(later);
    store.judgement = (access) => (access.page === 2 ? 'grant_revoked' : 'released');
    const release = store.holdJudgements();
    store.told.length = 0;
    const refused = recorder.record(some(1, { page: 2 }));
    await eventually(() => expect(store.told.at(-1)).toBe('judge 1'));
    clock.advance(-later);
    const call = recorder.record(some(3));
    await eventually(() => expect(store.told.at(-1)).toBe('inserted 3'));
    release();
    expect(await refused).toEqual(['grant_revoked']);
    await call;
    await recorder.record(some(2));
    const [first, ahead, after, refusal, last] = store.batches as AccessRecordBatch[];
    expect([ahead, after, refusal, last]).toMatchObject([
      { writer: first?.writer, seq: 1, at: now + later, recordCount: 1 },
      { seq: 0, at: now, recordCount: 3 },
      { writer: after?.writer, seq: 1, at: now + later + 1, recordCount: 1 },
      { seq: 0, at: now, recordCount: 2 },
    ]);
    expect(refusal?.accessRecords[0]?.refersTo).toEqual(ahead?.accessRecords[0]?.id);
    expect(last).toMatchObject({ previousHash: hashBeginning(last?.writer ?? '') });
    expect(new Set([first, after, last].map((batch) => batch?.writer)).size).toBe(3);
  });

  test('identifies the person of each record by the reference of its grant, read once, whatever the access says', async () => {
    const [recorder, store] = startRecorder();
    store.addRefs('grt_2');
    await recorder.record([...some(2), ...some(1, { grantId: 'grt_2' })]);
    await recorder.record(some(1, { userId: 'somebody-else' }));
    expect(store.askedFor).toEqual([['grt_1', 'grt_2']]);
    const refs = store.batches.flatMap((batch) => batch.accessRecords.map(({ userRef }) => userRef));
    expect(refs).toEqual(['grt_1', 'grt_1', 'grt_2', 'grt_1'].map((id) => store.refs.get(id)));
  });

  test('releases nothing when a record lacks the reference of its grant', async () => {
    const [recorder, store] = startRecorder();
    store.judgement = () => 'reference_differs';
    await expect(recorder.record(some(1))).rejects.toMatchObject({ reason: 'access_not_recorded' });
  });

  test('completes running calls on disposal', async () => {
    const [recorder, store] = startRecorder();
    store.judgement = () => 'grant_expired';
    const call = recorder.record(some(3));
    await recorder[Symbol.asyncDispose]();
    expect(store.batches.map((batch) => batch.recordCount)).toEqual([3, 3]);
    expect(await call).toHaveLength(3);
  });
});

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

const SOME = [some(1), some(2), some(1)];

/** The outcomes of these calls in one batch, after a first one whose insert is over, and of a call after them. */
async function recordTogether(calls: readonly Access[][], change: (store: FakeStore) => void) {
  const { recorder, store, first, release } = await startHeld();
  change(store);
  const outcomes = Promise.allSettled(calls.map((accesses) => recorder.record(accesses)));
  release();
  await first;
  return { outcomes: await outcomes, next: await recorder.record(some(1)), store };
}

describe('calls of one batch', () => {
  test('get their own verdicts, in the order of their accesses', async () => {
    const calls = [pages(2), pages(1, 1), pages(1, 3, 2), pages(4), pages(1)];
    const { outcomes, store } = await recordTogether(calls, (changed) => {
      changed.judgement = byPage;
    });
    expect(outcomes).toEqual(calls.map((accesses) => ({ status: 'fulfilled', value: accesses.map(byPage) })));
    expect(store.batches[1]?.recordCount).toBe(8);
  });

  test.each<[string, (judgements: Judgement[]) => Judgement[]]>([
    ['there are too few judgements', (judgements) => judgements.slice(1)],
    ['there are too many judgements', (judgements) => ['released', ...judgements]],
    ['there are no judgements', () => []],
    [
      'the judgement fails',
      () => {
        throw new Error('connection lost');
      },
    ],
  ])('are all refused when %s, and the next batch is judged', async (_, change) => {
    const { outcomes, next } = await recordTogether(SOME, (store) => {
      const judge = store.judge.bind(store);
      store.judge = async (accesses) => {
        const judgements = await judge(accesses);
        return accesses.length === 1 ? judgements : change(judgements);
      };
    });
    expect(outcomes).toEqual(SOME.map(() => NOT_RECORDED));
    expect(next).toEqual(['released']);
  });

  test('are all refused when the insert fails, whatever the error is about, and nothing of them is judged', async () => {
    const { outcomes, store } = await recordTogether(SOME, (changed) => {
      const insert = changed.insert.bind(changed);
      changed.insert = async (batch) => {
        if (batch.recordCount > 1) throw Object.assign(new Error('of one of them'), { code: '23505' });
        await insert(batch);
      };
    });
    expect(outcomes).toEqual(SOME.map(() => NOT_RECORDED));
    expect(store.told.filter((told) => told.startsWith('judge'))).toEqual(['judge 1', 'judge 1']);
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
    const release = store.holdJudgements();
    const calls = [recorder.record(pages(2))];
    await eventually(() => expect(store.told.at(-1)).toBe('judge 1'));
    calls.push(recorder.record(pages(1, 1)));
    await eventually(() => expect(store.told.at(-1)).toBe('inserted 2'));
    calls.push(recorder.record(pages(1, 3)));
    release();
    await Promise.all(calls);
    const [first, , mixed, last] = store.batches;
    expect(mixed?.accessRecords.map(({ verdict }) => verdict)).toEqual(['', '', 'grant_revoked']);
    expect(mixed?.accessRecords[2]?.refersTo).toEqual(first?.accessRecords[0]?.id);
    expect(last?.accessRecords).toMatchObject([
      { verdict: 'token_expired', refersTo: mixed?.accessRecords[1]?.id },
    ]);
  });

  test('waits for a hanging insert as long as it takes, also without room in the queue', async () => {
    const [recorder, store] = startRecorder({ maxQueued: 3, maxWaitMs: 1_000 });
    store.judgement = byPage;
    const releaseJudgement = store.holdJudgements();
    const refused = recorder.record(pages(2, 3, 2));
    await eventually(() => expect(store.told.at(-1)).toBe('judge 3'));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    const release = store.holdInserts();
    const inserting = recorder.record(some(1));
    await turns();
    const waiting = recorder.record(some(3));
    releaseJudgement();
    await turns();
    const outcomes = Promise.allSettled([waiting, recorder.record(some(1))]);
    jest.advanceTimersByTime(60_000);
    expect(await outcomes).toEqual([NOT_RECORDED, NOT_RECORDED]);
    release();
    expect(await refused).toEqual(['grant_revoked', 'token_expired', 'grant_revoked']);
    expect(await inserting).toEqual(['released']);
    const verdicts = store.batches.flatMap((batch) => batch.accessRecords.map(({ verdict }) => verdict));
    expect(verdicts.filter((verdict) => verdict !== '')).toEqual(await refused);
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
    const { recorder, store, first, release } = await startHeld({ maxWaitMs: 1_000, maxQueued: 4 });
    const late = [recorder.record(some(2))];
    jest.advanceTimersByTime(400);
    late.push(recorder.record(some(2)));
    const refused = Promise.allSettled(late);
    jest.advanceTimersByTime(1_002);
    const later = recorder.record(some(2));
    jest.advanceTimersByTime(500);
    expect(await refused).toEqual([NOT_RECORDED, NOT_RECORDED]);
    release();
    expect(await later).toHaveLength(2);
    expect(await first).toHaveLength(1);
    expect(store.batches.map(({ recordCount }) => recordCount)).toEqual([1, 2]);
  });

  test('are not recorded, even if no timer has fired meanwhile', async () => {
    const { recorder, store, first, release } = await startHeld();
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout'] });
    const late = Promise.allSettled([recorder.record(some(2))]);
    jest.advanceTimersByTime(60_001);
    release();
    expect(await late).toEqual([NOT_RECORDED]);
    expect(await first).toHaveLength(1);
    expect(store.batches.map(({ recordCount }) => recordCount)).toEqual([1]);
  });
});

describe('ids of records', () => {
  const text = (ids: readonly Uint8Array[]) => ids.map(toUuidText);

  test('grow, also within a millisecond, beyond its 4096 ids, and when the clock goes back', () => {
    const clock = new FakeClock();
    const stamps = createAccessRecordStamps(clock);
    const ids = Array.from({ length: 50 }, () => text(stamps.next(100).ids)).flat();
    clock.advance(-1_000);
    ids.push(...text(stamps.next(1).ids));
    clock.advance(5_000);
    ids.push(...text(stamps.next(500).ids));
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(5_501);
  });

  test('of one stamp share its millisecond, and are UUIDs of version 7 that start with it', () => {
    const clock = new FakeClock('2022-02-22T19:22:22.000Z');
    const stamps = createAccessRecordStamps(clock);
    for (let turn = 0; turn < 20; turn += 1) {
      const { at, ids } = stamps.next(500);
      expect(new Set(ids.map(timeOfUuid))).toEqual(new Set([at]));
    }
    expect(text(createAccessRecordStamps(clock).next(1).ids)[0]).toMatch(
      /^017f22e2-79b0-7000-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });
});
