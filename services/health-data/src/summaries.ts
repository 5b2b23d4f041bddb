import { getMetric, METRICS, type Metric, type MetricKey, roundToDecimals } from '@phds/catalog/metrics';
import type { TrendBucket } from '@phds/catalog/wire-names';
import { createTurns, type TurnLimits, type Turns } from '@phds/service-kit/batcher';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { toHalf } from '@phds/service-kit/postgres/postgres';
import { readStatement, type Statement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { isUnknownZone, lowerBound, readWithin, upperBound } from './database.ts';
import { formatWithOffset, offsetMinutesAt } from './dates.ts';
import { type Answer, type Page, type Slice, toListAnswer, toTimedObjectAnswer } from './document.ts';
import { findOwnWindow, findSince, type Profiles, toSlice } from './profiles.ts';
import { countReadings } from './reading-counts.ts';
import type { DataRequest } from './request.ts';
import { INVERTED, isInvertedIn, notBefore, type Range, splitRange, toInstantsIn } from './window.ts';

interface SummaryParts {
  readonly summaries: Summaries;
  readonly profiles: Profiles;
  readonly clock: Clock;
}

/** The summary of all readings: one entry for each metric type, in catalog order. */
export async function readAggregations(
  parts: SummaryParts,
  request: DataRequest,
): Promise<Answer | AppError> {
  const query = await toSummaryQuery(parts.profiles, request);
  if (query instanceof AppError) return query;
  const { from, to } = notBefore(query.range, query.since);
  const summaries = await parts.summaries.summarise(query);
  const metrics = summaries.map((summary) => presentSummary(summary, from));
  const data = {
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    timeZone: query.timeZone,
    generatedAt: parts.clock.now().toISOString(),
    metrics,
  };
  return toTimedObjectAnswer(data, 'generatedAt', metrics.length);
}

/** Hourly or daily points, newest first. */
export async function readTrends(parts: SummaryParts, request: DataRequest): Promise<Answer | AppError> {
  const { parameters } = request;
  const { bucket } = parameters;
  const query = await toSummaryQuery(parts.profiles, request);
  if (query instanceof AppError) return query;
  const page = await parts.summaries.trend({ ...query, bucket, ...toSlice(parameters) });
  const seen = notBefore(query.range, query.since);
  const items = page.items.map((point) => presentPoint(cutToRange(point, seen, query.timeZone), bucket));
  return toListAnswer(items, { ...parameters, total: page.total });
}

async function toSummaryQuery(profiles: Profiles, request: DataRequest): Promise<SummaryQuery | AppError> {
  const { askedBy, userId, parameters } = request;
  const { window, metric } = parameters;
  const { timeZone, since } = await findZoneAndSince(profiles, request);
  if (isInvertedIn(window, timeZone)) return invalidRequest([INVERTED]);
  return {
    askedBy,
    userId,
    metrics: metric === null ? METRICS.map(({ key }) => key) : [metric.key],
    timeZone,
    range: toInstantsIn(window, timeZone),
    since,
  };
}

async function findZoneAndSince(profiles: Profiles, request: DataRequest) {
  const { timeZone } = request.parameters;
  if (timeZone === null) return findOwnWindow(profiles, request);
  return { timeZone, since: await findSince(profiles, request) };
}

function presentSummary(summary: MetricSummary, from: Date | null) {
  // The newest day of an additive type may start before the window does.
  const latestAt = from !== null && summary.latestAt < from ? from : summary.latestAt;
  const metric = getMetric(summary.metric);
  const { average, min, max, sum } = toStatistics(metric, summary);
  return {
    type: metric.name,
    category: metric.category,
    unit: metric.unit,
    basis: metric.kind === 'additive' ? 'day' : 'reading',
    count: summary.count,
    latest: {
      value: roundToDecimals(summary.latest, metric.decimals),
      timestamp: latestAt.toISOString(),
    },
    average,
    min,
    max,
    sum,
    referenceRange: metric.referenceRange,
    outOfRange: presentOutOfRange(metric, summary),
  };
}

function presentOutOfRange(metric: Metric, { below, above }: MetricSummary) {
  return metric.referenceRange === null ? null : { below, above, total: below + above };
}

/** A trend point with exactly the public fields. */
export function presentPoint(point: TrendPoint, bucket: TrendBucket) {
  const metric = getMetric(point.metric);
  const { average, min, max, sum } = toStatistics(metric, point);
  return {
    type: metric.name,
    bucket,
    start: formatWithOffset(point.start, point.startOffsetMinutes),
    end: formatWithOffset(point.end, point.endOffsetMinutes),
    unit: metric.unit,
    count: point.count,
    value: metric.kind === 'additive' ? sum : average,
    average,
    min,
    max,
    sum,
  };
}

/** Limits of large summaries. */
export interface ScanLimits extends Pick<TurnLimits, 'maxPerKey' | 'maxWaitMs'> {
  /** Milliseconds. */
  readonly statementTimeoutMs: number;
}

/** Maximum number of these at once, if the pool has twice as many connections; one app uses at most half of the slots. */
const SCANS = 4;

/** Summaries of longer periods of more readings than this are large: they take up to a second. */
const LARGE_MS = 2 * 366 * 86_400_000;
const LARGE_READINGS = 300_000;

export type Summaries = ReturnType<typeof createSummaries>;

/**
 * Computes summaries from quarter hours, and from readings where a window cuts one. For additive types, duplicates are removed
 * first: in each local hour the source with the largest sum counts; for sleep in each local date of waking up, because one
 * interval spans many hours. The duration grows with the number of
 * quarter hours, so only a few large ones run at once, shared fairly between apps, and other work finds connections. Other statements
 * take turns in `reads`.
 */
export function createSummaries(pool: pg.Pool, limits: ScanLimits, reads?: Turns) {
  const atOnce = Math.min(SCANS, toHalf(pool));
  const turns = createTurns({ ...limits, atOnce, perKey: Math.ceil(atOnce / 2) });
  const isLarge = async ({ userId, metrics, range, since }: SummaryQuery) => {
    const { from, to } = notBefore(range, since);
    if (from !== null && to !== null && to.getTime() - from.getTime() <= LARGE_MS) return false;
    return (await countReadings(pool, userId, metrics, from)) > LARGE_READINGS;
  };
  const ask = async <Row extends pg.QueryResultRow>(query: SummaryQuery, statement: SummaryStatement) => {
    const { askedBy } = query;
    if (await isLarge(query)) {
      const scan = (client: pg.ClientBase) => asked(client.query<Row>(statement));
      return (await turns(askedBy, () => readWithin(pool, limits.statementTimeoutMs, scan))).rows;
    }
    const ask = () => asked(pool.query<Row>(statement));
    return (await (reads?.(askedBy, ask) ?? ask())).rows;
  };
  return {
    /** One for each metric type with readings, in the order of `metrics`. */
    async summarise(query: SummaryQuery): Promise<readonly MetricSummary[]> {
      const rows = await ask<MetricSummary>(query, toAggregation(query));
      const byType = new Map(rows.map((row) => [row.metric, row]));
      return query.metrics.flatMap((metric) => byType.get(metric) ?? []);
    },
    /** Newest first, then in the order of `metrics`; buckets without readings are omitted. */
    async trend(query: SummaryQuery & Slice & { readonly bucket: TrendBucket }): Promise<Page<TrendPoint>> {
      const rows = await ask<(TrendPoint | NoPoint) & { total: number }>(query, toTrend(query));
      const items = rows.filter((row) => row.metric !== null);
      return { items, total: rows[0]?.total ?? 0 };
    },
  };
}

/** Postgres may lack a zone that JavaScript knows; that is an invalid parameter, not an internal error. */
async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!isUnknownZone(error)) throw error;
    throw invalidRequest('timeZone', 'is not a known time zone');
  }
}

interface NoPoint {
  readonly metric: null;
}

/** The aggregated rows of one metric type, with unrounded numbers from the database. */
interface MetricSummary {
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
interface TrendPoint {
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
function cutToRange(point: TrendPoint, { from, to }: Range, timeZone: string): TrendPoint {
  const cuts = (at: Date | null): at is Date => at !== null && at > point.start && at < point.end;
  return {
    ...point,
    ...(cuts(from) ? { start: from, startOffsetMinutes: offsetMinutesAt(from, timeZone) } : {}),
    ...(cuts(to) ? { end: to, endOffsetMinutes: offsetMinutesAt(to, timeZone) } : {}),
  };
}

/** The four numbers of a summary or a point as returned. */
interface Statistics {
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
interface SummaryStatement extends Statement {
  readonly values: unknown[];
}

function toAggregation(query: SummaryQuery): SummaryStatement {
  const { from, to } = notBefore(query.range, query.since);
  return { ...AGGREGATION, values: [...toSharedValues(query), lowerBound(from), upperBound(to)] };
}

function toTrend(query: SummaryQuery & Slice & { readonly bucket: TrendBucket }): SummaryStatement {
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

// No interval that is keyed by its end is longer (ingest-readings.ts).
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
