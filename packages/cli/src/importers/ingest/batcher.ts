import { createHash } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { IngestionService, PutResult } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { type ImportName, retryWhenUnavailable, type Sleep } from './import-log.ts';
import type { HealthRecordInit, ImportedHealthRecord, ImportedReading, ReadingInit } from './importer.ts';
import type { ImportReport } from './report.ts';

const KEY_LENGTH = 200;

/** The source's own key if it fits, else a digest of the key, or of the content if there is no key. */
function toHealthRecordKey(key: string, content: unknown): string {
  if (key !== '' && key.length <= KEY_LENGTH && !/\p{Cc}/u.test(key)) return key;
  const stated = key === '' ? JSON.stringify(content, bigintAsText) : key;
  return `sha256:${createHash('sha256').update(stated).digest('hex')}`;
}

function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

export interface BatcherOptions {
  readonly client: Client<typeof IngestionService>;
  readonly userId: string;
  /** The import that the batches belong to, once started. health-data refuses it if the person is erased in the meantime. */
  readonly importName?: ImportName;
  /** Counts what becomes of the items. */
  readonly report: ImportReport;
  /** Readings in a batch; at most 5,000. */
  readonly readingBatch?: number;
  /** Maximum number of concurrent batches. */
  readonly inFlight?: number;
  readonly sleep?: Sleep;
}

/** Items of one lane; those with the same natural key are in the same lane. */
interface Batch {
  readonly lane: string;
  readonly type: string;
  readonly readings: ImportedReading[];
  readonly records: HealthRecordInit[];
  readonly origins: string[];
  /** Size of the items' texts in bytes. */
  bytes: number;
  /** The earliest and the latest start of the readings. */
  first: number;
  last: number;
}

function overlaps(one: Batch, other: Batch): boolean {
  return one.lane === other.lane && one.first <= other.last && other.first <= one.last;
}

// The rpc accepts 5,000 at the same cost for each, but other requests wait while health-data processes a batch.
const READING_BATCH = 2_000;
const RECORD_BATCH = 1_000;
// The rpc accepts 4 MiB, including numbers and times.
const TEXT_BYTES = 1024 * 1024;
const TOO_LONG = 'has more than 1 MiB of text';
// health-data stores one while it reads the next; a third hides the network latency.
const IN_FLIGHT = 3;

/**
 * Sends readings and records in batches of one type and source, so that counts are known by type. A batch waits for earlier ones of its lane
 * that could contain the same natural key, and for one of `inFlight` places; others are sent meanwhile. After the first failure nothing is
 * sent.
 */
export class Batcher {
  readonly #options: BatcherOptions & Required<Pick<BatcherOptions, 'inFlight' | 'readingBatch'>>;
  readonly #open = new Map<string, Batch>();
  /** Closed batches that are not answered, with what ends at their answer. */
  readonly #closed = new Map<Batch, Promise<void>>();
  /** The last batch of each place. */
  readonly #places: Promise<void>[] = [];
  #count = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: BatcherOptions) {
    this.#options = { readingBatch: READING_BATCH, inFlight: IN_FLIGHT, ...options };
  }

  addReading(reading: ImportedReading, origin: string): void {
    const { type, source, unit, start } = reading;
    const bytes = countTextBytes([type, source, unit]);
    const batch = this.#batchFor({ lane: `${type}|${source}`, type, bytes, origin });
    if (batch === null) return;
    batch.readings.push(reading);
    batch.first = Math.min(batch.first, start);
    batch.last = Math.max(batch.last, start);
    if (batch.readings.length >= this.#options.readingBatch) this.#close(batch);
  }

  addHealthRecord({ label, key, source, record }: ImportedHealthRecord, origin: string): void {
    const item = { key: toHealthRecordKey(key, record), source, record };
    // Kind and source are part of the natural key, and the label follows from kind and key.
    const lane = `record|${record.case}|${source}|${label}`;
    const batch = this.#batchFor({ lane, type: label, bytes: countTextBytes(item), origin });
    if (batch === null) return;
    batch.records.push(item);
    batch.first = batch.last = 0;
    if (batch.records.length >= RECORD_BATCH) this.#close(batch);
  }

  /** Resolves when more items can be added. Rejects if a batch could not be sent. */
  async ready(): Promise<void> {
    while (this.#closed.size > this.#options.inFlight && this.#failure === undefined)
      await Promise.race(this.#closed.values());
    this.#throwFailure();
  }

  /** Sends the added items, even if they do not fill a batch. Resolves when all are answered. Rejects if some could not be sent. */
  async flush(): Promise<void> {
    for (const batch of this.#open.values()) this.#close(batch);
    await Promise.all(this.#closed.values());
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** The open batch of the lane, which has room for `bytes` more; null for an item that no batch has room for. */
  #batchFor(item: { lane: string; type: string; bytes: number; origin: string }): Batch | null {
    const { lane, type, bytes, origin } = item;
    if (bytes > TEXT_BYTES) {
      this.#options.report.addRefused(type, TOO_LONG, origin);
      return null;
    }
    let batch = this.#open.get(lane);
    if (batch !== undefined && batch.bytes + bytes > TEXT_BYTES) {
      this.#close(batch);
      batch = undefined;
    }
    if (batch === undefined) {
      const span = { first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY };
      batch = { lane, type, readings: [], records: [], origins: [], bytes: 0, ...span };
      this.#open.set(lane, batch);
    }
    batch.origins.push(origin);
    batch.bytes += bytes;
    return batch;
  }

  #close(batch: Batch): void {
    this.#open.delete(batch.lane);
    const earlier = [...this.#closed].filter(([other]) => overlaps(batch, other));
    const place = this.#count % this.#options.inFlight;
    this.#count += 1;
    const done = Promise.all([this.#places[place], ...earlier.map(([, answered]) => answered)])
      .then(() => (this.#failure === undefined ? this.#put(batch) : undefined))
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#closed.delete(batch));
    this.#closed.set(batch, done);
    this.#places[place] = done;
  }

  async #put(batch: Batch): Promise<void> {
    const { type, origins, readings } = batch;
    const { report, sleep } = this.#options;
    const result = await retryWhenUnavailable(this.#toCall(batch), sleep);
    if (result === undefined) return;
    report.addStored(readings.length > 0 ? 'readings' : 'records', type, result);
    for (const { index, reason } of result.refusals) report.addRefused(type, reason, origins[index] ?? '?');
  }

  #toCall({ records, readings }: Batch): () => Promise<PutResult | undefined> {
    const { client, userId, importName } = this.#options;
    const request = { userId, ...(importName === undefined ? {} : { import: importName }) };
    if (records.length > 0)
      return async () => (await client.putHealthRecords({ ...request, records })).result;
    const sent = readings.map(toReadingInit);
    return async () => (await client.putReadings({ ...request, readings: sent })).result;
  }
}

/** Size of all texts in a value, at any depth. */
function countTextBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, member) => sum + countTextBytes(member), 0);
}

function toReadingInit({ type, start, end, value, unit, source }: ImportedReading): ReadingInit {
  const ending = end === start ? {} : { end: timestampFromMs(end) };
  return {
    type,
    start: timestampFromMs(start),
    ...ending,
    ...(value === null ? {} : { value }),
    unit,
    source,
  };
}
