import { getMetric, type MetricKey } from '@phds/catalog/metrics';
import type { TrendBucket } from '@phds/catalog/wire-names';
import { readStatement, type Statement } from '@phds/service-kit/postgres/sql';
import { lowerBound, upperBound } from './database.ts';
import type { Slice } from './document.ts';
import { notBefore, type Range, splitRange } from './domain/window.ts';

export interface SummaryQuery {
  /** The app or person that asks; scarce resources are shared fairly between them. */
  readonly askedBy: string;
  readonly userId: string;
  readonly metrics: readonly MetricKey[];
  readonly timeZone: string;
  /** Filters by the instant that determines the bucket: the start, for sleep the end. */
  readonly range: Range;
  /** Readings that start earlier do not count; null for no limit. */
  readonly since: Date | null;
}

const AGGREGATION = readStatement(new URL('sql/aggregation.sql', import.meta.url));

const TRENDS: Readonly<Record<TrendBucket, Statement>> = {
  day: readStatement(new URL('sql/trend-day.sql', import.meta.url)),
  hour: readStatement(new URL('sql/trend-hour.sql', import.meta.url)),
};

/** A statement with its values. */
export interface SummaryStatement extends Statement {
  readonly values: unknown[];
}

export function toAggregation(query: SummaryQuery): SummaryStatement {
  const { from, to } = notBefore(query.range, query.since);
  return { ...AGGREGATION, values: [...toSharedValues(query), lowerBound(from), upperBound(to)] };
}

export function toTrend(query: SummaryQuery & Slice & { readonly bucket: TrendBucket }): SummaryStatement {
  return { ...TRENDS[query.bucket], values: [...toSharedValues(query), query.limit, query.offset] };
}

/** Values $1 to $14, shared by the statements. */
function toSharedValues({ userId, timeZone, metrics, since, range }: SummaryQuery): unknown[] {
  const types = metrics.map(getMetric);
  const parts = [...new Set(types.map(({ bucketBy }) => bucketBy))].map((by) => toParts(by, range, since));
  const readings = parts.flatMap((part) => part.readings);
  const quarters = parts.flatMap((part) => part.quarters);
  return [
    userId,
    timeZone,
    metrics,
    types.map(({ kind }) => kind),
    types.map(({ bucketBy }) => bucketBy),
    types.map(({ referenceRange }) => referenceRange?.low ?? null),
    types.map(({ referenceRange }) => referenceRange?.high ?? null),
    lowerBound(since),
    readings.map(({ by }) => by),
    readings.map(({ from }) => lowerBound(from)),
    readings.map(({ to }) => upperBound(to)),
    quarters.map(({ by }) => by),
    quarters.map(({ from }) => lowerBound(from)),
    quarters.map(({ to }) => upperBound(to)),
  ];
}

type KeyedBy = 'start' | 'end';

const QUARTER_MS = 900_000;

// No interval that is keyed by its end is longer (reading.ts).
const LONGEST_MS = 86_400_000;

/**
 * The parts of a summary, which do not overlap: the quarter hours, and what is summed up from readings, where the range cuts a quarter hour and
 * where an interval may end in the range that starts before `since`.
 */
function toParts(by: KeyedBy, range: Range, since: Date | null) {
  const within = notBefore(range, since);
  const settled = by === 'start' || since === null ? null : new Date(since.getTime() + LONGEST_MS);
  const later = notBefore(within, settled);
  const unsettled = later === within ? [] : [{ from: within.from, to: later.from }];
  const { whole, edges } = splitRange(later, QUARTER_MS);
  const keyed = (ranges: readonly Range[]) => ranges.map((one) => ({ ...one, by }));
  return { readings: keyed([...unsettled, ...edges]), quarters: keyed(whole === null ? [] : [whole]) };
}
