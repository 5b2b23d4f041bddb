import type { Metric } from '@phds/catalog/metrics';
import { getMetric, METRICS, roundToDecimals } from '@phds/catalog/metrics';
import type { TrendBucket } from '@phds/catalog/wire-names';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import type { MetricSummary, TrendPoint } from '../domain/summary.ts';
import { cutToRange, toStatistics } from '../domain/summary.ts';
import { formatWithOffset } from '../domain/time-zone.ts';
import { INVERTED, isInvertedIn, notBefore, toInstantsIn } from '../domain/window.ts';
import type { DataRequest } from './data-request.ts';
import { findOwnWindow, findSince, toSlice } from './data-window.ts';
import { type Answer, toListAnswer, toTimedObjectAnswer } from './document.ts';
import type { ProfileStore, SummaryQuery, SummaryReader } from './ports.ts';

interface SummaryPorts {
  readonly summaries: SummaryReader;
  readonly profiles: ProfileStore;
  readonly clock: Clock;
}

/** The summary of all readings: one entry for each metric type, in catalog order. */
export async function readAggregations(
  ports: SummaryPorts,
  request: DataRequest,
): Promise<Answer | AppError> {
  const query = await toSummaryQuery(ports.profiles, request);
  if (query instanceof AppError) return query;
  const { from, to } = notBefore(query.range, query.since);
  const summaries = await ports.summaries.summarise(query);
  const metrics = summaries.map((summary) => presentSummary(summary, from));
  const data = {
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    timeZone: query.timeZone,
    generatedAt: ports.clock.now().toISOString(),
    metrics,
  };
  return toTimedObjectAnswer(data, 'generatedAt', metrics.length);
}

/** Hourly or daily points, newest first. */
export async function readTrends(ports: SummaryPorts, request: DataRequest): Promise<Answer | AppError> {
  const { parameters } = request;
  const { bucket } = parameters;
  const query = await toSummaryQuery(ports.profiles, request);
  if (query instanceof AppError) return query;
  const page = await ports.summaries.trend({ ...query, bucket, ...toSlice(parameters) });
  const seen = notBefore(query.range, query.since);
  const items = page.items.map((point) => presentPoint(cutToRange(point, seen, query.timeZone), bucket));
  return toListAnswer(items, { ...parameters, total: page.total });
}

async function toSummaryQuery(
  profiles: ProfileStore,
  request: DataRequest,
): Promise<SummaryQuery | AppError> {
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

async function findZoneAndSince(profiles: ProfileStore, request: DataRequest) {
  const { timeZone } = request.parameters;
  if (timeZone === null) return findOwnWindow(profiles, request);
  return { timeZone, since: await findSince(profiles, request) };
}

function presentSummary(summary: MetricSummary, from: Date | null) {
  const { latest } = summary;
  // The newest day of an additive type may start before the window does.
  const latestAt = from !== null && latest.at < from ? from : latest.at;
  const metric = getMetric(summary.metric);
  const { average, min, max, sum } = toStatistics(metric, summary);
  return {
    type: metric.name,
    category: metric.category,
    unit: metric.unit,
    basis: metric.kind === 'additive' ? 'day' : 'reading',
    count: summary.count,
    latest: {
      value: roundToDecimals(latest.value, metric.decimals),
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
