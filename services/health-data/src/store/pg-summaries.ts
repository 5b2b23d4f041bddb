import type { MetricKey } from '@phds/catalog/metrics';
import { getMetric } from '@phds/catalog/metrics';
import { invalidRequest } from '@phds/service-kit/errors';
import type pg from 'pg';
import type { SummaryReader } from '../app/ports.ts';
import type { MetricSummary, TrendPoint } from '../domain/summary.ts';
import { translated } from './database.ts';
import {
  ADDITIVE_HOURS,
  AVERAGE_ROWS,
  firstInstant,
  firstInstantOfHour,
  toSummaryValues,
} from './summary-sql.ts';

// $9 the bucket, $10 every metric type in order, $11 and $12 the slice. A bucket ends where the next local one begins;
// local time is ahead of UTC by the offset of that instant.
const TREND = `
  WITH ${ADDITIVE_HOURS},
  point AS (
    SELECT type, date_trunc($9, start_at, $2) AS start, count(*) AS count, sum(value) AS sum, min(value) AS min,
      max(value) AS max
    FROM ${AVERAGE_ROWS} GROUP BY 1, 2
    UNION ALL
    SELECT type, CASE $9 WHEN 'hour' THEN hour ELSE date_trunc('day', hour, $2) END, sum(count)::bigint, sum(sum), min(min),
      max(max)
    FROM additive_hour GROUP BY 1, 2
  ),
  page AS (
    SELECT type, count, sum, min, max,
      CASE $9 WHEN 'hour' THEN ${firstInstantOfHour('start')} ELSE ${firstInstant('local_day')} END AS start,
      CASE $9 WHEN 'hour' THEN start + interval '1 hour'
        ELSE ${firstInstant("(local_day + interval '1 day')")} END AS "end"
    FROM point, LATERAL (SELECT date_trunc('day', timezone($2, start)) AS local_day) AS local
    ORDER BY point.start DESC, array_position($10::text[], type) LIMIT $11 OFFSET $12
  )
  SELECT counted.total, page.type, page.start, page."end", page.count, page.sum, page.min, page.max,
    extract(epoch FROM timezone($2, page.start) - timezone('UTC', page.start))::int AS start_offset,
    extract(epoch FROM timezone($2, page."end") - timezone('UTC', page."end"))::int AS end_offset
  FROM (SELECT count(*) FROM point) AS counted(total) LEFT JOIN page ON true
  ORDER BY page.start DESC, array_position($10::text[], page.type)`;

// $9 to $11 the metric types with a range and its ends. The sum of a day is rounded before it is judged: binary noise
// must not put a total below a limit that it meets.
const SUMMARY = `
  WITH ${ADDITIVE_HOURS},
  normal AS (SELECT * FROM unnest($9::text[], $10::float8[], $11::float8[]) AS range(type, low, high)),
  day AS (
    SELECT type, date_trunc('day', hour, $2) AS start, round(sum(sum)::numeric, 3)::float8 AS value
    FROM additive_hour GROUP BY 1, 2
  ),
  newest_day AS (
    SELECT DISTINCT ON (type) type, ${firstInstant("date_trunc('day', timezone($2, start))")} AS at, value
    FROM day ORDER BY type, start DESC
  ),
  newest_reading AS (
    SELECT wanted.type, newest.at, newest.value FROM unnest($6::text[]) AS wanted(type),
    LATERAL (
      SELECT start_at AS at, value FROM reading WHERE user_id = $1 AND type = wanted.type AND value IS NOT NULL
        AND start_at >= greatest($3::timestamptz, $5::timestamptz) AND start_at < $4::timestamptz
      ORDER BY start_at DESC, id DESC LIMIT 1
    ) AS newest
  ),
  counted AS (SELECT type, value FROM ${AVERAGE_ROWS} UNION ALL SELECT type, value FROM day),
  newest AS (SELECT * FROM newest_day UNION ALL SELECT * FROM newest_reading)
  SELECT type, count(*) AS count, sum(counted.value) AS sum, min(counted.value) AS min, max(counted.value) AS max,
    count(*) FILTER (WHERE counted.value < normal.low) AS below,
    count(*) FILTER (WHERE counted.value > normal.high) AS above,
    any_value(newest.at) AS at, any_value(newest.value) AS latest
  FROM counted JOIN newest USING (type) LEFT JOIN normal USING (type)
  GROUP BY type`;

/** Summaries computed by SQL over the raw readings. */
export function createPgSummaries(pool: pg.Pool): SummaryReader {
  return {
    summarise: (query) =>
      translated(async () => {
        const values = [...toSummaryValues(query), ...toRanges(query.metrics)];
        const { rows } = await asked(pool.query<SummaryRow>({ name: 'summary', text: SUMMARY, values }));
        const byType = new Map(rows.map((row) => [row.type, toSummary(row)]));
        return query.metrics.flatMap((metric) => byType.get(metric) ?? []);
      }),
    trend: (query) =>
      translated(async () => {
        const { bucket, metrics, limit, offset } = query;
        const values = [...toSummaryValues(query), bucket, metrics, limit, offset];
        const { rows } = await asked(pool.query<TrendRow>({ name: 'trend', text: TREND, values }));
        return { items: rows.filter(isPoint).map(toPoint), total: Number(rows[0]?.total ?? 0) };
      }),
  };
}

const UNKNOWN_ZONE = '22023';

/** Postgres may lack a zone that the language knows: that is the caller's parameter, not our fault. */
async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNKNOWN_ZONE) throw error;
    throw invalidRequest('timeZone', 'is not a known time zone');
  }
}

function toRanges(metrics: readonly MetricKey[]): [MetricKey[], number[], number[]] {
  const ranged = metrics.flatMap((key) => {
    const range = getMetric(key).referenceRange;
    return range === null ? [] : [{ key, ...range }];
  });
  return [ranged.map(({ key }) => key), ranged.map(({ low }) => low), ranged.map(({ high }) => high)];
}

/** bigint columns arrive as texts. */
interface SummaryRow {
  type: MetricKey;
  count: string;
  sum: number;
  min: number;
  max: number;
  below: string;
  above: string;
  at: Date;
  latest: number;
}

function toSummary(row: SummaryRow): MetricSummary {
  const { type: metric, sum, min, max } = row;
  return {
    metric,
    count: Number(row.count),
    sum,
    min,
    max,
    below: Number(row.below),
    above: Number(row.above),
    latest: { value: row.latest, at: row.at },
  };
}

interface PointRow {
  total: string;
  type: MetricKey;
  start: Date;
  end: Date;
  count: string;
  sum: number;
  min: number;
  max: number;
  start_offset: number;
  end_offset: number;
}

type TrendRow = PointRow | { total: string; type: null };

function isPoint(row: TrendRow): row is PointRow {
  return row.type !== null;
}

function toPoint(row: PointRow): TrendPoint {
  const { type: metric, start, end, sum, min, max } = row;
  return {
    metric,
    start,
    startOffsetMinutes: Math.trunc(row.start_offset / 60),
    end,
    endOffsetMinutes: Math.trunc(row.end_offset / 60),
    count: Number(row.count),
    sum,
    min,
    max,
  };
}
