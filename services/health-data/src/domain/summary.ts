import { type Metric, type MetricKey, roundToDecimals } from '@phds/catalog/metrics';
import { offsetMinutesAt } from './time-zone.ts';
import type { Range } from './window.ts';

/** The aggregated rows of one metric type, with unrounded numbers from the database. */
export interface MetricSummary {
  readonly metric: MetricKey;
  /** Number of readings for an average type, of days for an additive one. */
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  /** Number below and above the reference range; 0 if the type has none. */
  readonly below: number;
  readonly above: number;
  /**
   * The value and the start of the newest reading. For an additive type, the total of the newest day in the window and the first instant
   * of that whole day.
   */
  readonly latest: number;
  readonly latestAt: Date;
}

/** One bucket of a trend, whole even where the window cuts it, with unrounded numbers. */
export interface TrendPoint {
  readonly metric: MetricKey;
  readonly start: Date;
  readonly startOffsetMinutes: number;
  readonly end: Date;
  readonly endOffsetMinutes: number;
  /** Number of readings that counted. */
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

/** The point with `start` and `end` limited to the range; its numbers already refer to that part. */
export function cutToRange(point: TrendPoint, { from, to }: Range, timeZone: string): TrendPoint {
  const cuts = (at: Date | null): at is Date => at !== null && at > point.start && at < point.end;
  return {
    ...point,
    ...(cuts(from) ? { start: from, startOffsetMinutes: offsetMinutesAt(from, timeZone) } : {}),
    ...(cuts(to) ? { end: to, endOffsetMinutes: offsetMinutesAt(to, timeZone) } : {}),
  };
}

/** The four numbers of a summary or a point as returned. */
export interface Statistics {
  readonly average: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
}

/** Rounds to the type's decimals, the average to one more. */
export function toStatistics(
  metric: Metric,
  raw: { readonly count: number; readonly sum: number; readonly min: number; readonly max: number },
): Statistics {
  // Stored values are multiples of the last decimal. In these units the sum is exact, and so is an average that ends in a half.
  const scale = 10 ** metric.decimals;
  const units = Math.round(raw.sum * scale);
  return {
    average: Math.round((units * 10) / raw.count) / (scale * 10),
    min: roundToDecimals(raw.min, metric.decimals),
    max: roundToDecimals(raw.max, metric.decimals),
    sum: units / scale,
  };
}
