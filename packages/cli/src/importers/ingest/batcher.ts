import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { IngestionService, PutResult } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { toHealthRecordKey } from './health-record-key.ts';
import type { ImportName } from './import-log.ts';
import type {
  HealthRecordInit,
  ImportedHealthRecord,
  ImportedReading,
  Origin,
  ReadingInit,
} from './imported-item.ts';
import { OrderedSender, type Sendable } from './ordered-sender.ts';
import { retryWhenUnavailable, type Sleep } from './retry.ts';
import type { Stretch, Stretches } from './stretch.ts';

export interface BatcherOptions {
  readonly client: Client<typeof IngestionService>;
  readonly userId: string;
  /** The import that the batches belong to, once started. health-data refuses it if the person is erased in the meantime. */
  readonly importName?: ImportName;
  readonly stretches: Stretches;
  /** Readings in a batch; at most 5,000. */
  readonly readingBatch?: number;
  /** Records in a batch; at most 1,000. */
  readonly recordBatch?: number;
  /** Maximum number of concurrent batches. */
  readonly inFlight?: number;
  readonly sleep?: Sleep;
}

interface AnyBatch extends Sendable {
  readonly type: string;
  readonly stretch: Stretch;
  readonly origins: Origin[];
  /** Size of the items' texts in bytes. */
  bytes: number;
}

interface ReadingBatch extends AnyBatch {
  readonly kind: 'readings';
  readonly items: ImportedReading[];
  first: number;
  last: number;
}

interface HealthRecordBatch extends AnyBatch {
  readonly kind: 'records';
  readonly items: HealthRecordInit[];
}

type Batch = ReadingBatch | HealthRecordBatch;

// The rpc accepts 5,000 at the same cost for each, but other requests wait while health-data processes a batch.
const READING_BATCH = 2_000;
const RECORD_BATCH = 1_000;
// The rpc accepts 4 MiB, including numbers and times.
const TEXT_BYTES = 1024 * 1024;
const TOO_LONG = 'has more than 1 MiB of text';
// health-data stores one while it reads the next; a third hides the network latency.
const IN_FLIGHT = 3;

/**
 * Sends readings and records in batches of one type (and source), so that counts are known by type. Batches that could contain the
 * same natural key are sent in input order; others concurrently.
 */
export class Batcher {
  readonly #options: BatcherOptions;
  readonly #limits: { readonly readings: number; readonly records: number };
  readonly #sender: OrderedSender<Batch>;
  readonly #readings = new Map<string, ReadingBatch>();
  readonly #records = new Map<string, HealthRecordBatch>();

  constructor(options: BatcherOptions) {
    const { readingBatch = READING_BATCH, recordBatch = RECORD_BATCH, inFlight = IN_FLIGHT } = options;
    this.#options = options;
    this.#limits = { readings: readingBatch, records: recordBatch };
    this.#sender = new OrderedSender(inFlight, (batch) => this.#put(batch));
  }

  addReading(reading: ImportedReading, origin: Origin): void {
    const { type, source, unit, start } = reading;
    const bytes = countTextBytes(type) + countTextBytes(source) + countTextBytes(unit);
    if (bytes > TEXT_BYTES) {
      this.#refuse(type, origin);
      return;
    }
    const orderKey = `${type}|${source}`;
    const batch = this.#withRoom(this.#readings, orderKey, bytes) ?? this.#openReadings(orderKey, type);
    batch.items.push(reading);
    batch.origins.push(origin);
    batch.bytes += bytes;
    if (start < batch.first) batch.first = start;
    if (start > batch.last) batch.last = start;
    if (batch.items.length >= this.#limits.readings) this.#close(this.#readings, batch);
  }

  addHealthRecord({ label, key, source, record }: ImportedHealthRecord, origin: Origin): void {
    const item = { key: toHealthRecordKey(key, record), source, record };
    const bytes = countTextBytes(item);
    if (bytes > TEXT_BYTES) {
      this.#refuse(label, origin);
      return;
    }
    // Kind and source are part of the natural key; the label need not be.
    const orderKey = `${record.case}|${source}|${label}`;
    const batch = this.#withRoom(this.#records, orderKey, bytes) ?? this.#openRecords(orderKey, label);
    batch.items.push(item);
    batch.origins.push(origin);
    batch.bytes += bytes;
    if (batch.items.length >= this.#limits.records) this.#close(this.#records, batch);
  }

  /** Sends the added items, even if they do not fill a batch. */
  cut(): void {
    for (const batch of this.#readings.values()) this.#close(this.#readings, batch);
    for (const batch of this.#records.values()) this.#close(this.#records, batch);
  }

  /** Resolves when more items can be added. Rejects if a batch could not be sent. */
  ready(): Promise<void> {
    return this.#sender.started();
  }

  /** Resolves when every closed batch has been answered. Rejects if one could not be sent. */
  async done(): Promise<void> {
    await this.#sender.started();
    await this.#sender.done();
  }

  #openReadings(orderKey: string, type: string): ReadingBatch {
    const stretch = this.#options.stretches.current;
    const span = { first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY };
    const empty = { items: [], origins: [], bytes: 0 };
    const batch: ReadingBatch = { kind: 'readings', orderKey, type, stretch, ...empty, ...span };
    this.#readings.set(orderKey, batch);
    stretch.outstanding += 1;
    return batch;
  }

  #openRecords(orderKey: string, type: string): HealthRecordBatch {
    const stretch = this.#options.stretches.current;
    const empty = { items: [], origins: [], bytes: 0 };
    const batch: HealthRecordBatch = {
      kind: 'records',
      orderKey,
      type,
      stretch,
      ...empty,
      first: 0,
      last: 0,
    };
    this.#records.set(orderKey, batch);
    stretch.outstanding += 1;
    return batch;
  }

  /** The open batch of the order key. If it has no room for `bytes` more, it is closed first. */
  #withRoom<Some extends Batch>(open: Map<string, Some>, orderKey: string, bytes: number): Some | undefined {
    const batch = open.get(orderKey);
    if (batch === undefined || batch.bytes + bytes <= TEXT_BYTES) return batch;
    this.#close(open, batch);
    return undefined;
  }

  #refuse(type: string, origin: Origin): void {
    this.#options.stretches.current.report.addRefused(type, TOO_LONG, origin);
  }

  #close<Some extends Batch>(open: Map<string, Some>, batch: Some): void {
    open.delete(batch.orderKey);
    this.#sender.add(batch);
  }

  async #put(batch: Batch): Promise<void> {
    const { type, kind, stretch, origins } = batch;
    const result = await retryWhenUnavailable(this.#toCall(batch), this.#options.sleep);
    if (result !== undefined) {
      stretch.report.addStored(kind, type, result);
      for (const { index, reason } of result.refusals)
        stretch.report.addRefused(type, reason, origins[index] ?? '?');
    }
    stretch.outstanding -= 1;
    this.#options.stretches.settle();
  }

  #toCall(batch: Batch): () => Promise<PutResult | undefined> {
    const { client, userId, importName } = this.#options;
    const request = { userId, ...(importName === undefined ? {} : { import: importName }) };
    if (batch.kind === 'records')
      return async () => (await client.putHealthRecords({ ...request, records: batch.items })).result;
    const readings = batch.items.map(toReadingInit);
    return async () => (await client.putReadings({ ...request, readings })).result;
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
