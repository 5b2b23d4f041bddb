import type { Category } from '@phds/catalog/categories';
import { startPeriodic } from '@phds/service-kit/periodic';

/** A change of a person's readings of one category. */
export interface ReportedChange {
  readonly userId: string;
  readonly category: Category;
  readonly at: Date;
  /** The latest start of a reading that changed and has not changed again. */
  readonly latestReadingAt: Date;
}

/** Tells consent. */
export type Report = (changes: readonly ReportedChange[]) => Promise<void>;

/** Receives a transaction that consent refuses as invalid, which is not reported again. */
export type OnRefused = (change: { readonly number: string }, error: unknown) => void;

/** Waiting changes, and the age of the oldest in seconds; 0 if none waits. */
export interface OutboxState {
  readonly rows: number;
  readonly oldestSeconds: number;
}

/** The changes that have not been reported to consent. */
export interface ChangeOutbox {
  /**
   * Passes the oldest changes to `report`, at most `limit` transactions and one of each person first, and marks them as reported when it resolves. They are claimed
   * meanwhile, so that other instances pass them over, and nothing is locked. Those that consent refuses as invalid are passed to `onRefused` and
   * marked, too.
   * Returns the number of transactions.
   */
  reportNext(limit: number, report: Report, onRefused: OnRefused): Promise<number>;
  /** Counts transactions up to 10,000. */
  measure(): Promise<OutboxState>;
}

/** With every category at most 1,000 changes, which consent accepts in one call. */
const CHANGES_AT_ONCE = 100;

export interface ChangeReportOptions {
  readonly outbox: Pick<ChangeOutbox, 'reportNext'>;
  readonly report: Report;
  readonly intervalMs: number;
  readonly log: { warn(fields: object, message: string): void };
  /** By what a task does: receives the error of a failed run; the next run tries again. */
  readonly failureOf: (task: string) => (error: unknown) => void;
}

/** Reports changes to consent, each at least once. While consent does not answer they wait. Disposal waits for a running report. */
export function startChangeReports({
  outbox,
  report,
  intervalMs,
  log,
  failureOf,
}: ChangeReportOptions): AsyncDisposable {
  const onRefused: OnRefused = ({ number }, err) =>
    log.warn({ err, number }, 'consent refused to announce a change');
  const turn = async (signal: AbortSignal) => {
    let reported = CHANGES_AT_ONCE;
    while (reported === CHANGES_AT_ONCE && !signal.aborted) {
      reported = await outbox.reportNext(CHANGES_AT_ONCE, report, onRefused);
    }
  };
  return startPeriodic(turn, { intervalMs, onFailure: failureOf('reporting changes to consent') });
}
