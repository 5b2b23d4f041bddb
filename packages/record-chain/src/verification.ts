import {
  type AccessRecord,
  type ChainedBatch,
  DIGEST_BYTES,
  digestAccessRecord,
  hashBatch,
  hashBeginning,
  timeOfUuid,
  toUuidText,
} from './chain.ts';
import { batchFault, type Fault } from './fault.ts';

/** A record with its position in a chain. */
export interface StoredAccessRecord extends AccessRecord {
  readonly writer: string;
  readonly seq: number;
  readonly ordinal: number;
}

/** A batch of a chain, with its hash. */
export interface ChainLink {
  readonly seq: number;
  readonly hash: Uint8Array;
}

/** The last batch of the part of a chain that was dropped by policy. */
export interface DroppedPart extends ChainLink {
  readonly writer: string;
  /** Unix milliseconds. */
  readonly at: number;
}

interface VerificationSource {
  /** Pages of the batches, ordered by `at`, `writer`, `seq`. */
  readonly batches: AsyncIterable<readonly ChainedBatch[]>;
  /** Pages of the records, ordered by id. */
  readonly records: AsyncIterable<readonly StoredAccessRecord[]>;
  /** The batches that the first ones continue. */
  readonly dropped: readonly DroppedPart[];
}

/** The progress of verification. */
export interface VerificationProgress {
  records: number;
  batches: number;
  /** The last batch of each writer so far. */
  readonly ends: Map<string, ChainLink>;
}

/**
 * Recomputes every digest and hash, in time order. Returns the first fault or null. Memory holds the ends of the chains and the
 * records of one millisecond, independent of the length of the history.
 */
export async function findFault(
  source: VerificationSource,
  progress: VerificationProgress = { records: 0, batches: 0, ends: new Map() },
): Promise<Fault | null> {
  const { ends } = progress;
  for (const part of source.dropped) ends.set(part.writer, part);
  const batches = new TimedPages(source.batches, (batch) => batch.at);
  const records = new TimedPages(source.records, (record) => timeOfUuid(record.id));
  for (;;) {
    const [nextBatch, nextRecord] = [await batches.nextTime(), await records.nextTime()];
    if (nextBatch === null && nextRecord === null) return null;
    const time = Math.min(nextBatch ?? Number.POSITIVE_INFINITY, nextRecord ?? Number.POSITIVE_INFINITY);
    const moment = new Moment(await batches.take(time), await records.take(time));
    const fault = moment.findFault(ends);
    if (fault !== null) return fault;
    progress.batches += moment.batches.length;
    progress.records += moment.records.length;
  }
}

interface Place {
  readonly batch: ChainedBatch;
  readonly ordinal: number;
}

/** The batches and records of one millisecond. */
class Moment {
  readonly batches: readonly ChainedBatch[];
  readonly records: readonly StoredAccessRecord[];
  readonly #byPlace = new Map<string, StoredAccessRecord>();

  constructor(batches: readonly ChainedBatch[], records: readonly StoredAccessRecord[]) {
    this.batches = batches;
    this.records = records;
  }

  findFault(ends: Map<string, ChainLink>): Fault | null {
    for (const record of this.records) {
      const place = placeOf(record);
      if (this.#byPlace.has(place)) return faultOf('added', record, 'another record has its place');
      this.#byPlace.set(place, record);
    }
    for (const batch of this.batches) {
      const fault = findBrokenLink(batch, ends) ?? this.#findFaultIn(batch);
      if (fault !== null) return fault;
      ends.set(batch.writer, batch);
    }
    const [stranger] = this.#byPlace.values();
    return stranger === undefined ? null : this.#strangerFault(stranger);
  }

  #findFaultIn(batch: ChainedBatch): Fault | null {
    const { writer, seq } = batch;
    for (let ordinal = 0; ordinal < batch.recordCount; ordinal += 1) {
      const place = placeOf({ writer, seq, ordinal });
      const record = this.#byPlace.get(place);
      this.#byPlace.delete(place);
      if (record === undefined) return this.#absenceFault({ batch, ordinal });
      const digest = digestOf(record);
      if (digest === null || !isAt(batch.digests, ordinal, digest)) return this.#strangerFault(record);
      if (record.at !== batch.at) return faultOf('moved', record, 'its time is not that of its batch');
    }
    return null;
  }

