import type { Client } from '@connectrpc/connect';
import type { IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { Batcher, type BatcherOptions, Stretches } from './batcher.ts';
import { retryWhenUnavailable, type Sleep } from './import-log.ts';
import type {
  ImportedHealthRecord,
  ImportedProfile,
  ImportedReading,
  ImportSink,
  Origin,
} from './importer.ts';
import { ImportReport, type ReportData } from './report.ts';

export interface ImportRunOptions extends Omit<BatcherOptions, 'stretches'> {
  readonly client: Client<typeof IngestionService>;
  readonly userId: string;
  /** Position to resume from, with the report up to there; absent to start at the beginning. */
  readonly position?: number;
  readonly report?: ReportData | null;
  readonly describe?: (origin: number) => string;
  /** Called with the position up to which the input has been processed. */
  readonly onReached?: (position: number) => void;
  /** Called when the low-water position has moved, with the report about everything before it. */
  readonly onSettled?: (position: number, report: ImportReport) => Promise<void>;
  /** A stretch ends after this many items or milliseconds; see Stretch. */
  readonly stretchItems?: number;
  readonly stretchMs?: number;
  readonly sleep?: Sleep;
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number;
}

// Approximate maximum that is sent again after an interruption.
const STRETCH_ITEMS = 50_000;
const STRETCH_MS = 2_000;

/** One run of an import: receives the items, sends them, and knows up to which position they are stored. */
export class ImportRun implements ImportSink {
  readonly #options: ImportRunOptions &
    Required<Pick<ImportRunOptions, 'stretchItems' | 'stretchMs' | 'now'>>;
  readonly #stretches: Stretches;
  readonly #batcher: Batcher;
  #profile: ImportedProfile = {};
  #reached: number;
  #told: number;
  #stretchBegan: number;

  constructor(options: ImportRunOptions) {
    const { position = 0, describe = String, report = null } = options;
    const defaults = { stretchItems: STRETCH_ITEMS, stretchMs: STRETCH_MS, now: () => performance.now() };
    this.#options = { ...defaults, ...options };
    const before = new ImportReport(describe);
    if (report !== null) before.addData(report);
    this.#stretches = new Stretches(position, before, describe);
    this.#batcher = new Batcher({ ...options, stretches: this.#stretches });
    this.#reached = position;
    this.#told = position;
    this.#stretchBegan = this.#options.now();
  }

  /** The low-water position: everything before it is stored, and `settled` reports on it. */
  get position(): number {
    return this.#stretches.position;
  }

  /** The report about everything before `position`. */
  get settled(): ImportReport {
    return this.#stretches.report;
  }

  /** The report about everything known so far. */
  total(): ImportReport {
    return this.#stretches.total();
  }

  /** Sends the person's presumed time zone to health-data. */
  async suggestTimeZone(defaultTimeZone: string): Promise<void> {
    await this.#putProfile({ defaultTimeZone });
  }

  reading(reading: ImportedReading, origin: Origin): void {
    this.#stretches.current.items += 1;
    this.#batcher.addReading(reading, origin);
  }

  record(record: ImportedHealthRecord, origin: Origin): void {
    this.#stretches.current.items += 1;
    this.#batcher.addHealthRecord(record, origin);
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

  async reached(position: number): Promise<void> {
    this.#reached = position;
    this.#options.onReached?.(position);
    if (this.#isStretchOver()) this.#cut();
    await this.#batcher.ready();
    await this.#tell();
  }

  /** Sends all received items and waits until they are stored. Rejects if health-data does not accept them. */
  async settle(): Promise<void> {
    this.#batcher.cut();
    await this.#batcher.done();
  }

  /** Ends the input: sends the remaining items, then the profile. Afterwards the low-water position is at the end. */
  async finish(): Promise<void> {
    await this.settle();
    const profile = this.#profile;
    if (Object.keys(profile).length > 0) {
      await this.#putProfile(profile);
      this.#stretches.current.report.setProfile(Object.keys(profile));
    }
    this.#cut();
  }

  async #putProfile(facts: ImportedProfile & { readonly defaultTimeZone?: string }): Promise<void> {
    const { client, userId, importName, sleep } = this.#options;
    const request = { userId, ...facts, ...(importName === undefined ? {} : { import: importName }) };
    await retryWhenUnavailable(() => client.putProfile(request), sleep);
  }

  #isStretchOver(): boolean {
    const { stretchItems, stretchMs, now } = this.#options;
    const { items } = this.#stretches.current;
    return items >= stretchItems || (items > 0 && now() - this.#stretchBegan >= stretchMs);
  }

  #cut(): void {
    this.#batcher.cut();
    this.#stretches.cut(this.#reached);
    this.#stretchBegan = this.#options.now();
  }

  async #tell(): Promise<void> {
    if (this.position === this.#told) return;
    this.#told = this.position;
    await this.#options.onSettled?.(this.position, this.settled);
  }
}
