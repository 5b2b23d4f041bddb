import type { MetricKind } from '@phds/catalog/metrics';
import { getMetric } from '@phds/catalog/metrics';
import type { SummaryQuery } from '../app/ports.ts';
import type { Span } from '../domain/span-cover.ts';
import type { KeyedBy, SummaryCover } from '../domain/summary-cover.ts';
import type { Range } from '../domain/window.ts';
import { lowerBound, upperBound } from './database.ts';
import { ROLLUP_VERSION } from './rollup-version.ts';

// What the summaries share: values $1 to $20, and common table expressions over them. A cover says which part of an answer
// comes from the readings and which from rollups; nothing is in both.

/** Rollups of one span; `all` is the span without beginning and end. */
interface RollupRun extends Range {
  readonly by: KeyedBy;
  readonly span: Span | 'all';
}

/** Values $1 to $20: the user, the zone, the rollups' version; the metric types; the cover; the rollups' zone. */
export function toSummaryValues(
  { userId, timeZone, metrics, since }: Omit<SummaryQuery, 'askedBy' | 'range'>,
  {
    readings,
    hours,
    spans,
    rollupZone,
  }: Omit<SummaryCover, 'spans'> & { readonly spans: readonly RollupRun[] },
): unknown[] {
  const types = metrics.map(getMetric);
  return [
    userId,
    timeZone,
    ROLLUP_VERSION,
    metrics,
    types.map(({ kind }) => kind),
    types.map(({ bucketBy }) => bucketBy),
    types.map(({ referenceRange }) => referenceRange?.low ?? null),
    types.map(({ referenceRange }) => referenceRange?.high ?? null),
    lowerBound(since),
    readings.map(({ by }) => by),
    readings.map(({ from }) => lowerBound(from)),
    readings.map(({ to }) => upperBound(to)),
    spans.map(({ by }) => by),
    spans.map(({ span }) => span),
    spans.map(({ from }) => lowerBound(from)),
    spans.map(({ to }) => upperBound(to)),
    hours.map(({ by }) => by),
    hours.map(({ from }) => lowerBound(from)),
    hours.map(({ to }) => upperBound(to)),
    rollupZone,
  ];
}

/**
 * The parts of a summary: `metric(type, kind, keyed, low, high, place)`; `stretch(keyed, lower, upper, earliest)` of
 * readings, which start at `earliest` or later; `run(keyed, span, lower, upper)` of spans and `hour_run(keyed, lower, upper)`
 * of hours in rollups; `inner_days(keyed, lower, upper, first_hour, end_hour)`, which the spans together cover; `usable(usable,
 * time_zone)`: whether there are rollups of this version and the zone of the cover, where any are asked for, and of which zone
 * there are. Without usable ones there are no runs.
 *
 * No interval is longer than a day (reading.ts), so a reading whose end counts starts at most that long before the stretch.
 * Being usable is part of the statement, so it is true of the very snapshot that is read.
 */
export const PARTS = `
  metric AS MATERIALIZED (
    SELECT * FROM unnest($4::text[], $5::text[], $6::text[], $7::float8[], $8::float8[]) WITH ORDINALITY
      AS metric(type, kind, keyed, low, high, place)
  ),
  stretch AS MATERIALIZED (
    SELECT *, greatest($9::timestamptz, lower - CASE keyed WHEN 'end' THEN interval '24 hours' ELSE interval '0' END) AS earliest
    FROM unnest($10::text[], $11::timestamptz[], $12::timestamptz[]) AS stretch(keyed, lower, upper)
  ),
  usable AS MATERIALIZED (
    SELECT cardinality($13::text[] || $17::text[]) = 0 OR coalesce(time_zone = $20, false) AS usable, time_zone
    FROM (VALUES ($1)) AS person(user_id)
    LEFT JOIN rollup_state ON rollup_state.user_id = person.user_id AND version = $3
  ),
  run AS MATERIALIZED (
    SELECT run.* FROM unnest($13::text[], $14::text[], $15::date[], $16::date[]) AS run(keyed, span, lower, upper), usable
    WHERE usable
  ),
  inner_days AS MATERIALIZED (
    SELECT *, ${firstInstant('lower::timestamp')} AS first_hour, ${firstInstant('upper::timestamp')} AS end_hour
    FROM (SELECT keyed, min(lower) AS lower, max(upper) AS upper FROM run GROUP BY keyed) AS inner_run
  ),
  hour_run AS MATERIALIZED (
    SELECT hour_run.* FROM unnest($17::text[], $18::timestamptz[], $19::timestamptz[]) AS hour_run(keyed, lower, upper), usable
    WHERE usable
  )`;

