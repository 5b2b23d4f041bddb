import type { Category } from '@phds/catalog/categories';
import type { Endpoint, QueryParameter } from '@phds/catalog/endpoints';
import { findInstant, findTimeBound, isInverted, type TimeBound } from '@phds/catalog/instants';
import { findMetricByName, METRICS, metricsOfCategory } from '@phds/catalog/metrics';
import { findTimeZone, NO_TIME_ZONE } from '@phds/catalog/time-zones';
import { TREND_BUCKETS, type TrendBucket } from '@phds/catalog/wire-names';
import { TrendBucket as WireTrendBucket } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { type Query, readPage, Violations } from '../query.ts';

/** The validated query parameters of a data request, as sent to health-data. */
interface QueryParameters {
  /** Undefined for endpoints without pages. */
  readonly page: { readonly page: number; readonly pageSize: number } | undefined;
  /** Empty when absent, like all following fields. */
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly bucket: WireTrendBucket;
  readonly timeZone: string;
  /** An instant or a cursor. */
  readonly updatedSince: string;
  /** The re-encoded query without `page` and `updatedSince`, for links to other pages. */
  readonly linkQuery: string;
}

const BUCKETS: Readonly<Record<TrendBucket, WireTrendBucket>> = {
  hour: WireTrendBucket.HOUR,
  day: WireTrendBucket.DAY,
};

/** Validates the query of a data request. Throws `invalid_request` that names every invalid parameter. */
export function parseQueryParameters(
  endpoint: Endpoint,
  category: Category | null,
  given: Query,
): QueryParameters {
  const violations = new Violations();
  const query = takeKnown(given, endpoint.query, violations);
  const parameters = {
    page: endpoint.envelope === 'list' ? readPage(query, violations) : undefined,
    ...readWindow(query, endpoint, violations),
    type: readType(query, category, violations),
    bucket: readBucket(query, violations),
    timeZone: readTimeZone(query, violations),
    updatedSince: readUpdatedSince(query, violations),
    linkQuery: toLinkQuery(query),
  };
  violations.throwIfAny();
  return parameters;
}

/** Takes the parameters known to the endpoint, and reports all others and all repetitions. */
function takeKnown(query: Query, known: readonly QueryParameter[], violations: Violations): Query {
  if (query.values.size === 0) return query;
  const values = new Map<string, string>();
  for (const [name, value] of query.values) {
    if (!(known as readonly string[]).includes(name)) violations.addUnknown(name, known);
    else if (query.repeated.has(name)) violations.add(name, 'must be given once');
    else values.set(name, value);
  }
  return { values, repeated: query.repeated };
}

function readWindow(query: Query, { query: known }: Endpoint, violations: Violations) {
  const window = { from: readBound(query, 'from', violations), to: readBound(query, 'to', violations) };
  if (isInverted(window, known.includes('timeZone'))) violations.add('from', 'must be before "to"');
  return { from: window.from?.text ?? '', to: window.to?.text ?? '' };
}

function readBound(query: Query, name: 'from' | 'to', violations: Violations): TimeBound | null {
  const text = query.values.get(name);
  if (text === undefined) return null;
  const bound = findTimeBound(text);
  if (bound === null) {
    violations.add(name, 'must be a date (2026-03-01) or an RFC 3339 instant (2026-03-01T08:00:00Z)');
  }
  return bound;
}

function readType(query: Query, category: Category | null, violations: Violations): string {
  const text = query.values.get('type');
  if (text === undefined) return '';
  const choices = category === null ? METRICS : metricsOfCategory(category);
  const metric = findMetricByName(text);
  if (metric !== null && choices.includes(metric)) return metric.name;
  violations.add('type', `must be one of ${choices.map(({ name }) => name).join(', ')}`);
  return '';
}

function readBucket(query: Query, violations: Violations): WireTrendBucket {
  const text = query.values.get('bucket');
  if (text === undefined) return WireTrendBucket.UNSPECIFIED;
  const bucket = TREND_BUCKETS.find((candidate) => candidate === text);
  if (bucket !== undefined) return BUCKETS[bucket];
  violations.add('bucket', `must be one of ${TREND_BUCKETS.join(', ')}`);
  return WireTrendBucket.UNSPECIFIED;
}

function readTimeZone(query: Query, violations: Violations): string {
  const text = query.values.get('timeZone');
  if (text === undefined) return '';
  const timeZone = findTimeZone(text);
  if (timeZone === null) violations.add('timeZone', NO_TIME_ZONE);
  return timeZone ?? '';
}

const CURSOR = /^cur_[A-Za-z0-9_-]{22,400}$/;

function readUpdatedSince(query: Query, violations: Violations): string {
  const text = query.values.get('updatedSince');
  if (text === undefined) return '';
  for (const name of ['page', 'from', 'to']) {
    if (query.values.has(name)) violations.add(name, 'cannot be combined with "updatedSince"');
  }
  if (CURSOR.test(text)) return text;
  const instant = findInstant(text);
  if (instant !== null) return instant.at.toISOString();
  violations.add(
    'updatedSince',
    'must be an RFC 3339 instant (1970-01-01T00:00:00Z for everything) or the cursor of an earlier answer',
  );
  return '';
}

function toLinkQuery({ values }: Query): string {
  let text = '';
  for (const [name, value] of values) {
    if (name === 'page' || name === 'updatedSince') continue;
    text += `${text === '' ? '' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}
