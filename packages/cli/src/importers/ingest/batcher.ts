import { createHash } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { IngestionService, PutResult } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { type ImportName, retryWhenUnavailable, type Sleep } from './import-log.ts';
import type {
  HealthRecordInit,
  ImportedHealthRecord,
  ImportedReading,
  Origin,
  ReadingInit,
} from './importer.ts';
import { ImportReport } from './report.ts';

const KEY_LENGTH = 200;

/** The source's own key if it fits, else a digest of the key, or of the content if there is no key. */
export function toHealthRecordKey(key: string, content: unknown): string {
  if (key !== '' && key.length <= KEY_LENGTH && !/\p{Cc}/u.test(key)) return key;
  const stated = key === '' ? JSON.stringify(content, bigintAsText) : key;
  return `sha256:${createHash('sha256').update(stated).digest('hex')}`;
}

function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/**
 * A part of the input between two positions, with the results of its items. Batches do not cross the end of a stretch, so once all
 * of them are answered, its report covers exactly this part.
 */
class Stretch {
  readonly report: ImportReport;
  /** Number of received items, stored or not. */
  items = 0;
  /** Number of unanswered batches. */
  outstanding = 0;
  /** Position at which the stretch ends; null while it is open. */
  end: number | null = null;

  constructor(describe: (origin: number) => string) {
    this.report = new ImportReport(describe);
  }
}

/** The stretches of an import in order, with the low-water position: everything before it is stored. */
export class Stretches {
  /** The report about the input before `position`. */
  readonly report: ImportReport;
  readonly #describe: (origin: number) => string;
  readonly #open: Stretch[];
  #position: number;

  constructor(position: number, report: ImportReport, describe: (origin: number) => string) {
    this.#position = position;
    this.report = report;
    this.#describe = describe;
    this.#open = [new Stretch(describe)];
  }

  get position(): number {
    return this.#position;
  }

  /** The stretch to which new items belong. */
  get current(): Stretch {
    return this.#open.at(-1) as Stretch;
  }

  /** Ends the current stretch at a position. */
  cut(position: number): void {
    this.current.end = position;
    this.#open.push(new Stretch(this.#describe));
    this.settle();
  }

  /** Moves the position past all leading stretches that have ended and are stored. */
  settle(): void {
    for (let first = this.#open[0]; first !== undefined; first = this.#open[0]) {
      if (first.end === null || first.outstanding > 0) return;
      this.report.add(first.report);
      this.#position = first.end;
      this.#open.shift();
    }
  }

  /** The report about all items so far, including those after the position. */
  total(): ImportReport {
    const total = new ImportReport(this.#describe);
    for (const report of [this.report, ...this.#open.map((stretch) => stretch.report)]) total.add(report);
    return total;
  }
}

/** Something to send, with its ordering constraints. */
interface Sendable {
  /** Items with different order keys are independent. */
  readonly orderKey: string;
  /** Items with the same order key and overlapping spans (both ends inclusive) are sent in order; others may be sent concurrently. */
  readonly first: number;
  readonly last: number;
}

/** Sends items concurrently, up to a limit, but never together with an earlier item of the same order key whose span overlaps. */
class OrderedSender<Item extends Sendable> {
  readonly #send: (item: Item) => Promise<void>;
  readonly #inFlight: number;
  readonly #running = new Map<Item, Promise<void>>();
  #waiting: Item[] = [];
  #failure: { readonly error: unknown } | undefined;

  /** `inFlight` is the maximum number of concurrent items. */
  constructor(inFlight: number, send: (item: Item) => Promise<void>) {
    this.#inFlight = inFlight;
    this.#send = send;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#start();
  }

  /** Resolves when every item has been started. Rejects with the first failure, after which nothing is sent. */
  async started(): Promise<void> {
    while (this.#waiting.length > 0 && this.#failure === undefined)
      await Promise.race(this.#running.values());
    this.#throwFailure();
  }

  /** Resolves when every item is done. Rejects like `started`, after running items have ended. */
  async done(): Promise<void> {
    while (this.#running.size > 0) await Promise.race(this.#running.values());
    this.#throwFailure();
  }

  #start(): void {
    for (const item of [...this.#waiting]) {
      if (this.#running.size >= this.#inFlight || this.#failure !== undefined) return;
      if (this.#mustWait(item)) continue;
      this.#waiting = this.#waiting.filter((other) => other !== item);
      this.#running.set(item, this.#run(item));
    }
  }

  async #run(item: Item): Promise<void> {
    try {
      await this.#send(item);
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      this.#running.delete(item);
      this.#start();
    }
  }

  #mustWait(item: Item): boolean {
    const earlier = this.#waiting.slice(0, this.#waiting.indexOf(item));
    return [...this.#running.keys(), ...earlier].some((other) => overlaps(item, other));
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

function overlaps(one: Sendable, other: Sendable): boolean {
  return one.orderKey === other.orderKey && one.first <= other.last && other.first <= one.last;
}

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