// OFFSET 0 keeps a subquery apart, so that each stretch or run is looked up by its own bounds whatever the planner guesses.

/** Readings of the stretches, of the types of a kind, that have a value. */
export function toReadings(kind: MetricKind): string {
  return `
    metric JOIN stretch USING (keyed) CROSS JOIN LATERAL (
      SELECT source, value, CASE keyed WHEN 'end' THEN end_at ELSE start_at END AS at FROM reading
      WHERE user_id = $1 AND type = metric.type AND value IS NOT NULL
        AND start_at >= earliest AND start_at < upper AND (keyed = 'start' OR (end_at >= lower AND end_at < upper))
      OFFSET 0
    ) AS reading
    WHERE kind = '${kind}'`;
}

/** Rows of `columns` of rollups of days and longer, or aggregates of them for each metric type and run. */
export function toSpanRows(columns: string, having = ''): string {
  return `
    metric JOIN run USING (keyed) CROSS JOIN LATERAL (
      SELECT ${columns} FROM day_rollup
      WHERE user_id = $1 AND type = metric.type AND span = run.span AND start_on >= lower AND start_on < upper
      ${having} OFFSET 0
    ) AS rollup`;
}

/** Rows of `columns` of rollups of hours, of the types of a kind, or aggregates of them for each metric type and run. */
export function toHourRows(kind: MetricKind, columns: string, having = ''): string {
  return `
    metric JOIN hour_run USING (keyed) CROSS JOIN LATERAL (
      SELECT ${columns} FROM hour_rollup
      WHERE user_id = $1 AND type = metric.type AND hour >= lower AND hour < upper
      ${having} OFFSET 0
    ) AS rollup
    WHERE kind = '${kind}'`;
}

/**
 * Common table expressions that end in `additive_hour(type, hour, count, sum, min, max)`: the hours of additive types that no
 * day of the rollups holds, freed of what a second device counted again: within a slot (the hour, for sleep the local date
 * of waking up) the source with the largest sum counts, the first by name of equal ones. date_trunc with three arguments
 * keeps the two hours apart that an autumn night calls by the same name.
 */
export const ADDITIVE_HOURS = `
  cell AS (
    SELECT type, source, date_trunc('hour', at, $2) AS hour,
      date_trunc(CASE keyed WHEN 'end' THEN 'day' ELSE 'hour' END, at, $2) AS slot,
      count(*) AS count, sum(value) AS sum, min(value) AS min, max(value) AS max
    FROM ${toReadings('additive')}
    GROUP BY 1, 2, 3, 4
  ),
  ranked AS (
    SELECT *, rank() OVER (PARTITION BY type, slot ORDER BY round(source_sum::numeric, 3) DESC, source) AS place
    FROM (SELECT *, sum(sum) OVER (PARTITION BY type, slot, source) AS source_sum FROM cell) AS summed
  ),
  additive_hour AS (
    SELECT type, hour, count, sum, min, max FROM ranked WHERE place = 1
    UNION ALL
    SELECT type, rollup.* FROM ${toHourRows('additive', 'hour, count, sum, min, max')}
  )`;

/** The local date of what date_trunc calls an hour. */
export const DATE_OF_HOUR = 'timezone($2, hour)::date';

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
