import type { Category } from '@phds/catalog/categories';
import { startPeriodic } from '@phds/service-kit/background';
import { AppError } from '@phds/service-kit/errors';
import { type Queryable, queryRows, readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { ONE_SERVER, transact } from './database.ts';

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
type OnRefused = (change: { readonly number: string }, error: unknown) => void;

/** Waiting changes, and the age of the oldest in seconds; 0 if none waits. */
interface OutboxState {
  readonly rows: number;
  readonly oldestSeconds: number;
}

/** With every category at most 1,000 changes, which consent accepts in one call. */
const CHANGES_AT_ONCE = 100;

interface ChangeReportOptions {
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

const TAKE = readStatement(new URL('sql/take-changes.sql', import.meta.url));
const TAKE_ALONE = readStatement(new URL('sql/take-changes-alone.sql', import.meta.url));
const LOCK = readStatement(new URL('sql/lock-reports.sql', import.meta.url));
const MARK = readStatement(new URL('sql/mark-changes.sql', import.meta.url));
const MARK_OF_PERSON = readStatement(new URL('sql/mark-changes-of-person.sql', import.meta.url));
const FIND_LATEST = readStatement(new URL('sql/find-latest-readings.sql', import.meta.url));
const FIND_LATEST_OF_PERSON = readStatement(
  new URL('sql/find-latest-readings-of-person.sql', import.meta.url),
);
const MEASURE = readStatement(new URL('sql/measure-outbox.sql', import.meta.url));

/** Whether changes are reported, and for how long one instance claims them. */
type Mark = readonly [reported: boolean, claimed: string | null];

/** Longer than a report of a full batch takes; a report that takes longer may be repeated by another instance. */
const CLAIMED: Mark = [false, '2 minutes'];
const RELEASED: Mark = [false, null];
const REPORTED: Mark = [true, null];

interface TakenChange {
  readonly userId: string;
  readonly number: string;
  readonly at: Date;
  readonly categories: readonly string[];
}

interface LatestChange extends ReportedChange {
  readonly number: string;
}

export type ChangeOutbox = ReturnType<typeof createChangeOutbox>;

/** The changes in table `reading_change` that are not marked as reported. */
export function createChangeOutbox(pool: pg.Pool, { distributed } = ONE_SERVER) {
  const mark = distributed ? markEach : markAll;
  const find = distributed ? findEach : findAll;
  const take = async (client: pg.ClientBase, limit: number): Promise<TakenChange[]> => {
    if (!distributed) return queryRows(client, TAKE, limit);
    const [lock] = await queryRows<{ alone: boolean }>(client, LOCK);
    return lock?.alone ? queryRows(client, TAKE_ALONE, limit) : [];
  };
  const claim = (limit: number) =>
    transact(pool, 'BEGIN', async (client) => {
      const taken = await take(client, limit);
      await mark(client, CLAIMED, taken);
      return taken;
    });
  return {
    /**
     * Passes the oldest changes to `report`, at most `limit` transactions and one of each person first, and marks them as reported when it resolves. They are claimed
     * meanwhile, so that other instances pass them over, and nothing is locked. Those that consent refuses as invalid are passed to `onRefused` and
     * marked, too. Returns the number of transactions.
     */
    async reportNext(limit: number, report: Report, onRefused: OnRefused): Promise<number> {
      const taken = await claim(limit);
      const waiting = new Set(taken);
      const done = async (told: readonly TakenChange[]) => {
        await mark(pool, REPORTED, told);
        for (const change of told) waiting.delete(change);
      };
      try {
        await reportAll(taken, await find(pool, taken), { report, onRefused, done });
      } catch (error) {
        // Else the next run would pass them over.
        await mark(pool, RELEASED, [...waiting]).catch(() => undefined);
        throw error;
      }
      return taken.length;
    },
    /** Counts transactions up to 10,000. */
    async measure(): Promise<OutboxState> {
      const [state] = await queryRows<OutboxState>(pool, MEASURE);
      return state ?? { rows: 0, oldestSeconds: 0 };
    },
  };
}

interface Reporting {
  readonly report: Report;
  readonly onRefused: OnRefused;
  /** Takes the transactions that need no other report. */
  readonly done: (told: readonly TakenChange[]) => Promise<void>;
}

/** Reports the transactions one by one when consent refuses them together, so that one that it never accepts does not keep back others. */
async function reportAll(
  taken: readonly TakenChange[],
  changes: readonly LatestChange[],
  reporting: Reporting,
): Promise<void> {
  try {
    if (changes.length > 0) await reporting.report(changes);
  } catch (error) {
    if (!(error instanceof AppError && error.reason === 'invalid_request')) throw error;
    const [first] = taken;
    if (taken.length > 1) {
      for (const each of taken) {
        const own = changes.filter(({ userId, number }) => userId === each.userId && number === each.number);
        await reportAll([each], own, reporting);
      }
      return;
    }
    if (first !== undefined) reporting.onRefused(first, error);
  }
  await reporting.done(taken);
}

async function markAll(database: Queryable, mark: Mark, taken: readonly TakenChange[]) {
  const [users, numbers] = [taken.map(({ userId }) => userId), taken.map(({ number }) => number)];
  await runStatement(database, MARK, users, numbers, ...mark);
}

/** The same with statements that address one person each. */
async function markEach(database: Queryable, mark: Mark, taken: readonly TakenChange[]) {
  for (const [userId, own] of byPerson(taken)) {
    const numbers = own.map(({ number }) => number);
    await runStatement(database, MARK_OF_PERSON, userId, numbers, ...mark);
  }
}

/** What is to be reported of the changes. */
function findAll(pool: pg.Pool, taken: readonly TakenChange[]): Promise<LatestChange[]> {
  return queryRows(pool, FIND_LATEST, ...toColumns(taken));
}

async function findEach(pool: pg.Pool, taken: readonly TakenChange[]): Promise<LatestChange[]> {
  const latest: LatestChange[] = [];
  for (const [userId, own] of byPerson(taken)) {
    latest.push(...(await queryRows<LatestChange>(pool, FIND_LATEST_OF_PERSON, ...toColumns(own), userId)));
  }
  return latest;
}

const byPerson = (taken: readonly TakenChange[]) => Map.groupBy(taken, ({ userId }) => userId);

/** A row for each category of each change. */
function toColumns(taken: readonly TakenChange[]): unknown[][] {
  const each = taken.flatMap((change) => change.categories.map((category) => ({ ...change, category })));
  return [
    each.map(({ userId }) => userId),
    each.map(({ number }) => number),
    each.map(({ at }) => at),
    each.map(({ category }) => category),
  ];
}
