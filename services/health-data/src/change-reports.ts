import type { Category } from '@phds/catalog/categories';
import { startPeriodic } from '@phds/service-kit/background';
import { AppError } from '@phds/service-kit/errors';

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

// Of the 500 oldest, the first of each person before the second of any, so that an import does not keep back everybody else.
const toTake = (lock: string) => `
  SELECT "userId", number, at, categories FROM (
    SELECT waiting.*, row_number() OVER (PARTITION BY "userId" ORDER BY number) AS turn FROM (
      SELECT user_id AS "userId", number, at, categories FROM reading_change
      WHERE NOT reported AND (claimed_until IS NULL OR claimed_until < statement_timestamp())
      ORDER BY at, user_id, number LIMIT 500 ${lock}) AS waiting) AS turns
  ORDER BY turn, at, "userId" LIMIT $1`;

/** Other instances pass over the rows that one is claiming. */
const TAKE = toTake('FOR UPDATE SKIP LOCKED');
/** Citus locks no rows of several servers, so one instance claims at a time. */
const TAKE_ALONE = toTake('');
const BE_ALONE =
  "SELECT pg_try_advisory_xact_lock(hashtextextended('health-data change reports', 0)) AS alone";

// A category without readings of this change has changed again since; the later change reports it.
const toFindLatest = (person: string) => `
  SELECT taken.user_id AS "userId", taken.number, taken.category, taken.at, latest.start_at AS "latestReadingAt"
  FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[]) AS taken(user_id, number, at, category)
  CROSS JOIN LATERAL (
    SELECT greatest(
      (SELECT max(r.start_at) FROM reading r
       WHERE r.user_id = ${person} AND r.category = taken.category AND r.change_number = taken.number
         AND r.change_number >= 0),
      (SELECT max(d.start_at) FROM deleted_reading d
       WHERE d.user_id = ${person} AND d.category = taken.category AND d.change_number = taken.number)
    ) AS start_at
  ) latest
  WHERE latest.start_at IS NOT NULL`;

const FIND_LATEST = toFindLatest('taken.user_id');
const FIND_LATEST_OF_ONE = toFindLatest('$5');

type Assignment = 'reported = true' | 'claimed_until = NULL' | typeof CLAIMED;

/** Longer than a report of a full batch takes; a report that takes longer may be repeated by another instance. */
const CLAIMED = "claimed_until = statement_timestamp() + interval '2 minutes'";

// In the order of the index of waiting changes. The limit bounds the cost.
const MEASURE = `
  SELECT count(*)::int AS rows,
    coalesce(greatest(extract(epoch FROM statement_timestamp() - min(at)), 0), 0)::double precision AS "oldestSeconds"
  FROM (SELECT at FROM reading_change WHERE NOT reported ORDER BY at, user_id, number LIMIT 10000) AS waiting`;

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
  const set = distributed ? setEach : setAll;
  const claim = (limit: number) =>
    transact(pool, 'BEGIN', async (client) => {
      if (distributed && !(await client.query(BE_ALONE)).rows[0].alone) return [];
      const { rows } = await client.query<TakenChange>(distributed ? TAKE_ALONE : TAKE, [limit]);
      await set(client, CLAIMED, rows);
      return rows;
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
        await set(pool, 'reported = true', told);
        for (const change of told) waiting.delete(change);
      };
      try {
        await reportAll(taken, await (distributed ? findEach : findAll)(pool, taken), {
          report,
          onRefused,
          done,
        });
      } catch (error) {
        // Else the next run would pass them over.
        await set(pool, 'claimed_until = NULL', [...waiting]).catch(() => undefined);
        throw error;
      }
      return taken.length;
    },
    /** Counts transactions up to 10,000. */
    async measure(): Promise<OutboxState> {
      const { rows } = await pool.query<OutboxState>(MEASURE);
      return rows[0] ?? { rows: 0, oldestSeconds: 0 };
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

type Queryable = pg.ClientBase | pg.Pool;

async function setAll(client: Queryable, assignment: Assignment, taken: readonly TakenChange[]) {
  const text = `UPDATE reading_change c SET ${assignment} FROM unnest($1::text[], $2::bigint[]) AS taken(user_id, number)
    WHERE c.user_id = taken.user_id AND c.number = taken.number`;
  await client.query(text, [taken.map(({ userId }) => userId), taken.map(({ number }) => number)]);
}

/** The same with statements that address one person each. */
async function setEach(client: Queryable, assignment: Assignment, taken: readonly TakenChange[]) {
  const text = `UPDATE reading_change SET ${assignment} WHERE user_id = $1 AND number = ANY ($2)`;
  for (const [userId, own] of byPerson(taken)) {
    await client.query(text, [userId, own.map(({ number }) => number)]);
  }
}

/** What is to be reported of the changes. */
async function findAll(pool: pg.Pool, taken: readonly TakenChange[]): Promise<LatestChange[]> {
  return (await pool.query<LatestChange>(FIND_LATEST, toColumns(taken))).rows;
}

async function findEach(pool: pg.Pool, taken: readonly TakenChange[]): Promise<LatestChange[]> {
  const latest: LatestChange[] = [];
  for (const [userId, own] of byPerson(taken)) {
    const values = [...toColumns(own), userId];
    latest.push(...(await pool.query<LatestChange>(FIND_LATEST_OF_ONE, values)).rows);
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
