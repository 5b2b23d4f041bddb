import type { ChainedRecord } from '@phds/record-chain/record';
import type { Clock } from '@phds/service-kit/clock';
import type { Access, Verdict } from '../domain/access.ts';
import { type Refusal, toRecord, toRefusalRecord } from './access-records.ts';
import { type Call, CallQueue, notRecorded, type QueueLimits, takeWhileFits } from './call-queue.ts';
import { createGrantRefs, type GrantRefs } from './grant-refs.ts';
import { createRecordChainEnd } from './record-chain-end.ts';
import type { AccessRecorder, RecordBatch } from './record-ports.ts';
import { createRecordStamps, type RecordStamps } from './record-stamps.ts';

/** Limits of the wait for a batch; its statements have limits of their own. */
export interface AccessWriterOptions extends QueueLimits {
  /** Accesses in one batch, at most; a single call brings no more. */
  readonly maxBatch: number;
  /** Grants whose references are kept. */
  readonly maxGrants: number;
}

/** The writer of this process. Disposing waits for what was begun. */
export interface AccessWriter extends AsyncDisposable {
  /**
   * Records, commits, and only then judges: one verdict each, in order, once a refusal is recorded as well. Throws
   * `access_not_recorded` for the whole call when any step fails; a record may then tell of an answer that never left, never
   * the reverse.
   */
  record(accesses: readonly Access[]): Promise<Verdict[]>;
}

/** A call whose verdicts may leave once its refusals are recorded. */
interface Refused {
  readonly call: Call;
  readonly verdicts: Verdict[];
  readonly refusals: readonly Refusal[];
}

interface Written {
  readonly calls: readonly Call[];
  readonly accesses: readonly Access[];
  readonly userRefs: readonly Uint8Array[];
  readonly batch: RecordBatch;
}

/**
 * Merges calls: what queued while the last commit was in flight travels in the next. No timer delays anything. One insert is in
 * flight at a time, since the chain's order is that of the inserts; the judgement of a batch, in a snapshot taken after its
 * commit, may overlap the insert of the next.
 */
export function createAccessWriter(
  ports: {
    readonly recorder: AccessRecorder;
    readonly clock: Clock;
  },
  options: AccessWriterOptions,
): AccessWriter {
  return new BatchWriter(ports, options);
}

class BatchWriter implements AccessWriter {
  readonly #recorder: AccessRecorder;
  readonly #maxBatch: number;
  readonly #stamps: RecordStamps;
  readonly #refs: GrantRefs;
  readonly #chain = createRecordChainEnd();
  readonly #calls: CallQueue;
  #refused: Refused[] = [];
  #writing: Promise<void> | null = null;
  #judging: Promise<void> = Promise.resolve();
  #arrival: PromiseWithResolvers<void> | null = null;

  constructor({ recorder, clock }: Parameters<typeof createAccessWriter>[0], options: AccessWriterOptions) {
    this.#recorder = recorder;
    this.#maxBatch = options.maxBatch;
    this.#calls = new CallQueue(options);
    this.#stamps = createRecordStamps(clock);
    this.#refs = createGrantRefs(recorder, options.maxGrants);
  }

  record(accesses: readonly Access[]): Promise<Verdict[]> {
    if (accesses.length > this.#maxBatch) return Promise.reject(new RangeError('more than a batch'));
    const verdicts = this.#calls.add(accesses);
    this.#arrival?.resolve();
    this.#write();
    return verdicts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  get #isIdle(): boolean {
    return this.#calls.isEmpty && this.#refused.length === 0;
  }

