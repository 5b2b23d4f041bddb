import { Batcher, type BatcherOptions } from './batcher.ts';
import { retryWhenUnavailable } from './import-log.ts';
import type { ImportedProfile, ImportSink, Outcome } from './importer.ts';
import { ImportReport, type ReportData } from './report.ts';

export interface ImportRunOptions extends Omit<BatcherOptions, 'report'> {
  /** Position to resume from, with the report up to there; absent to start at the beginning. */
  readonly position?: number;
  readonly report?: ReportData | null;
  /** Called with the position up to which the input has been processed. */
  readonly onReached?: (position: number) => void;
  /** Called when everything before a position is stored, with the report about it. */
  readonly onSettled?: (position: number, report: ReportData) => Promise<void>;
  /** Everything is settled after this many items, or some seconds. */
  readonly stretchItems?: number;
}

// Approximate maximum that is sent again after an interruption.
const STRETCH_ITEMS = 50_000;
const STRETCH_MS = 2_000;

/** One run of an import: receives the items, sends them, and knows up to which position they are stored. */
export class ImportRun implements ImportSink {
  readonly #options: ImportRunOptions & Required<Pick<ImportRunOptions, 'stretchItems'>>;
  readonly #report: ImportReport;
  readonly #batcher: Batcher;
  #profile: ImportedProfile = {};
  #reached: number;
  #position: number;
  #settled: ReportData;
  /** Items since everything was settled, stored or not. */
  #items = 0;
  #settledAt = performance.now();

  constructor(options: ImportRunOptions) {
    const { position = 0, report } = options;
    this.#options = { stretchItems: STRETCH_ITEMS, ...options };
    this.#report = new ImportReport(report);
    this.#settled = this.#report.toData();
    this.#batcher = new Batcher({ ...options, report: this.#report });
    this.#reached = position;
    this.#position = position;
  }

  /** Everything before it is stored, and `settled` reports on it. */
  get position(): number {
    return this.#position;
  }

  /** The report about everything before `position`. */
  get settled(): ReportData {
    return this.#settled;
  }

  /** The report about everything known so far. */
  total(): ReportData {
    return this.#report.toData();
  }

  /** Sends the person's presumed time zone to health-data. */
  async suggestTimeZone(defaultTimeZone: string): Promise<void> {
    await this.#putProfile({ defaultTimeZone });
  }

  take(outcome: Outcome, type: string, origin: string): void {
    if (outcome.kind === 'profile') {
      this.#profile = { ...this.#profile, ...outcome.facts };
      return;
    }
    this.#items += 1;
    if (outcome.kind === 'reading') this.#batcher.addReading(outcome.reading, origin);
    else if (outcome.kind === 'record') this.#batcher.addHealthRecord(outcome.record, origin);
    else if (outcome.kind === 'left-out') this.#report.addLeftOut(outcome.type ?? type, outcome.reason);
    else this.#report.addRefused(outcome.type ?? type, outcome.reason, origin);
  }

  async reached(position: number): Promise<void> {
    this.#reached = position;
    this.#options.onReached?.(position);
    await this.#batcher.ready();
    if (!this.#isStretchOver()) return;
    await this.#batcher.flush();
    this.#settle();
    await this.#options.onSettled?.(this.position, this.settled);
  }

  /** Sends all received items and waits until they are stored. Rejects if health-data does not accept them. */
  async flush(): Promise<void> {
    await this.#batcher.flush();
  }

  /** Ends the input: sends the remaining items, then the profile. Afterwards the position is at the end. */
  async finish(): Promise<void> {
    await this.flush();
    const profile = this.#profile;
    if (Object.keys(profile).length > 0) {
      await this.#putProfile(profile);
      this.#report.setProfile(Object.keys(profile));
    }
    this.#settle();
  }

  async #putProfile(facts: ImportedProfile & { readonly defaultTimeZone?: string }): Promise<void> {
    const { client, userId, importName, sleep } = this.#options;
    const request = { userId, ...facts, ...(importName === undefined ? {} : { import: importName }) };
    await retryWhenUnavailable(() => client.putProfile(request), sleep);
  }

  #isStretchOver(): boolean {
    const isLate = performance.now() - this.#settledAt >= STRETCH_MS;
    return this.#items >= this.#options.stretchItems || (this.#items > 0 && isLate);
  }

  #settle(): void {
    this.#position = this.#reached;
    this.#settled = this.total();
    this.#items = 0;
    this.#settledAt = performance.now();
  }
}
