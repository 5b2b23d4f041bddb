import type { AccessRecord } from '@phds/record-chain/access-record';
import type { Clock } from '@phds/service-kit/clock';
import { AppError } from '@phds/service-kit/errors';
import { FairQueue, type Queued } from '@phds/service-kit/fair-queue';
import type { Access, Verdict } from '../domain/access.ts';
import type { AccessRecordBatch, AccessRecordStore, CallOrigins } from './access-ports.ts';
import { type AccessRecordStamps, createAccessRecordStamps } from './access-record-stamps.ts';
import { type Refusal, toAccessRecord, toRefusalRecord } from './access-records.ts';
import { createChainEnd } from './chain-end.ts';
import { createGrantRefs, type GrantRefs } from './grant-refs.ts';

interface Dependencies {
  readonly store: AccessRecordStore;
  readonly clock: Clock;
  /** Default: no origins. */
  readonly origins?: CallOrigins;
  /** Maximum number of waiting accesses; further calls are refused immediately. */
  readonly maxQueued: number;
  /** Maximum wait in milliseconds. */
  readonly maxWaitMs: number;
  /** Maximum number of accesses in one batch; no single call has more. */
  readonly maxBatch: number;
  /** Number of grants whose references are cached. */
  readonly maxGrants: number;
}

const NO_ORIGINS: CallOrigins = { current: () => undefined, within: (_origins, work) => work() };

/** Records the accesses of this process. Disposal waits for calls in progress. */
export interface AccessRecorder extends AsyncDisposable {
  /**
   * Records, commits, and only then judges. Returns one verdict each, in order, after refusals are recorded too. Throws
   * `access_not_recorded` for the whole call when any step fails. A record may then describe a response that was never released,
   * but never the reverse.
   */
  record(accesses: readonly Access[]): Promise<Verdict[]>;
  /** Continues with another chain, because the database may lack the end of the present one. */
  beginChain(): void;
  /** Number of accesses that wait for the next batch. */
  readonly waiting: number;
}

/** The accesses of one call, which are written together. */
interface Call extends Queued {
  readonly accesses: readonly Access[];
  /** See `CallOrigins`. */
  readonly origin: unknown;
  readonly resolve: (verdicts: Verdict[]) => void;
}

/** A call whose verdicts are returned once its refusals are recorded. */
interface Refused extends Queued {
  readonly call: Call;
  readonly verdicts: Verdict[];
  readonly refusals: readonly Refusal[];
}

interface Written {
  readonly calls: readonly Call[];
  readonly accesses: readonly Access[];
  readonly userRefs: readonly Uint8Array[];
  readonly batch: AccessRecordBatch;
}

/**
 * Merges concurrent calls: those that arrive during a commit are written together in the next batch. No timer delays them. Only one
 * insert is in flight at a time, because the chain follows the order of inserts. The judgement of a batch, in a snapshot taken
 * after its commit, may overlap the insert of the next.
 */
export function createAccessRecorder(dependencies: Dependencies): AccessRecorder {
  return new BatchRecorder(dependencies);
}

class BatchRecorder implements AccessRecorder {
  readonly #store: AccessRecordStore;
  readonly #origins: CallOrigins;
  readonly #limits: Pick<Dependencies, 'maxBatch' | 'maxWaitMs'>;
  readonly #stamps: AccessRecordStamps;
  readonly #refs: GrantRefs;
  readonly #chain = createChainEnd();
  #isChainOver = false;
  readonly #calls: FairQueue<Call>;
  readonly #refused = new FairQueue<Refused>(Number.POSITIVE_INFINITY);
  #writing: Promise<void> | null = null;
  #judging: Promise<void> = Promise.resolve();
  #arrival: PromiseWithResolvers<void> | null = null;

  constructor(dependencies: Dependencies) {
    const { store, clock, origins = NO_ORIGINS, maxQueued, maxGrants } = dependencies;
    this.#store = store;
    this.#origins = origins;
    this.#limits = dependencies;
    this.#calls = new FairQueue(maxQueued);
    this.#stamps = createAccessRecordStamps(clock);
    this.#refs = createGrantRefs(store, maxGrants);
  }

  get waiting(): number {
    return this.#calls.cost;
  }

