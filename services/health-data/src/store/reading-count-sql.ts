/** From hours(type, hour, number) to the rows of reading_count that cover them: (type, span, start, number). */
const COVERING = `
  SELECT type, span, start, sum(number)::int AS number
  FROM hours, LATERAL (VALUES
    ('hour', hour), ('day', date_trunc('day', hour, 'UTC')), ('month', date_trunc('month', hour, 'UTC')),
    ('year', date_trunc('year', hour, 'UTC')), ('all', '-infinity')
  ) AS covering(span, start)
  GROUP BY type, span, start`;

function toHours(rows: string): string {
  return `hours AS (SELECT type, date_trunc('hour', start_at, 'UTC') AS hour, count(*) AS number FROM ${rows} GROUP BY 1, 2)`;
}

/** Common table expressions that add rows (type, start_at) to the counts of user $1. */
export function toCountUp(rows: string): string {
  return `
    ${toHours(rows)},
    counted AS (
      INSERT INTO reading_count (user_id, type, span, start_at, count)
      SELECT $1, type, span, start, number FROM (${COVERING}) AS covering
      ON CONFLICT (user_id, type, span, start_at) DO UPDATE SET count = reading_count.count + excluded.count
    )`;
}

/** Common table expressions that take rows (type, start_at) off the counts of user $1; a row of 0 goes. */
export function toCountDown(rows: string): string {
  return `
    ${toHours(rows)},
    counted AS (
      SELECT kept.type, kept.span, kept.start_at, kept.count - number AS count
      FROM (${COVERING}) AS covering JOIN reading_count AS kept
        ON kept.user_id = $1 AND kept.type = covering.type AND kept.span = covering.span AND kept.start_at = start
    ),
    lowered AS (
      UPDATE reading_count AS kept SET count = counted.count FROM counted
      WHERE counted.count > 0 AND user_id = $1 AND kept.type = counted.type AND kept.span = counted.span
        AND kept.start_at = counted.start_at
    ),
    removed AS (
      DELETE FROM reading_count AS kept USING counted
      WHERE counted.count = 0 AND user_id = $1 AND kept.type = counted.type AND kept.span = counted.span
        AND kept.start_at = counted.start_at
    )`;
}
