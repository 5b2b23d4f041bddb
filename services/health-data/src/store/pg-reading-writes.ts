import type pg from 'pg';
import type { ReadingWindow, ReadingWriter } from '../app/ports.ts';
import { lowerBound, translated, upperBound, writeForUser } from './database.ts';

// A row whose id exists differs in its value at most: everything else is in the natural key. xmax is 0 in rows that
// this statement made.
const PUT = `
  WITH written AS (
    INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source)
    SELECT $1, * FROM unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::float8[], $8::text[])
    ON CONFLICT (user_id, id) DO UPDATE SET value = excluded.value
      WHERE reading.value IS DISTINCT FROM excluded.value
    RETURNING category, type, xmax = 0 AS inserted
  ),
  counted AS (
    INSERT INTO reading_count (user_id, category, type, count)
    SELECT $1, category, type, count(*) FROM written WHERE inserted GROUP BY category, type
    ON CONFLICT (user_id, category, type) DO UPDATE SET count = reading_count.count + excluded.count
  )
  SELECT count(*) FILTER (WHERE inserted)::int AS inserted, count(*) FILTER (WHERE NOT inserted)::int AS updated
  FROM written`;

function toDeletion(condition: string): string {
  return `
    WITH deleted AS (DELETE FROM reading WHERE user_id = $1 AND ${condition} RETURNING category, type),
    gone AS (SELECT category, type, count(*) AS count FROM deleted GROUP BY category, type),
    counted AS (
      UPDATE reading_count SET count = reading_count.count - gone.count FROM gone
      WHERE user_id = $1 AND reading_count.category = gone.category AND reading_count.type = gone.type
    )
    SELECT count(*)::int AS deleted FROM deleted`;
}

const DELETE_BY_ID = toDeletion('id = ANY($2::uuid[])');
const DELETE_WINDOW = toDeletion(
  'type = $2 AND ($3::text IS NULL OR source = $3) AND start_at >= $4::timestamptz AND start_at < $5::timestamptz',
);

/** Writes readings, and keeps the counts beside them in the same transaction. */
export function createPgReadingWriter(pool: pg.Pool): ReadingWriter {
  return {
    put: (userId, readings) =>
      translated(async () => {
        if (readings.length === 0) return { inserted: 0, updated: 0, unchanged: 0 };
        const values = [
          userId,
          readings.map((reading) => reading.id),
          readings.map((reading) => reading.metric.key),
          readings.map((reading) => reading.metric.category),
          readings.map((reading) => reading.startAt.toISOString()),
          readings.map((reading) => reading.endAt.toISOString()),
          readings.map((reading) => reading.value),
          readings.map((reading) => reading.source),
        ];
        const { rows } = await writeForUser(pool, userId, (client) =>
          client.query<{ inserted: number; updated: number }>(PUT, values),
        );
        const { inserted = 0, updated = 0 } = rows[0] ?? {};
        return { inserted, updated, unchanged: readings.length - inserted - updated };
      }),
    delete: (userId, ids, windows) =>
      translated(() =>
        writeForUser(pool, userId, async (client) => {
          let deleted = await countDeleted(client, DELETE_BY_ID, [userId, ids]);
          for (const window of windows) {
            deleted += await countDeleted(client, DELETE_WINDOW, toWindowValues(userId, window));
          }
          return deleted;
        }),
      ),
  };
}

function toWindowValues(userId: string, { metric, source, range }: ReadingWindow): unknown[] {
  return [userId, metric, source, lowerBound(range.from), upperBound(range.to)];
}

async function countDeleted(client: pg.PoolClient, text: string, values: unknown[]): Promise<number> {
  const { rows } = await client.query<{ deleted: number }>(text, values);
  return rows[0]?.deleted ?? 0;
}
