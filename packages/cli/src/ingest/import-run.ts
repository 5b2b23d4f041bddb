import type { Client } from '@connectrpc/connect';
import type { IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { Batcher, type BatcherOptions } from './batcher.ts';
import type { ImportedProfile, ImportedReading, ImportedRecord, Origin } from './imported-item.ts';
import type { ImportSink } from './importer.ts';
import { ImportReport } from './report.ts';
import { retryWhenUnavailable, type Sleep } from './retry.ts';
import { Stretches } from './stretch.ts';

export interface ImportRunOptions extends Omit<BatcherOptions, 'stretches'> {
  readonly client: Client<typeof IngestionService>;
  readonly userId: string;
  /** Where to go on, and what became of everything before; at first 0 and nothing. */
  readonly position?: number;
  readonly report?: ImportReport;
  readonly describe?: (origin: number) => string;
  /** Told how far the input has been handed over. */
  readonly onReached?: (position: number) => void;
  /** Items of a stretch, at least; see Stretch. */
  readonly stretchItems?: number;
  readonly sleep?: Sleep;
}

const STRETCH_ITEMS = 50_000;

/** One run of an import: takes the items, sends them, and knows what has become of them up to where. */
export class ImportRun implements ImportSink {
  readonly #options: ImportRunOptions;
  readonly #stretchItems: number;
  readonly #stretches: Stretches;
  readonly #batcher: Batcher;
  #profile: ImportedProfile = {};

  constructor(options: ImportRunOptions) {
    const { position = 0, describe = String, stretchItems = STRETCH_ITEMS } = options;
    this.#options = options;
    this.#stretchItems = stretchItems;
    this.#stretches = new Stretches(position, options.report ?? new ImportReport(describe), describe);
    this.#batcher = new Batcher({ ...options, stretches: this.#stretches });
  }

  /** The low-water position: everything before it has been stored, and `settled` says what became of it. */
  get position(): number {
    return this.#stretches.position;
  }

  /** What became of everything before `position`. */
  get settled(): ImportReport {
    return this.#stretches.report;
  }

  /** What became of all that is known so far. */
  total(): ImportReport {
    return this.#stretches.total();
  }

  reading(reading: ImportedReading, origin: Origin): void {
    this.#stretches.current.items += 1;
    this.#batcher.addReading(reading, origin);
  }

  record(record: ImportedRecord, origin: Origin): void {
    this.#stretches.current.items += 1;
    this.#batcher.addRecord(record, origin);
  }

  leftOut(type: string, reason: string): void {
    const { current } = this.#stretches;
    current.items += 1;
    current.report.addLeftOut(type, reason);
  }

  refused(type: string, reason: string, origin: Origin): void {
    const { current } = this.#stretches;
    current.items += 1;
    current.report.addRefused(type, reason, origin);
  }

  profile(facts: ImportedProfile): void {
    this.#profile = { ...this.#profile, ...facts };
  }

  reached(position: number): Promise<void> {
    this.#options.onReached?.(position);
    if (this.#stretches.current.items >= this.#stretchItems) {
      this.#batcher.cut();
      this.#stretches.cut(position);
    }
    return this.#batcher.ready();
  }

  /** Sends what has been handed over and waits until it has been stored. Rejects when health-data does not take it. */
  async settle(): Promise<void> {
    this.#batcher.cut();
    await this.#batcher.done();
  }

  /** Ends the input: sends what is left, then the profile. */
  async finish(): Promise<void> {
    await this.settle();
    const profile = this.#profile;
    if (Object.keys(profile).length === 0) return;
    const { client, userId, sleep } = this.#options;
    await retryWhenUnavailable(() => client.putProfile({ userId, ...profile }), sleep);
    this.#stretches.current.report.setProfile(Object.keys(profile));
  }
}
