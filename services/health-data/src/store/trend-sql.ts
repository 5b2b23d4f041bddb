import type { TrendBucket } from '@phds/catalog/wire-names';
import type { Slice, SummaryQuery } from '../app/ports.ts';
import type { SummaryCover } from '../domain/summary-cover.ts';
import {
  ADDITIVE_HOURS,
  DATE_OF_HOUR,
  firstInstant,
  firstInstantOfHour,
  PARTS,
  toHourRows,
  toReadings,
  toSpanRows,
  toSummaryValues,
} from './summary-sql.ts';

// Besides the values of summary-sql.ts: $21 and $22, limit and offset of the page.

/** Of parts in time, `(span, at, points, newer)`, the one that holds the point behind $22 others, unless that is the first. */
const toFound = (name: string, parts: string) => `
  ${name} AS (
    SELECT span, at, points, before FROM (
      SELECT *, sum(points) OVER (ORDER BY at DESC) - points + newer AS before FROM (${parts}) AS part
    ) AS ranked
    WHERE $22 > 0 AND before <= $22 AND before + points > $22
    LIMIT 1
  )`;

/** The same a step finer; a day stays. */
const toFiner = (name: string, coarse: string, points: string) =>
  toFound(
    name,
    `SELECT finer.span, finer.at, sum(finer.points)::int AS points, before AS newer
     FROM ${coarse} AS coarse CROSS JOIN metric CROSS JOIN LATERAL (
       SELECT span, start_on AS at, ${points} AS points FROM day_rollup
       WHERE user_id = $1 AND type = metric.type
         AND span = CASE coarse.span WHEN 'year' THEN 'month' WHEN 'month' THEN 'day' END
         AND start_on >= coarse.at AND start_on < coarse.at + ('1 ' || coarse.span)::interval
       OFFSET 0
     ) AS finer
     GROUP BY finer.span, finer.at, before
     UNION ALL
     SELECT span, at, points, before FROM ${coarse} AS coarse WHERE span = 'day'`,
  );

/**
 * Common table expressions over those of summary-sql.ts: `counted(total)`, the number of points, and `found_day(at, before)`,
 * which is the day that holds the point behind $22 others, and how many points are newer than it. A point is a day or an
 * hour of a type. `others` are rows (span, day, points) of points that no rollup holds.
 */
export const toFoundDay = (points: 'days' | 'hours', others = '') => `
  covered AS (
    SELECT span, at, sum(points)::int AS points, 0 AS newer
    FROM (SELECT span, start_on AS at, ${points} AS points FROM ${toSpanRows(`start_on, ${points}`)} ${others}) AS row
    GROUP BY span, at
  ),
  counted AS (SELECT coalesce(sum(points), 0)::int AS total FROM covered),
  ${toFound('coarsest', 'SELECT * FROM covered')},
  ${toFiner('month_or_day', 'coarsest', points)},
  ${toFiner('found_day', 'month_or_day', points)}`;

const NUMBERS = 'sum(count)::int AS count, sum(sum) AS sum, min(min) AS min, max(max) AS max';

/** The hours that no day of the rollups holds. */
const COUNTED_HOURS = `
  ${ADDITIVE_HOURS},
  counted_hour AS (
    SELECT * FROM additive_hour
    UNION ALL
    SELECT type, date_trunc('hour', at, $2), count(*), sum(value), min(value), max(value)
    FROM ${toReadings('average')}
    GROUP BY 1, 2
    UNION ALL
    SELECT type, rollup.* FROM ${toHourRows('average', 'hour, count, sum, min, max')}
  )`;

/** How points of a bucket are made and looked up; `at` names them: a date, or what date_trunc calls an hour. */
interface Way {
  readonly points: 'days' | 'hours';
  /** Common table expression `other_point(type, day, at, count, sum, min, max)`. */
  readonly otherPoints: string;
  /** Common table expressions that end in `found(at, before)`. */
  readonly found: string;
  /** Those of a metric type in rollups up to `newest`, newest first: table and condition, in terms of `at`. */
  readonly rollups: string;
  readonly start: string;
  readonly end: string;
}