  #write(): void {
    this.#writing ??= this.#writeAll();
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    for (;;) {
      while (!this.#isIdle) await this.#writeNext();
      // What is being judged may bring refusals; a call that arrives meanwhile need not wait for them.
      this.#arrival = Promise.withResolvers();
      const judged = this.#judging.then(() => true);
      const isOver = await Promise.race([judged, this.#arrival.promise.then(() => false)]);
      if (isOver && this.#isIdle) break;
    }
    // In the same turn as the look: a call that comes later begins anew.
    this.#writing = null;
  }

  async #writeNext(): Promise<void> {
    const isAhead = this.#stamps.isAhead();
    // A refusal comes after what it refers to, so those of records that are stamped ahead have to be known, and written as well.
    if (isAhead) await this.#judging;
    const refused = takeWhileFits(this.#refused, this.#maxBatch, (one) => one.refusals.length);
    this.#refused = this.#refused.slice(refused.length);
    const refusals = refused.flatMap((one) => one.refusals);
    const calls = isAhead && refused.length > 0 ? [] : this.#calls.take(this.#maxBatch - refusals.length);
    if (calls.length + refused.length === 0) return;
    if (isAhead && refused.length === 0) this.#beginAnew();
    try {
      const written = await this.#insert(calls, refusals);
      for (const { call, verdicts } of refused) call.resolve(verdicts);
      // At most two batches are under way: the one being judged and the one being inserted.
      await this.#judging;
      if (calls.length > 0) this.#judging = this.#judge(written);
    } catch (cause) {
      this.#chain.abandon();
      for (const call of [...calls, ...refused.map((one) => one.call)]) call.reject(notRecorded(cause));
    }
  }

  /** Within a chain time never goes back. */
  #beginAnew(): void {
    this.#chain.abandon();
    this.#stamps.restart();
  }

  async #insert(calls: readonly Call[], refusals: readonly Refusal[]): Promise<Written> {
    const accesses = calls.flatMap((call) => call.accesses);
    const userRefs = await this.#refs.resolve(accesses.map((access) => access.grantId));
    const { at, ids } = this.#stamps.next(refusals.length + accesses.length);
    const next = ids.values();
    const nextId = () => next.next().value ?? new Uint8Array();
    const records = refusals.map((refusal) => toRefusalRecord(refusal, nextId(), at));
    for (const [index, access] of accesses.entries()) {
      records.push(toRecord(access, userRefs[index] ?? new Uint8Array(), nextId(), at));
    }
    const batch = this.#chain.next(at, records);
    await this.#recorder.record(batch);
    this.#chain.advance(batch);
    return { calls, accesses, userRefs, batch };
  }

  /** Never rejects. */
  async #judge({ calls, accesses, userRefs, batch }: Written): Promise<void> {
    try {
      const judgements = await this.#recorder.judge(accesses, userRefs);
      // A verdict that is missing must never read as released.
      if (judgements.length !== accesses.length) throw new Error('a judgement for each access');
      let offset = 0;
      const records = batch.records.slice(batch.records.length - accesses.length);
      for (const call of calls) {
        const end = offset + call.accesses.length;
        this.#settle(call, judgements.slice(offset, end), records.slice(offset, end));
        offset = end;
      }
    } catch (cause) {
      for (const call of calls) call.reject(notRecorded(cause));
    }
  }

  #settle(
    call: Call,
    judgements: Awaited<ReturnType<AccessRecorder['judge']>>,
    records: readonly ChainedRecord[],
  ): void {
    const verdicts: Verdict[] = [];
    const refusals: Refusal[] = [];
    for (const [index, judgement] of judgements.entries()) {
      const [access, record] = [call.accesses[index], records[index]];
      if (access === undefined || record === undefined) throw new Error('a record for each access');
      if (judgement === 'reference_differs') {
        // The grant was made after its reference was asked for; the next read finds it.
        call.reject(notRecorded(new Error('the record does not carry the reference of its grant')));
        return;
      }
      verdicts.push(judgement);
      if (judgement !== 'released') refusals.push({ record, verdict: judgement });
    }
    if (refusals.length === 0) call.resolve(verdicts);
    else this.#refused.push({ call, verdicts, refusals });
  }
}
