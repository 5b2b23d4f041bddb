import type { Category } from '@phds/catalog/categories';
import { type DataPath, getEndpoint } from '@phds/catalog/endpoints';
import {
  findInstant,
  findTimeBound,
  isInverted,
  type TimeBound,
  type TimeWindow,
} from '@phds/catalog/instants';
import { findMetricByName, type Metric } from '@phds/catalog/metrics';
import { toPage } from '@phds/catalog/pagination';
import { findTimeZone, NO_TIME_ZONE } from '@phds/catalog/time-zones';
import { TREND_BUCKET_DEFAULT, type TrendBucket } from '@phds/catalog/wire-names';
import {
  type QueryParameters as SentParameters,
  TrendBucket as TrendBucketMessage,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import type { ReaderIds } from './public-ids.ts';
import { INVERTED } from './window.ts';

/** The validated query parameters. */
interface QueryParameters {
  readonly page: number;
  readonly pageSize: number;
  readonly window: TimeWindow;
  /** Null for every type. */
  readonly metric: Metric | null;
  readonly bucket: TrendBucket;
  /** Null for the user's. */
  readonly timeZone: string | null;
  /** Changes since an instant, or since a cursor as sent; null for the list. */
  readonly updatedSince: Date | string | null;
}

/** The input of a resource. */
export interface DataRequest {
  readonly path: DataPath;
  readonly medicationId: string;
  readonly parameters: QueryParameters;
  /** The app, or the person themselves. */
  readonly askedBy: string;
  /** The public ids for this reader. */
  readonly ids: ReaderIds;
  readonly userId: string;
  /** First day that the app may see (YYYY-MM-DD); null for no limit. */
  readonly dataFrom: string | null;
}

/**
 * Resolves the parameters (empty texts and zeros mean absent) and validates them for the endpoint. Throws INVALID_REQUEST naming the first invalid one; the gateway has
 * already reported all of them.
 */
export function resolveParameters(sent: SentParameters, { endpoint, category }: DataPath): QueryParameters {
  const { query: known } = getEndpoint(endpoint);
  for (const name of ['from', 'to', 'type', 'bucket', 'timeZone', 'updatedSince'] as const) {
    if (sent[name] && !known.includes(name))
      throw invalidRequest(name, 'is not a parameter of this endpoint');
  }
  return {
    // Set even for endpoints without pages, because the page is part of the access record.
    ...toPage(sent.page),
    window: resolveWindow(sent, known.includes('timeZone')),
    metric: sent.type === '' ? null : resolveMetric(sent.type, category),
    bucket: resolveBucket(sent.bucket),
    timeZone: sent.timeZone === '' ? null : resolveTimeZone(sent.timeZone),
    updatedSince: sent.updatedSince === '' ? null : resolveUpdatedSince(sent),
  };
}

function resolveWindow({ from, to }: SentParameters, datesAreLocal: boolean): TimeWindow {
  const window = { from: resolveBound('from', from), to: resolveBound('to', to) };
  if (isInverted(window, datesAreLocal)) throw invalidRequest([INVERTED]);
  return window;
}

function resolveBound(parameter: string, text: string): TimeBound | null {
  const bound = text === '' ? null : findTimeBound(text);
  if (text === '' || bound !== null) return bound;
  throw invalidRequest(parameter, 'must be a date (YYYY-MM-DD) or an RFC 3339 instant');
}

function resolveMetric(name: string, category: Category | null): Metric {
  const metric = findMetricByName(name);
  if (metric === null) throw invalidRequest('type', 'is not a known metric type');
  if (category === null || metric.category === category) return metric;
  throw invalidRequest('type', `is not a metric type of ${category}`);
}

const BUCKETS: Readonly<Record<TrendBucketMessage, TrendBucket>> = {
  [TrendBucketMessage.UNSPECIFIED]: TREND_BUCKET_DEFAULT,
  [TrendBucketMessage.HOUR]: 'hour',
  [TrendBucketMessage.DAY]: 'day',
};

function resolveBucket(message: TrendBucketMessage): TrendBucket {
  // An enum field can contain an unknown number.
  const bucket: TrendBucket | undefined = BUCKETS[message];
  if (bucket === undefined) throw invalidRequest('bucket', 'is not known');
  return bucket;
}

function resolveTimeZone(name: string): string {
  const timeZone = findTimeZone(name);
  if (timeZone === null) throw invalidRequest('timeZone', NO_TIME_ZONE);
  return timeZone;
}

function resolveUpdatedSince({ updatedSince, from, to }: SentParameters): Date | string {
  if (from !== '' || to !== '') throw invalidRequest('updatedSince', 'excludes from and to');
  return findInstant(updatedSince)?.at ?? updatedSince;
}
