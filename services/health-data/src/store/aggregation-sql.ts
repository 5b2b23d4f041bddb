import type { SummaryQuery } from '../app/ports.ts';
import type { SummaryCover } from '../domain/summary-cover.ts';
import { notBefore } from '../domain/window.ts';
import { lowerBound, upperBound } from './database.ts';
import {
  COUNTED_HOURS,
  DATE_OF_HOUR,
  firstInstant,
  PARTS,
  toSpanRows,
  toSummaryValues,
} from './summary-sql.ts';

// Besides the values of summary-sql.ts: $21 and $22, between which the newest reading is looked for.

// The sum of a day is rounded before it is judged: binary noise must not put a total below a limit that it meets. In
// rollups it is rounded already; those of months and longer describe an additive type by its days.
const AGGREGATION = `
  WITH ${PARTS}, ${COUNTED_HOURS},
  day AS (
    SELECT type, low, high, ${DATE_OF_HOUR} AS day, round(sum(sum)::numeric, 3)::float8 AS value
    FROM counted_hour JOIN metric USING (type) WHERE kind = 'additive' GROUP BY 1, 2, 3, 4
  ),
  part AS (
    SELECT type, count, sum, min, max, below, above FROM counted_hour JOIN metric USING (type) WHERE kind = 'average'
    UNION ALL
    SELECT type, 1, value, value, value, coalesce((value < low)::int, 0), coalesce((value > high)::int, 0) FROM day
    UNION ALL
    SELECT type, CASE kind WHEN 'additive' THEN days ELSE count END, sum,
      CASE WHEN kind = 'additive' AND span = 'day' THEN sum ELSE min END,
      CASE WHEN kind = 'additive' AND span = 'day' THEN sum ELSE max END, below, above
    FROM ${toSpanRows('count, sum, min, max, below, above, days')}
  ),
  newest_day AS (
    SELECT DISTINCT ON (type) type, ${firstInstant('day::timestamp')} AS at, value
    FROM (
      SELECT type, day, value FROM day
      UNION ALL
      SELECT type, start_on, sum FROM metric JOIN inner_days USING (keyed) CROSS JOIN LATERAL (
        SELECT start_on, sum FROM day_rollup
        WHERE user_id = $1 AND type = metric.type AND span = 'day' AND start_on >= lower AND start_on < upper
        ORDER BY start_on DESC LIMIT 1
      ) AS rollup
      WHERE kind = 'additive'
    ) AS newest
    ORDER BY type, day DESC
  ),
  newest_reading AS (
    SELECT type, at, value FROM metric CROSS JOIN LATERAL (
      SELECT start_at AS at, value FROM reading
      WHERE user_id = $1 AND type = metric.type AND value IS NOT NULL AND start_at >= $21 AND start_at < $22
      ORDER BY start_at DESC, id DESC LIMIT 1
    ) AS newest
    WHERE kind = 'average'
  ),
  newest AS (SELECT * FROM newest_day UNION ALL SELECT * FROM newest_reading),
  summary AS (
    SELECT type, sum(count)::int AS count, sum(sum) AS sum, min(min) AS min, max(max) AS max, sum(below)::int AS below,
      sum(above)::int AS above
    FROM part GROUP BY type
  )
  SELECT usable, time_zone, summary.*, newest.at, newest.value AS latest
  FROM usable LEFT JOIN (summary JOIN newest USING (type)) ON true`;

/** One row a metric type with readings; a single row without a type when there is none, or rollups are not usable. */
export function toAggregation(query: SummaryQuery, cover: SummaryCover) {
  const { from, to } = notBefore(query.range, query.since);
  const spans = cover.spans.map((run) => ({
    ...run,
    span: run.from === null && run.to === null ? ('all' as const) : run.span,
  }));
  return {
    name: 'aggregation',
    text: AGGREGATION,
    values: [...toSummaryValues(query, { ...cover, spans }), lowerBound(from), upperBound(to)],
  };
}
