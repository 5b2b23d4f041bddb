import { AppError } from '@phds/service-kit/errors';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type pg from 'pg';
import type { ChangeOutbox, OnRefused, OutboxState, Report, ReportedChange } from '../app/change-reports.ts';
import { transact } from './database.ts';

// Of the 500 oldest, the first of each person before the second of any, so that an import does not keep back everybody else.
const TAKE = `
  SELECT "userId", number, at, categories FROM (
    SELECT waiting.*, row_number() OVER (PARTITION BY "userId" ORDER BY number) AS turn FROM (
      SELECT user_id AS "userId", number, at, categories FROM reading_change
      WHERE NOT reported ORDER BY at, user_id, number LIMIT 500 FOR UPDATE SKIP LOCKED) AS waiting) AS turns
  ORDER BY turn, at, "userId" LIMIT $1`;

// A category without readings of this change has changed again since; the later change reports it.
const FIND_LATEST = `
  SELECT taken.user_id AS "userId", taken.number, taken.category, taken.at, latest.start_at AS "latestReadingAt"
  FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[]) AS taken(user_id, number, at, category)
  CROSS JOIN LATERAL (
    SELECT greatest(
      (SELECT max(r.start_at) FROM reading r
       WHERE r.user_id = taken.user_id AND r.category = taken.category AND r.change_number = taken.number
         AND r.change_number >= 0),
      (SELECT max(d.start_at) FROM deleted_reading d
       WHERE d.user_id = taken.user_id AND d.category = taken.category AND d.change_number = taken.number)
    ) AS start_at
  ) latest
  WHERE latest.start_at IS NOT NULL`;

const MARK = `
  UPDATE reading_change c SET reported = true
  FROM unnest($1::text[], $2::bigint[]) AS taken(user_id, number)
  WHERE c.user_id = taken.user_id AND c.number = taken.number`;

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
export function createPgChangeOutbox(pool: pg.Pool): ChangeOutbox {
  return translatingErrors({
    reportNext: (limit, report, onRefused) =>
      transact(pool, 'BEGIN', async (client) => {
        const { rows: taken } = await client.query<TakenChange>(TAKE, [limit]);
        if (taken.length === 0) return 0;
        const changes = await findLatest(client, taken);
        await reportAll(taken, changes, report, onRefused);
        await client.query(MARK, [taken.map(({ userId }) => userId), taken.map(({ number }) => number)]);
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

async function findLatest(client: pg.ClientBase, taken: readonly TakenChange[]): Promise<LatestChange[]> {
  const each = taken.flatMap((change) => change.categories.map((category) => ({ ...change, category })));
  const { rows } = await client.query<LatestChange>(FIND_LATEST, [
    each.map(({ userId }) => userId),
    each.map(({ number }) => number),
    each.map(({ at }) => at),
    each.map(({ category }) => category),
  ]);
  return rows;
}
