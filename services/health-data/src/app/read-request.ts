import type { Category } from '@phds/catalog/categories';
import { isCategory } from '@phds/catalog/categories';
import type { DataPath, Endpoint, EndpointId, QueryParameter } from '@phds/catalog/endpoints';
import { DATA_PATHS, getEndpoint } from '@phds/catalog/endpoints';
import type { Metric } from '@phds/catalog/metrics';
import { findMetricByName } from '@phds/catalog/metrics';
import { PAGE_DEFAULT, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import { findTimeZone } from '@phds/catalog/time-zones';
import type { TrendBucket } from '@phds/catalog/wire-names';
import { TREND_BUCKET_DEFAULT, TREND_BUCKETS } from '@phds/catalog/wire-names';
import { invalidRequest, notFound, type Violation } from '@phds/service-kit/errors';
import { parseWindow, type Window } from '../domain/window.ts';

/** The parameters of a read as they arrive: empty texts and zeros are absent. */
export interface RawQuery {
  readonly page: number;
  readonly pageSize: number;
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly bucket: string;
  readonly timeZone: string;
  readonly requestId: string;
}

/** The parameters of a read, checked. */
export interface ReadQuery {
  readonly page: number;
  readonly pageSize: number;
  readonly window: Window;
  /** Null is every type. */
  readonly metric: Metric | null;
  readonly bucket: TrendBucket;
  /** Null is the user's. */
  readonly timeZone: string | null;
}

const pathsByEndpoint = Map.groupBy(DATA_PATHS, (path) => path.endpoint);

/** The data path of an endpoint, its scope among it. Throws NOT_FOUND for an unknown category. */
export function getDataPath(endpoint: EndpointId, category: string | null = null): DataPath {
  if (category !== null && !isCategory(category)) throw notFound();
  const path = pathsByEndpoint.get(endpoint)?.find((candidate) => candidate.category === category);
  if (path === undefined) throw new RangeError(`No data path for '${endpoint}'.`);
  return path;
}

/** Checks the parameters against what the endpoint takes. Throws INVALID_REQUEST naming each that is wrong. */
export function parseReadQuery(raw: RawQuery, path: DataPath): ReadQuery {
  const violations: Violation[] = [];
  const endpoint = getEndpoint(path.endpoint);
  refuseUnused(raw, endpoint, violations);
  const query: ReadQuery = {
    page: raw.page === 0 ? PAGE_DEFAULT : raw.page,
    pageSize: raw.pageSize === 0 ? PAGE_SIZE_DEFAULT : Math.min(raw.pageSize, PAGE_SIZE_MAX),
    window: parseWindow(raw.from, raw.to, endpoint.query.includes('timeZone'), violations),
    metric: parseType(raw.type, path.category, violations),
    bucket: parseBucket(raw.bucket, violations),
    timeZone: parseTimeZone(raw.timeZone, violations),
  };
  if (violations.length > 0) throw invalidRequest(violations);
  return query;
}

// Page numbers are not among them: their defaults look like absence, and they do no harm where they mean nothing.
const TEXT_PARAMETERS = [
  'from',
  'to',
  'type',
  'bucket',
  'timeZone',
] as const satisfies readonly QueryParameter[];

function refuseUnused(raw: RawQuery, endpoint: Endpoint, violations: Violation[]): void {
  for (const parameter of TEXT_PARAMETERS) {
    if (raw[parameter] !== '' && !endpoint.query.includes(parameter)) {
      violations.push({ parameter, message: 'is not a parameter of this endpoint' });
    }
  }
}

function parseType(text: string, category: Category | null, violations: Violation[]): Metric | null {
  if (text === '') return null;
  const metric = findMetricByName(text);
  if (metric === null) violations.push({ parameter: 'type', message: 'is not a known metric type' });
  else if (category !== null && metric.category !== category) {
    violations.push({ parameter: 'type', message: `is not a metric type of ${category}` });
  }
  return metric;
}

function parseBucket(text: string, violations: Violation[]): TrendBucket {
  if (text === '') return TREND_BUCKET_DEFAULT;
  const bucket = TREND_BUCKETS.find((candidate) => candidate === text);
  if (bucket === undefined) {
    violations.push({ parameter: 'bucket', message: `must be one of ${TREND_BUCKETS.join(', ')}` });
  }
  return bucket ?? TREND_BUCKET_DEFAULT;
}

function parseTimeZone(text: string, violations: Violation[]): string | null {
  if (text === '') return null;
  const timeZone = findTimeZone(text);
  if (timeZone === null) {
    violations.push({ parameter: 'timeZone', message: 'must be an IANA time zone such as Europe/Berlin' });
  }
  return timeZone;
}
