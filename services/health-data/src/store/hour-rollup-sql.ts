import type { Gathering } from './rollup-sql.ts';
import { AROUND_DAY, TOUCHED, TYPES, toRanges, toSum } from './rollup-sql.ts';

// Hours of readings: `hour_rollup`.

const SUM_OF_VALUES = toSum('value');

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