  /** Describes the fault of a position without a record. */
  #absenceFault({ batch, ordinal }: Place): Fault {
    const expected = digestAt(batch.digests, ordinal);
    const found = this.records.find((record) => digestOf(record)?.equals(expected) === true);
    if (found !== undefined) return this.#strangerFault(found);
    const { writer, seq } = batch;
    const detail = 'the record at this place is gone';
    return { kind: 'removed', subject: 'record', recordId: null, writer, seq, ordinal, detail };
  }

  /** Describes the fault of a record at a wrong place. */
  #strangerFault(record: StoredAccessRecord): Fault {
    const origin = this.#findOrigin(record);
    if (origin !== null) {
      const { batch, ordinal } = origin;
      return faultOf(
        'moved',
        record,
        `written as record ${ordinal} of batch ${batch.seq} of ${batch.writer}`,
      );
    }
    const hasPlace = this.batches.some(
      (batch) =>
        batch.writer === record.writer && batch.seq === record.seq && record.ordinal < batch.recordCount,
    );
    return hasPlace
      ? faultOf('changed', record, 'its digest is not the one in its batch')
      : faultOf('added', record, 'no batch has such a record');
  }

  #findOrigin(record: StoredAccessRecord): Place | null {
    const digest = digestOf(record);
    if (digest === null) return null;
    for (const batch of this.batches) {
      for (let ordinal = 0; ordinal < batch.recordCount; ordinal += 1) {
        if (isAt(batch.digests, ordinal, digest)) return { batch, ordinal };
      }
    }
    return null;
  }
}

/** The fault of a batch that does not continue its chain; null if it does. */
export function findBrokenLink(batch: ChainedBatch, ends: ReadonlyMap<string, ChainLink>): Fault | null {
  const { writer, seq } = batch;
  const end = ends.get(writer) ?? { seq: -1, hash: hashBeginning(writer) };
  if (seq > end.seq + 1) {
    return batchFault('removed', writer, end.seq + 1, `followed by batch ${seq}`);
  }
  if (seq <= end.seq) return batchFault('added', writer, seq, 'there is a batch of that number before it');
  if (!isEqual(batch.previousHash, end.hash)) {
    return batchFault('changed', writer, seq, 'it does not continue the batch before it');
  }
  if (batch.digests.length !== batch.recordCount * DIGEST_BYTES) {
    return batchFault('changed', writer, seq, 'the number of its digests is wrong');
  }
  if (!isEqual(batch.hash, hashBatch(batch.previousHash, seq, batch.digests))) {
    return batchFault('changed', writer, seq, 'its hash does not fit its digests');
  }
  return null;
}

function faultOf(kind: Fault['kind'], record: StoredAccessRecord, detail: string): Fault {
  const { writer, seq, ordinal } = record;
  return { kind, subject: 'record', recordId: toUuidText(record.id), writer, seq, ordinal, detail };
}

function placeOf({ writer, seq, ordinal }: Pick<StoredAccessRecord, 'writer' | 'seq' | 'ordinal'>): string {
  return `${writer} ${seq} ${ordinal}`;
}

/** Null for a record that no writer would write. */
function digestOf(record: StoredAccessRecord): Buffer | null {
  try {
    return digestAccessRecord(record);
  } catch {
    return null;
  }
}

function digestAt(digests: Uint8Array, ordinal: number): Buffer {
  const all = Buffer.from(digests.buffer, digests.byteOffset, digests.byteLength);
  return all.subarray(ordinal * DIGEST_BYTES, (ordinal + 1) * DIGEST_BYTES);
}

function isAt(digests: Uint8Array, ordinal: number, digest: Buffer): boolean {
  return digest.equals(digestAt(digests, ordinal));
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

/** Reads pages of time-ordered items, one point in time after the other. */
class TimedPages<Item> {
  readonly #pages: AsyncIterator<readonly Item[]>;
  readonly #timeOf: (item: Item) => number;
  #page: readonly Item[] = [];
  #index = 0;

  constructor(pages: AsyncIterable<readonly Item[]>, timeOf: (item: Item) => number) {
    this.#pages = pages[Symbol.asyncIterator]();
    this.#timeOf = timeOf;
  }

  /** The time of the next item; null at the end. */
  async nextTime(): Promise<number | null> {
    const item = await this.#peek();
    return item === undefined ? null : this.#timeOf(item);
  }

  /** All items up to that time. */
  async take(time: number): Promise<Item[]> {
    const taken: Item[] = [];
    for (;;) {
      const item = await this.#peek();
      if (item === undefined || this.#timeOf(item) > time) return taken;
      taken.push(item);
      this.#index += 1;
    }
  }

  async #peek(): Promise<Item | undefined> {
    while (this.#index === this.#page.length) {
      const next = await this.#pages.next();
      if (next.done === true) return undefined;
      this.#page = next.value;
      this.#index = 0;
    }
    return this.#page[this.#index];
  }
}
