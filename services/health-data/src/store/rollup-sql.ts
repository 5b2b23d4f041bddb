import type { Metric } from '@phds/catalog/metrics';
import { METRICS } from '@phds/catalog/metrics';

// Statements that make rollups. Values: $1 the user, $2 the zone, and to recompute a part $3 and $4: metric types and
// touched hours, in pairs. The parts of the catalog stand in the texts: they change with the code only.

/** How readings of a metric type become hours. */
export type Gathering = 'average' | 'by-start' | 'by-end';

const GATHERINGS: readonly Gathering[] = ['average', 'by-start', 'by-end'];

function toGathering({ kind, bucketBy }: Metric): Gathering {
  if (kind === 'average') return 'average';
  return bucketBy === 'end' ? 'by-end' : 'by-start';
}

function toTypes(gathering: Gathering): string {
  const keys = METRICS.filter((metric) => toGathering(metric) === gathering).map(({ key }) => key);
  return `'{${keys.join(',')}}'::text[]`;
}

const TYPES = {
  average: toTypes('average'),
  'by-start': toTypes('by-start'),
  'by-end': toTypes('by-end'),
} as const satisfies Record<Gathering, string>;

/** An expression: the gathering of a type. */
export const GATHERING = `CASE ${GATHERINGS.map((name) => `WHEN type = ANY(${TYPES[name]}) THEN '${name}'`).join(' ')} END`;

/** An expression: the hour of the user's zone in which a reading counts. */
export const KEYED_HOUR = `date_trunc('hour', CASE WHEN type = ANY(${TYPES['by-end']}) THEN end_at ELSE start_at END, $2)`;

function toRanges(additive: boolean): string {
  const rows = METRICS.flatMap(({ key, kind, referenceRange }) => {
    if (referenceRange === null || (kind === 'additive') !== additive) return [];
    return [`('${key}', ${referenceRange.low}::float8, ${referenceRange.high}::float8)`];
  });
  return `(VALUES ${rows.join(', ')}) AS normal(type, low, high)`;
}

/** The pairs of $3 and $4. */
const TOUCHED = 'unnest($3::text[], $4::timestamptz[]) AS touched(type, hour)';

/** Every hour there is, for a rebuild. */
const EVERY_HOUR = 'hour_rollup WHERE user_id = $1';

// Values have at most two decimals. Rounded, a sum is the float nearest to the true one, in whatever order it was added
// up: rows that were recomputed and rows that were rebuilt are the same to the last bit.
const SUM_OF_VALUES = 'round(sum(value)::numeric, 3)::float8';
const SUM_OF_SUMS = 'round(sum(sum)::numeric, 3)::float8';

const UPSERT_HOURS = `
  ON CONFLICT (user_id, type, hour) DO UPDATE SET (count, sum, min, max, below, above) =
    (excluded.count, excluded.sum, excluded.min, excluded.max, excluded.below, excluded.above)
    WHERE (hour_rollup.count, hour_rollup.sum, hour_rollup.min, hour_rollup.max, hour_rollup.below, hour_rollup.above)
      IS DISTINCT FROM
      (excluded.count, excluded.sum, excluded.min, excluded.max, excluded.below, excluded.above)`;

const HOUR_COLUMNS = '(user_id, type, hour, count, sum, min, max, below, above)';

const DROP_EMPTY_HOURS = `
  emptied AS (
    DELETE FROM hour_rollup USING fresh
    WHERE fresh.count IS NULL AND user_id = $1 AND hour_rollup.type = fresh.type AND hour_rollup.hour = fresh.hour
  )`;

// Where an offset changes by half an hour, an hour's name covers less than the hour that follows its first instant.
const READINGS_OF_HOUR = `
  FROM reading WHERE user_id = $1 AND type = touched.type AND value IS NOT NULL
    AND start_at >= touched.hour AND start_at < touched.hour + interval '1 hour'
    AND date_trunc('hour', start_at, $2) = touched.hour`;

/** Recomputes touched hours from the readings. */
const REFRESH_AVERAGE = `
  WITH fresh AS (
    SELECT touched.type, touched.hour, hour.*
    FROM ${TOUCHED} LEFT JOIN ${toRanges(false)} USING (type) CROSS JOIN LATERAL (
      SELECT nullif(count(*), 0) AS count, ${SUM_OF_VALUES} AS sum, min(value) AS min, max(value) AS max,
        count(*) FILTER (WHERE value < low) AS below, count(*) FILTER (WHERE value > high) AS above
      ${READINGS_OF_HOUR}
    ) AS hour
  ), ${DROP_EMPTY_HOURS}
  INSERT INTO hour_rollup ${HOUR_COLUMNS}
  SELECT $1, type, hour, count, sum, min, max, below, above FROM fresh WHERE count IS NOT NULL ${UPSERT_HOURS}`;

