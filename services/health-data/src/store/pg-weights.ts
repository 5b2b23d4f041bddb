import type pg from 'pg';
import type { WeightReader } from '../app/ports.ts';
import { lowerBound, TEXT_ROWS, translated, upperBound } from './database.ts';

type Row = readonly [id: string | null, value: string, day: string, total: string];

// The bounds of dates are midnights UTC; sessions are in UTC, so the cast to a date gives that very date.
const TEXT = `
  WITH entry AS (
    SELECT DISTINCT ON (day) id, value, day
    FROM (
      SELECT id, value, start_at, timezone($2, start_at)::date AS day FROM reading
      WHERE user_id = $1 AND type = 'weight' AND value IS NOT NULL AND start_at >= $3::timestamptz
    ) AS weighed
    WHERE day >= $4::timestamptz::date AND day < $5::timestamptz::date
    ORDER BY day DESC, start_at DESC, id DESC
  )
  SELECT page.id, page.value, page.day, counted.total
  FROM (SELECT count(*) FROM entry) AS counted(total)
  LEFT JOIN LATERAL (SELECT * FROM entry ORDER BY day DESC LIMIT $6 OFFSET $7) AS page ON true
  ORDER BY page.day DESC`;

/** Weight entries out of the Weight readings. */
export function createPgWeights(pool: pg.Pool): WeightReader {
  return {
    list: ({ userId, timeZone, dates, since, limit, offset }) =>
      translated(async () => {
        const result = await pool.query<Row[]>({
          ...TEXT_ROWS,
          name: 'weights',
          text: TEXT,
          values: [
            userId,
            timeZone,
            lowerBound(since),
            lowerBound(dates.from),
            upperBound(dates.to),
            limit,
            offset,
          ],
        });
        const rows = result.rows as unknown as Row[];
        const items = rows.flatMap(([id, value, date]) =>
          id === null ? [] : [{ id, weightKg: Number(value), date }],
        );
        return { items, total: Number(rows[0]?.[3] ?? 0) };
      }),
  };
}
