import type pg from 'pg';
import type { Identified, ReadingWindow, ReadingWriter } from '../app/ports.ts';
import type { ReadingKey } from '../domain/reading.ts';
import { lowerBound, translated, upperBound, writeForUser } from './database.ts';

const SPANS = `
  LATERAL (VALUES
    ('hour', date_trunc('hour', start_at, 'UTC')), ('day', date_trunc('day', start_at, 'UTC')),
    ('month', date_trunc('month', start_at, 'UTC')), ('year', date_trunc('year', start_at, 'UTC')),
    ('all', '-infinity')
  ) AS covering(span, start)`;

// A row whose id exists differs in its value at most: everything else is in the natural key. xmax is 0 in rows that
// this statement made.
const PUT = `
  WITH written AS (
    INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source)
    SELECT $1, * FROM unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::float8[], $8::text[])
    ON CONFLICT (user_id, type, start_at, id) DO UPDATE SET value = excluded.value
      WHERE reading.value IS DISTINCT FROM excluded.value
    RETURNING type, start_at, xmax = 0 AS inserted
  ),
  counted AS (
    INSERT INTO reading_count (user_id, type, span, start_at, count)
    SELECT $1, type, span, start, count(*) FROM written, ${SPANS} WHERE inserted GROUP BY type, span, start
    ON CONFLICT (user_id, type, span, start_at) DO UPDATE SET count = reading_count.count + excluded.count
  )
  SELECT count(*) FILTER (WHERE inserted)::int AS inserted, count(*) FILTER (WHERE NOT inserted)::int AS updated
  FROM written`;

function toDeletion(condition: string): string {
  return `
    WITH deleted AS (DELETE FROM reading WHERE user_id = $1 AND ${condition} RETURNING type, start_at),
    gone AS (SELECT type, span, start, count(*) AS count FROM deleted, ${SPANS} GROUP BY type, span, start),
    kept AS (SELECT reading_count.*, gone.count AS gone FROM reading_count
      JOIN gone ON reading_count.type = gone.type AND reading_count.span = gone.span AND start_at = start
      WHERE user_id = $1),
    lowered AS (
      UPDATE reading_count SET count = kept.count - gone FROM kept
      WHERE kept.count > gone AND reading_count.user_id = $1 AND reading_count.type = kept.type
        AND reading_count.span = kept.span AND reading_count.start_at = kept.start_at
    ),
    removed AS (
      DELETE FROM reading_count USING kept
      WHERE kept.count = gone AND reading_count.user_id = $1 AND reading_count.type = kept.type
        AND reading_count.span = kept.span AND reading_count.start_at = kept.start_at
    )
    SELECT count(*)::int AS deleted FROM deleted`;
}

const DELETE_BY_KEY = toDeletion(
  '(type, start_at, id) IN (SELECT * FROM unnest($2::text[], $3::timestamptz[], $4::uuid[]))',
);
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
    delete: (userId, keys, windows) =>
      translated(() =>
        writeForUser(pool, userId, async (client) => {
          let deleted = await countDeleted(client, DELETE_BY_KEY, toKeyValues(userId, keys));
          for (const window of windows) {
            deleted += await countDeleted(client, DELETE_WINDOW, toWindowValues(userId, window));
          }
          return deleted;
        }),
      ),
  };
}

function toKeyValues(userId: string, keys: readonly Identified<ReadingKey>[]): unknown[] {
  return [
    userId,
    keys.map(({ metric }) => metric.key),
    keys.map(({ startAt }) => startAt.toISOString()),
    keys.map(({ id }) => id),
  ];
}

function toWindowValues(userId: string, { metric, source, range }: ReadingWindow): unknown[] {
  return [userId, metric, source, lowerBound(range.from), upperBound(range.to)];
}

async function countDeleted(client: pg.PoolClient, text: string, values: unknown[]): Promise<number> {
  const { rows } = await client.query<{ deleted: number }>(text, values);
  return rows[0]?.deleted ?? 0;
}