  async record(accesses: readonly Access[]): Promise<Verdict[]> {
    if (accesses.length > this.#limits.maxBatch) throw new RangeError('too many accesses in one call');
    const { promise, resolve, reject } = Promise.withResolvers<Verdict[]>();
    this.#calls.add({
      cost: accesses.length,
      expiresAt: performance.now() + this.#limits.maxWaitMs,
      accesses,
      origin: this.#origins.current(),
      resolve,
      refuse: (cause) => reject(notRecorded(cause)),
    });
    this.#arrival?.resolve();
    this.#write();
    return promise;
  }

  beginChain(): void {
    // Not at once: a batch of the present chain may be in progress.
    this.#isChainOver = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  get #isIdle(): boolean {
    return this.#calls.isEmpty && this.#refused.isEmpty;
  }

  #write(): void {
    this.#writing ??= this.#writeAll();
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    for (;;) {
      while (!this.#isIdle) await this.#writeNext();
      // The batch being judged may add refusals; a call that arrives in the meantime need not wait for them.
      this.#arrival = Promise.withResolvers();
      const judged = this.#judging.then(() => true);
      const isOver = await Promise.race([judged, this.#arrival.promise.then(() => false)]);
      if (isOver && this.#isIdle) break;
    }
    // In the same turn as the check, so that a later call starts a new run.
    this.#writing = null;
  }

  async #writeNext(): Promise<void> {
    const isAhead = this.#stamps.isAhead();
    // A refusal must be later than the record it refers to. Before restarting the stamps, the refusals of records stamped ahead
    // must be known and written.
    if (isAhead) await this.#judging;
    const refused = this.#refused.take(this.#limits.maxBatch);
    const refusals = refused.flatMap((one) => one.refusals);
    const calls =
      isAhead && refused.length > 0 ? [] : this.#calls.take(this.#limits.maxBatch - refusals.length);
    if (calls.length + refused.length === 0) return;
    if (isAhead && refused.length === 0) this.#beginAnew();
    try {
      const written = await this.#within([...calls, ...refused.map((one) => one.call)], () =>
        this.#insert(calls, refusals),
      );
      for (const { call, verdicts } of refused) call.resolve(verdicts);
      // At most two batches are in progress: one being judged and one being inserted.
      await this.#judging;
      if (calls.length > 0) this.#judging = this.#within(calls, () => this.#judge(written));
    } catch (cause) {
      this.#chain.restart();
      for (const one of [...calls, ...refused]) one.refuse(cause);
    }
  }

  #within<T>(calls: readonly Call[], work: () => Promise<T>): Promise<T> {
    return this.#origins.within(
      calls.map(({ origin }) => origin),
      work,
    );
  }

  /** Time never decreases within a chain. */
  #beginAnew(): void {
    this.#chain.restart();
    this.#stamps.restart();
  }

  async #insert(calls: readonly Call[], refusals: readonly Refusal[]): Promise<Written> {
    const accesses = calls.flatMap((call) => call.accesses);
    const userRefs = await this.#refs.resolve(accesses.map((access) => access.grantId));
    const { at, ids } = this.#stamps.next(refusals.length + accesses.length);
    const next = ids.values();
    const nextId = () => next.next().value ?? new Uint8Array();
    const accessRecords = refusals.map((refusal) => toRefusalRecord(refusal, nextId(), at));
    for (const [index, access] of accesses.entries()) {
      accessRecords.push(toAccessRecord(access, userRefs[index] ?? new Uint8Array(), nextId(), at));
    }
    if (this.#isChainOver) this.#chain.restart();
    this.#isChainOver = false;
    const batch = this.#chain.next(at, accessRecords);
    await this.#store.insert(batch);
    this.#chain.advance(batch);
    return { calls, accesses, userRefs, batch };
  }

  /** Never rejects. */
  async #judge({ calls, accesses, userRefs, batch }: Written): Promise<void> {
    try {
      const judgements = await this.#store.judge(accesses, userRefs);
      // A missing verdict must never count as released.
      if (judgements.length !== accesses.length) throw new Error('the number of judgements is wrong');
      let offset = 0;
      const accessRecords = batch.accessRecords.slice(batch.accessRecords.length - accesses.length);
      for (const call of calls) {
        const end = offset + call.accesses.length;
        this.#answer(call, judgements.slice(offset, end), accessRecords.slice(offset, end));
        offset = end;
      }
    } catch (cause) {
      for (const call of calls) call.refuse(cause);
    }
  }

  #answer(
    call: Call,
    judgements: Awaited<ReturnType<AccessRecordStore['judge']>>,
    accessRecords: readonly AccessRecord[],
  ): void {
    const verdicts: Verdict[] = [];
    const refusals: Refusal[] = [];
    for (const [index, judgement] of judgements.entries()) {
      const [access, accessRecord] = [call.accesses[index], accessRecords[index]];
      if (access === undefined || accessRecord === undefined)
        throw new Error('the number of records is wrong');
      if (judgement === 'reference_differs') {
        // The grant was created after its reference was looked up; the next read finds it.
        call.refuse(new Error('the record lacks the reference of its grant'));
        return;
      }
      verdicts.push(judgement);
      if (judgement !== 'released') refusals.push({ accessRecord, verdict: judgement });
    }
    if (refusals.length === 0) call.resolve(verdicts);
    else this.#refused.add({ cost: refusals.length, call, verdicts, refusals, refuse: call.refuse });
  }
}

function notRecorded(cause: unknown): AppError {
  const options = { cause, retryAfterSeconds: 1 };
  return new AppError('access_not_recorded', 'The access could not be recorded.', options);
}
