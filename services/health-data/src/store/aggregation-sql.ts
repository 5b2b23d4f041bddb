import type { SummaryQuery } from '../app/ports.ts';
import type { SummaryCover } from '../domain/summary-cover.ts';
import { notBefore } from '../domain/window.ts';
import { lowerBound, upperBound } from './database.ts';
import { toNewest } from './reading-order-sql.ts';
import {
  ADDITIVE_HOURS,
  DATE_OF_HOUR,
  firstInstant,
  PARTS,
  toHourRows,
  toReadings,
  toSpanRows,
  toSummaryValues,
} from './summary-sql.ts';

// Besides the values of summary-sql.ts: $21 and $22, between which the newest reading is looked for.

const OF_HOURS = 'sum(count), sum(sum), min(min), max(max), sum(below), sum(above)';

// A month and longer describe an additive type by its days, a day is described by its sum.
const OF_SPANS = `
  sum(CASE kind WHEN 'additive' THEN days ELSE count END), sum(sum),
  min(CASE WHEN kind = 'additive' AND run.span = 'day' THEN sum ELSE min END),
  max(CASE WHEN kind = 'additive' AND run.span = 'day' THEN sum ELSE max END), sum(below), sum(above)`;

const IF_ANY = 'HAVING count(*) > 0';

// The sum of a day is rounded before it is judged: binary noise must not put a total below a limit that it meets. In
// rollups it is rounded already.
const AGGREGATION = `
  WITH ${PARTS}, ${ADDITIVE_HOURS},
  day AS (
    SELECT type, low, high, ${DATE_OF_HOUR} AS day, round(sum(sum)::numeric, 3)::float8 AS value
    FROM additive_hour JOIN metric USING (type) GROUP BY 1, 2, 3, 4
  ),
  part AS (
    SELECT type, count(*) AS count, sum(value) AS sum, min(value) AS min, max(value) AS max,
      count(*) FILTER (WHERE value < low) AS below, count(*) FILTER (WHERE value > high) AS above
    FROM ${toReadings('average')}
    GROUP BY type
    UNION ALL
    SELECT type, rollup.* FROM ${toHourRows('average', OF_HOURS, IF_ANY)}
    UNION ALL
    SELECT type, 1, value, value, value, coalesce((value < low)::int, 0), coalesce((value > high)::int, 0) FROM day
    UNION ALL
    SELECT type, rollup.* FROM ${toSpanRows(OF_SPANS, IF_ANY)}
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
    SELECT metric.type, start_at AS at, value FROM metric CROSS JOIN LATERAL (
      ${toNewest(
        'user_id = $1 AND type = metric.type AND value IS NOT NULL AND start_at >= $21 AND start_at < $22',
        { limit: '1' },
      )}
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