const WAYS: Readonly<Record<TrendBucket, Way>> = {
  day: {
    points: 'days',
    otherPoints: `
      SELECT type, ${DATE_OF_HOUR} AS day, ${DATE_OF_HOUR} AS at, ${NUMBERS} FROM counted_hour GROUP BY 1, 2`,
    found: 'found AS (SELECT at, before FROM found_day)',
    rollups: `
      SELECT start_on AS at, count, sum, min, max FROM day_rollup
      WHERE user_id = $1 AND type = metric.type AND span = 'day' AND start_on >= lower AND start_on < upper
        AND start_on <= newest`,
    start: firstInstant('at::timestamp'),
    end: firstInstant('(at + 1)::timestamp'),
  },
  hour: {
    points: 'hours',
    otherPoints: `SELECT type, ${DATE_OF_HOUR} AS day, hour AS at, count, sum, min, max FROM counted_hour`,
    // Of the day that was found, the hour.
    found: toFound(
      'found',
      `SELECT 'hour' AS span, hour.at, count(*)::int AS points, before AS newer
       FROM found_day CROSS JOIN LATERAL (
         SELECT at FROM other_point WHERE day = found_day.at
         UNION ALL
         SELECT hour FROM metric JOIN inner_days USING (keyed) CROSS JOIN LATERAL (
           SELECT hour FROM hour_rollup
           WHERE user_id = $1 AND type = metric.type AND hour >= ${firstInstant('found_day.at::timestamp')}
             AND hour < ${firstInstant('(found_day.at + 1)::timestamp')}
           OFFSET 0
         ) AS rollup
         WHERE found_day.at >= lower AND found_day.at < upper
       ) AS hour
       GROUP BY hour.at, before`,
    ),
    rollups: `
      SELECT hour AS at, count, sum, min, max FROM hour_rollup
      WHERE user_id = $1 AND type = metric.type AND hour >= first_hour AND hour < end_hour AND hour <= newest`,
    start: firstInstantOfHour('at'),
    end: `(at + interval '1 hour')`,
  },
};

// A type has at most one point of a name, so one more than the page holds is enough of each.
const toText = ({ points, otherPoints, found, rollups, start, end }: Way) => `
  WITH ${PARTS}, ${COUNTED_HOURS},
  other_point AS MATERIALIZED (${otherPoints}),
  ${toFoundDay(points, "UNION ALL SELECT 'day', day, count(*) FROM other_point GROUP BY day")},
  ${found},
  page_start AS MATERIALIZED (
    SELECT at AS newest, before FROM found UNION ALL SELECT 'infinity', 0 WHERE $22 = 0
  ),
  point AS (
    SELECT type, at, count, sum, min, max FROM other_point, page_start WHERE at <= newest
    UNION ALL
    SELECT type, rollup.* FROM page_start CROSS JOIN metric JOIN inner_days USING (keyed) CROSS JOIN LATERAL (
      ${rollups} ORDER BY at DESC LIMIT $21::bigint + 1
    ) AS rollup
  ),
  page AS (
    SELECT point.*, place FROM point JOIN metric USING (type)
    ORDER BY at DESC, place LIMIT $21 OFFSET $22 - (SELECT before FROM page_start)
  ),
  shown AS (SELECT *, ${start} AS start, ${end} AS "end" FROM page)
  SELECT usable, time_zone, total, type, start, "end", count::int AS count, sum, min, max,
    extract(epoch FROM timezone($2, start) - timezone('UTC', start))::int AS start_offset,
    extract(epoch FROM timezone($2, "end") - timezone('UTC', "end"))::int AS end_offset
  FROM usable CROSS JOIN counted LEFT JOIN shown ON true
  ORDER BY at DESC, place`;

const TEXTS = { day: toText(WAYS.day), hour: toText(WAYS.hour) };

/** A row for each point of the page; a single row without a type when it is empty, or rollups are not usable. */
export function toTrend(query: SummaryQuery & Slice & { readonly bucket: TrendBucket }, cover: SummaryCover) {
  const { bucket, limit, offset } = query;
  return {
    name: `trend-${bucket}`,
    text: TEXTS[bucket],
    values: [...toSummaryValues(query, cover), limit, offset],
  };
}
