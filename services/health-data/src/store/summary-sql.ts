import type { MetricKey } from '@phds/catalog/metrics';
import { getMetric } from '@phds/catalog/metrics';
import type { SummaryQuery } from '../app/ports.ts';
import { lowerBound, upperBound } from './database.ts';

/**
 * Values $1 to $8 of both summaries: user, zone, window, beginning, and the metric types by how they are summarised:
 * averaged; added up by their start; added up by their end.
 */
export function toSummaryValues({ userId, metrics, timeZone, range, since }: SummaryQuery): unknown[] {
  const average: MetricKey[] = [];
  const byStart: MetricKey[] = [];
  const byEnd: MetricKey[] = [];
  for (const key of metrics) {
    const { kind, bucketBy } = getMetric(key);
    if (kind === 'average') average.push(key);
    else (bucketBy === 'end' ? byEnd : byStart).push(key);
  }
  return [
    userId,
    timeZone,
    lowerBound(range.from),
    upperBound(range.to),
    lowerBound(since),
    average,
    byStart,
    byEnd,
  ];
}

/** Readings of average types that count. */
export const AVERAGE_ROWS = `
  reading WHERE user_id = $1 AND type = ANY($6) AND value IS NOT NULL
    AND start_at >= greatest($3::timestamptz, $5::timestamptz) AND start_at < $4::timestamptz`;

/**
 * Common table expressions that end in \`additive_hour(type, hour, count, sum, min, max)\`: the hours of additive types
 * as they count, freed of what a second device counted again. Within a slot (the hour, for sleep the local date of
 * waking up) the source with the largest sum counts, the first by name of equal ones. date_trunc with three arguments
 * keeps the two hours apart that an autumn night calls by the same name.
 */
export const ADDITIVE_HOURS = `
  cell AS (
    SELECT type, source, date_trunc('hour', start_at, $2) AS hour, date_trunc('hour', start_at, $2) AS slot,
      count(*) AS count, sum(value) AS sum, min(value) AS min, max(value) AS max
    FROM reading WHERE user_id = $1 AND type = ANY($7) AND value IS NOT NULL
      AND start_at >= greatest($3::timestamptz, $5::timestamptz) AND start_at < $4::timestamptz
    GROUP BY 1, 2, 3
    UNION ALL
    SELECT type, source, date_trunc('hour', end_at, $2), date_trunc('day', end_at, $2),
      count(*), sum(value), min(value), max(value)
    FROM reading WHERE user_id = $1 AND type = ANY($8) AND value IS NOT NULL
      AND end_at >= $3::timestamptz AND end_at < $4::timestamptz
      AND start_at >= $5::timestamptz AND start_at < $4::timestamptz
    GROUP BY 1, 2, 3, 4
  ),
  counting_source AS (
    SELECT DISTINCT ON (type, slot) type, slot, source
    FROM (SELECT type, slot, source, sum(sum) AS sum FROM cell GROUP BY 1, 2, 3) AS slot_sum
    ORDER BY type, slot, round(sum::numeric, 3) DESC, source
  ),
  additive_hour AS (
    SELECT type, hour, count, sum, min, max FROM cell JOIN counting_source USING (type, slot, source)
  )`;

/**
 * The first instant of a local day, which is given as its midnight without a zone. Where an autumn night calls two
 * midnights by that name, timezone() means the second.
 */
export function firstInstant(day: string): string {
  return `(timezone($2, ${day}) - CASE WHEN timezone($2, timezone($2, ${day}) - interval '1 hour') = ${day}
    THEN interval '1 hour' ELSE interval '0' END)`;
}

/**
 * The first instant of what date_trunc calls an hour. It keeps the offset of the instant it is given: where the clock was
 * moved by half an hour, it goes back beyond that change, which stands at the full hour of the old time.
 */
export function firstInstantOfHour(hour: string): string {
  const past = `(timezone($2, ${hour}) - date_trunc('hour', timezone($2, ${hour})))`;
  return `(${hour} + CASE WHEN ${past} = interval '0' THEN interval '0' ELSE interval '1 hour' - ${past} END)`;
}
