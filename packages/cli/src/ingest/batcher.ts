import { createHash } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { IngestionService, PutResult } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { ImportedReading, ImportedRecord, Origin, ReadingInit, RecordInit } from './imported-item.ts';
import type { ImportReport } from './report.ts';
import { retryWhenUnavailable, type Sleep } from './retry.ts';

export interface BatcherOptions {
  readonly client: Client<typeof IngestionService>;
  readonly userId: string;
  readonly report: ImportReport;
  /** Items of a batch; the rpc takes 1,000 records at most. */
  readonly batchSize?: number;
  /** Batches that may be under way at a time. */
  readonly inFlight?: number;
  readonly sleep?: Sleep;
}

interface Queue {
  readonly kind: 'readings' | 'records';
  readonly type: string;
  readings: ReadingInit[];
  records: RecordInit[];
  origins: Origin[];
}

const BATCH_SIZE = 1_000;
const IN_FLIGHT = 4;
const KEY_LENGTH = 200;

/**
 * Sends readings and records in batches, one queue for each type so that the counts are known by type. Whoever adds waits
 * while enough batches are under way, so memory does not grow with the file. What the file states twice is sent once: the
 * first statement stays, whatever the order in which batches arrive, and a second import finds nothing to change.
 */
export class Batcher {
  readonly #options: Required<Pick<BatcherOptions, 'batchSize' | 'inFlight'>> & BatcherOptions;
  readonly #queues = new Map<string, Queue>();
  readonly #running = new Set<Promise<void>>();
  readonly #readingValues = new Map<string, string>();
  readonly #recordKeys = new Set<string>();
  #failure: unknown;

  constructor(options: BatcherOptions) {
    this.#options = { batchSize: BATCH_SIZE, inFlight: IN_FLIGHT, ...options };
  }

  /** Takes a reading. Rejects when an earlier batch could not be sent. */
  async addReading(reading: ImportedReading, origin: Origin): Promise<void> {
    const { type, start, end, value, unit, source } = reading;
    const key = `${type}|${start.getTime()}|${(end ?? start).getTime()}|${source}`;
    const stated = this.#readingValues.get(key);
    if (stated !== undefined) {
      if (stated === `${value} ${unit}`) this.#options.report.addLeftOut(type, 'stated twice in the file');
      else
        this.#options.report.addRefused(
          type,
          'another value for the same time stands earlier in the file',
          origin,
        );
      return;
    }
    this.#readingValues.set(key, `${value} ${unit}`);
    const queue = this.#queueFor('readings', type);
    const ending = end === null ? {} : { end: timestampFromDate(end) };
    queue.readings.push({ type, start: timestampFromDate(start), ...ending, value, unit, source });
    await this.#added(queue, origin);
  }

  /** Takes a record. Rejects when an earlier batch could not be sent. */
  async addRecord({ label, key, source, record }: ImportedRecord, origin: Origin): Promise<void> {
    const naturalKey = toKey(key, record);
    if (this.#recordKeys.has(naturalKey)) {
      this.#options.report.addLeftOut(label, 'stated twice in the file');
      return;
    }
    this.#recordKeys.add(naturalKey);
    const queue = this.#queueFor('records', label);
    queue.records.push({ key: naturalKey, source, record });
    await this.#added(queue, origin);
  }

  /** Sends what is left and waits until everything has arrived. Rejects with the first failure. */
  async flush(): Promise<void> {
    for (const queue of this.#queues.values()) await this.#send(queue);
    await Promise.all(this.#running);
    this.#throwFailure();
  }

  #queueFor(kind: Queue['kind'], type: string): Queue {
    const name = `${kind} ${type}`;
    const queue = this.#queues.get(name) ?? { kind, type, readings: [], records: [], origins: [] };
    this.#queues.set(name, queue);
    return queue;
  }

  async #added(queue: Queue, origin: Origin): Promise<void> {
    queue.origins.push(origin);
    if (queue.origins.length >= this.#options.batchSize) await this.#send(queue);
  }

  async #send(queue: Queue): Promise<void> {
    const { readings, records, origins } = queue;
    if (origins.length === 0) return;
    Object.assign(queue, { readings: [], records: [], origins: [] });
    while (this.#running.size >= this.#options.inFlight) await Promise.race(this.#running);
    this.#throwFailure();
    const sending: Promise<void> = this.#put({ ...queue, readings, records, origins })
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#running.delete(sending));
    this.#running.add(sending);
  }

  async #put({ kind, type, readings, records, origins }: Queue): Promise<void> {
    const { client, userId, report, sleep } = this.#options;
    const put = async () =>
      kind === 'readings'
        ? (await client.putReadings({ userId, readings })).result
        : (await client.putRecords({ userId, records })).result;
    const result: PutResult | undefined = await retryWhenUnavailable(put, sleep);
    if (result === undefined) return;
    report.addStored(kind, type, result);
    for (const { index, reason } of result.refusals) report.addRefused(type, reason, origins[index] ?? '?');
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** The source's own key where it fits, else a digest: of the key, or of the content when there is none. */
function toKey(key: string, content: unknown): string {
  if (key !== '' && key.length <= KEY_LENGTH && !/\p{Cc}/u.test(key)) return key;
  const stated = key === '' ? JSON.stringify(content, bigintAsText) : key;
  return `sha256:${createHash('sha256').update(stated).digest('hex')}`;
}

function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
