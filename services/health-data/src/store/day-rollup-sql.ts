import { AROUND_DAY, TOUCHED, TYPES, toRanges, toSum } from './rollup-sql.ts';

// Days, months, years and all time of hours: `day_rollup`.

const SUM_OF_SUMS = toSum('sum');

/** Every hour there is, for a rebuild. */
const EVERY_HOUR = 'hour_rollup WHERE user_id = $1';

const SPAN_NUMBERS = 'count, sum, min, max, below, above, hours, days';

/**
 * Writes the rows `fresh(type, span, start_on, …)`; one without days has become empty. In the order in which they are read, a
 * page of the table holds neighbours.
 */
const WRITE_SPANS = `
  , emptied AS (
    DELETE FROM day_rollup USING fresh
    WHERE fresh.days = 0 AND user_id = $1 AND day_rollup.type = fresh.type AND day_rollup.span = fresh.span
      AND day_rollup.start_on = fresh.start_on
  )
  INSERT INTO day_rollup (user_id, type, span, start_on, ${SPAN_NUMBERS})
  SELECT $1, type, span, start_on, ${SPAN_NUMBERS} FROM fresh WHERE days > 0
  ORDER BY type, span, start_on
  ON CONFLICT (user_id, type, span, start_on) DO UPDATE SET (${SPAN_NUMBERS}) =
    (${toColumns('excluded')})
    WHERE (${toColumns('day_rollup')}) IS DISTINCT FROM (${toColumns('excluded')})`;

function toColumns(table: string): string {
  return SPAN_NUMBERS.split(', ')
    .map((column) => `${table}.${column}`)
    .join(', ');
}

const ADDITIVE = `touched.type = ANY(${TYPES['by-start']} || ${TYPES['by-end']})`;

/** From hours to days, where an additive type's total is judged, to months, to years and all time. */
function toSpans(hours: string): readonly string[] {
  const days = `
    WITH fresh AS (
      SELECT touched.type, 'day' AS span, day AS start_on, day.count, day.sum, day.min, day.max,
        day.below + coalesce((day.sum < low)::int, 0) AS below, day.above + coalesce((day.sum > high)::int, 0) AS above,
        day.hours, (day.hours > 0)::int AS days
      FROM (SELECT DISTINCT type, timezone($2, hour)::date AS day FROM ${hours}) AS touched
      LEFT JOIN ${toRanges(true)} USING (type)
      CROSS JOIN LATERAL (
        SELECT sum(count) AS count, ${SUM_OF_SUMS} AS sum, min(min) AS min, max(max) AS max, sum(below) AS below,
          sum(above) AS above, count(*) AS hours
        FROM hour_rollup WHERE user_id = $1 AND type = touched.type AND ${AROUND_DAY('hour', 2)}
          AND timezone($2, hour)::date = day
      ) AS day
    )`;
  const months = `
    WITH fresh AS (
      SELECT touched.type, 'month' AS span, start_on, month.*
      FROM (SELECT DISTINCT type, date_trunc('month', timezone($2, hour))::date AS start_on FROM ${hours}) AS touched
      CROSS JOIN LATERAL (
        SELECT CASE WHEN ${ADDITIVE} THEN count(*) ELSE sum(count) END AS count, ${SUM_OF_SUMS} AS sum,
          CASE WHEN ${ADDITIVE} THEN min(sum) ELSE min(min) END AS min,
          CASE WHEN ${ADDITIVE} THEN max(sum) ELSE max(max) END AS max,
          sum(below) AS below, sum(above) AS above, sum(hours) AS hours, count(*) AS days
        FROM day_rollup AS day WHERE user_id = $1 AND type = touched.type AND span = 'day'
          AND day.start_on >= touched.start_on AND day.start_on < touched.start_on + interval '1 month'
      ) AS month
    )`;
  const years = `
    WITH fresh AS (
      SELECT touched.type, touched.span, start_on, covered.*
      FROM (
        SELECT DISTINCT type, span, start_on FROM (SELECT type, timezone($2, hour) AS at FROM ${hours}) AS local,
        LATERAL (VALUES ('year', date_trunc('year', at)::date), ('all', '-infinity')) AS covering(span, start_on)
      ) AS touched
      CROSS JOIN LATERAL (
        SELECT sum(count) AS count, ${SUM_OF_SUMS} AS sum, min(min) AS min, max(max) AS max, sum(below) AS below,
          sum(above) AS above, sum(hours) AS hours, coalesce(sum(days), 0) AS days
        FROM day_rollup AS month WHERE user_id = $1 AND type = touched.type AND month.span = 'month'
          AND month.start_on >= touched.start_on
          AND month.start_on < CASE touched.span WHEN 'year' THEN touched.start_on + interval '1 year' ELSE 'infinity' END
      ) AS covered
    )`;
  return [days, months, years].map((fresh) => fresh + WRITE_SPANS);
}

/** What makes the spans above touched hours right, in order. */
export const REFRESH_SPANS = toSpans(TOUCHED);

/** What fills the spans of a user who has none, in order. */
export const FILL_SPANS = toSpans(EVERY_HOUR);