/** The same for additive types: of an hour the source with the largest sum counts, the first by name of equal ones. */
const REFRESH_BY_START = `
  WITH fresh AS (
    SELECT touched.type, touched.hour, hour.count, hour.sum, hour.min, hour.max
    FROM ${TOUCHED} LEFT JOIN LATERAL (
      SELECT source, count(*) AS count, ${SUM_OF_VALUES} AS sum, min(value) AS min, max(value) AS max
      ${READINGS_OF_HOUR}
      GROUP BY source ORDER BY sum DESC, source LIMIT 1
    ) AS hour ON true
  ), ${DROP_EMPTY_HOURS}
  INSERT INTO hour_rollup ${HOUR_COLUMNS}
  SELECT $1, type, hour, count, sum, min, max, 0, 0 FROM fresh WHERE count IS NOT NULL ${UPSERT_HOURS}`;

/** A local date, generously in instants: an hour's first instant may lie a little outside of the date it belongs to. */
const AROUND_DAY = (column: string, hoursBefore: number) => `
  ${column} >= timezone($2, day::timestamp) - interval '${hoursBefore} hours'
  AND ${column} < timezone($2, (day + 1)::timestamp) + interval '2 hours'`;

const TOUCHED_DAYS = `(SELECT DISTINCT type, timezone($2, hour)::date AS day FROM ${TOUCHED}) AS touched`;

// For sleep the source is chosen for a whole local date, so its hours go and come together. Found day by day: joined,
// Postgres would rather read all hours of the user.
const CLEAR_BY_END = `
  DELETE FROM hour_rollup WHERE ctid = ANY(ARRAY(
    SELECT gone.ctid FROM ${TOUCHED_DAYS} CROSS JOIN LATERAL (
      SELECT ctid FROM hour_rollup
      WHERE user_id = $1 AND type = touched.type AND ${AROUND_DAY('hour', 2)} AND timezone($2, hour)::date = day
      OFFSET 0
    ) AS gone
  ))`;

/** Cells (type, day, hour, source) to hours, by the source that counts on the day. */
const CHOOSE_FOR_DAY = `
  INSERT INTO hour_rollup ${HOUR_COLUMNS}
  SELECT $1, type, hour, count, sum, min, max, 0, 0
  FROM (
    SELECT *, rank() OVER (PARTITION BY type, day ORDER BY round(day_sum::numeric, 3) DESC, source) AS place
    FROM (SELECT *, sum(sum) OVER (PARTITION BY type, day, source) AS day_sum FROM cell) AS summed
  ) AS ranked
  WHERE place = 1 ORDER BY type, hour`;

// No interval of these types is longer than a day (domain/reading.ts), so a start lies at most that far before its end.
const FILL_BY_END = `
  WITH cell AS (
    SELECT touched.type, day, hour, source, count(*) AS count, ${SUM_OF_VALUES} AS sum, min(value) AS min, max(value) AS max
    FROM ${TOUCHED_DAYS} CROSS JOIN LATERAL (
      SELECT source, value, date_trunc('hour', end_at, $2) AS hour FROM reading
      WHERE user_id = $1 AND type = touched.type AND value IS NOT NULL AND ${AROUND_DAY('start_at', 27)}
    ) AS slept
    WHERE timezone($2, hour)::date = day
    GROUP BY 1, 2, 3, 4
  ) ${CHOOSE_FOR_DAY}`;

/** For each gathering, what makes the touched hours right, in order. */
export const REFRESH_HOURS: { readonly [G in Gathering]: readonly string[] } = {
  average: [REFRESH_AVERAGE],
  'by-start': [REFRESH_BY_START],
  'by-end': [CLEAR_BY_END, FILL_BY_END],
};

/** What fills the hours of a user who has none. */
export const FILL_HOURS: readonly string[] = [
  `INSERT INTO hour_rollup ${HOUR_COLUMNS}
   SELECT $1, type, date_trunc('hour', start_at, $2), count(*), ${SUM_OF_VALUES}, min(value), max(value),
     count(*) FILTER (WHERE value < low), count(*) FILTER (WHERE value > high)
   FROM reading LEFT JOIN ${toRanges(false)} USING (type)
   WHERE user_id = $1 AND type = ANY(${TYPES.average}) AND value IS NOT NULL GROUP BY 2, 3 ORDER BY 2, 3`,
  `INSERT INTO hour_rollup ${HOUR_COLUMNS}
   SELECT DISTINCT ON (type, hour) $1, type, hour, count, sum, min, max, 0, 0
   FROM (
     SELECT type, source, date_trunc('hour', start_at, $2) AS hour, count(*) AS count, ${SUM_OF_VALUES} AS sum,
       min(value) AS min, max(value) AS max
     FROM reading WHERE user_id = $1 AND type = ANY(${TYPES['by-start']}) AND value IS NOT NULL GROUP BY 1, 2, 3
   ) AS cell
   ORDER BY type, hour, sum DESC, source`,
  `WITH cell AS (
     SELECT type, timezone($2, hour)::date AS day, hour, source, count(*) AS count, ${SUM_OF_VALUES} AS sum,
       min(value) AS min, max(value) AS max
     FROM (
       SELECT type, source, value, date_trunc('hour', end_at, $2) AS hour FROM reading
       WHERE user_id = $1 AND type = ANY(${TYPES['by-end']}) AND value IS NOT NULL
     ) AS slept
     GROUP BY 1, 2, 3, 4
   ) ${CHOOSE_FOR_DAY}`,
];

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
