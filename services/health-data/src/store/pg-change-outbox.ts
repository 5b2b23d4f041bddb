import { AppError } from '@phds/service-kit/errors';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type pg from 'pg';
import type { ChangeOutbox, OnRefused, OutboxState, Report, ReportedChange } from '../app/change-reports.ts';
import { ONE_SERVER, transact } from './database.ts';

// Of the 500 oldest, the first of each person before the second of any, so that an import does not keep back everybody else.
const toTake = (lock: string) => `
  SELECT "userId", number, at, categories FROM (
    SELECT waiting.*, row_number() OVER (PARTITION BY "userId" ORDER BY number) AS turn FROM (
      SELECT user_id AS "userId", number, at, categories FROM reading_change
      WHERE NOT reported ORDER BY at, user_id, number LIMIT 500 ${lock}) AS waiting) AS turns
  ORDER BY turn, at, "userId" LIMIT $1`;

/** Other instances pass over the rows that one has taken. */
const TAKE = toTake('FOR UPDATE SKIP LOCKED');
/** Citus locks no rows of several servers, so one instance takes at a time, and locks the rows by marking them. */
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

const MARK = `
  UPDATE reading_change c SET reported = true
  FROM unnest($1::text[], $2::bigint[]) AS taken(user_id, number)
  WHERE c.user_id = taken.user_id AND c.number = taken.number`;

const MARK_OF_ONE = 'UPDATE reading_change SET reported = true WHERE user_id = $1 AND number = ANY ($2)';

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

/** The changes in table `reading_change` that are not marked as reported. */
export function createPgChangeOutbox(pool: pg.Pool, { distributed } = ONE_SERVER): ChangeOutbox {
  const mark = distributed ? markEach : markAll;
  return translatingErrors({
    reportNext: (limit, report, onRefused) =>
      transact(pool, 'BEGIN', async (client) => {
        if (distributed && !(await client.query(BE_ALONE)).rows[0].alone) return 0;
        const { rows: taken } = await client.query<TakenChange>(distributed ? TAKE_ALONE : TAKE, [limit]);
        if (taken.length === 0) return 0;
        await reportAll(taken, await mark(client, taken), report, onRefused);
        return taken.length;
      }),
    async measure() {
      const { rows } = await pool.query<OutboxState>(MEASURE);
      return rows[0] ?? { rows: 0, oldestSeconds: 0 };
    },
  });
}

/** Reports the transactions one by one when consent refuses them together, so that one that it never accepts does not keep back others. */
async function reportAll(
  taken: readonly TakenChange[],
  changes: readonly LatestChange[],
  report: Report,
  onRefused: OnRefused,
): Promise<void> {
  if (changes.length === 0) return;
  try {
    await report(changes);
  } catch (error) {
    if (!(error instanceof AppError && error.reason === 'invalid_request')) throw error;
    const [first] = taken;
    if (taken.length === 1 && first !== undefined) return onRefused(first, error);
    for (const each of taken) {
      const own = changes.filter(({ userId, number }) => userId === each.userId && number === each.number);
      await reportAll([each], own, report, onRefused);
    }
  }
}

/** Marks the changes and returns what is to be reported of them. */
async function markAll(client: pg.ClientBase, taken: readonly TakenChange[]): Promise<LatestChange[]> {
  await client.query(MARK, [taken.map(({ userId }) => userId), taken.map(({ number }) => number)]);
  return (await client.query<LatestChange>(FIND_LATEST, toColumns(taken))).rows;
}

/** The same with statements that address one person each. */
async function markEach(client: pg.ClientBase, taken: readonly TakenChange[]): Promise<LatestChange[]> {
  const latest: LatestChange[] = [];
  for (const [userId, own] of Map.groupBy(taken, (change) => change.userId)) {
    await client.query(MARK_OF_ONE, [userId, own.map(({ number }) => number)]);
    const values = [...toColumns(own), userId];
    latest.push(...(await client.query<LatestChange>(FIND_LATEST_OF_ONE, values)).rows);
  }
  return latest;
}

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
