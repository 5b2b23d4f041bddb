import { getMetric, type MetricKey } from '@phds/catalog/metrics';
import type { Request } from './request.ts';

/** A request without filters, with the given changes. */
export function request(endpoint: Request['endpoint'], changes: Partial<Request> = {}): Request {
  const everything = { category: null, type: null, bucket: null, from: null, to: null, timeZone: null };
  return { endpoint, ...everything, page: 1, pageSize: 100, dataFrom: null, ...changes };
}

interface Subject {
  /** The zones to request; null is the person's own. */
  readonly zones: readonly (string | null)[];
  readonly types: readonly MetricKey[];
  /** Bounds of windows, in order of time. */
  readonly bounds: readonly string[];
  /** First days of grants. */
  readonly beginnings: readonly string[];
}

/** Every read of some types: in each window between the bounds, from each first day, in each zone. */
export function questionnaire({ zones, types, bounds, beginnings }: Subject): Request[] {
  const windows = [null, ...bounds].flatMap((from, index) =>
    [...bounds.slice(index), null].map((to) => ({ from, to })),
  );
  const reaches = [...windows, ...beginnings.map((dataFrom) => ({ dataFrom }))];
  const categories = [...new Set(types.map((type) => getMetric(type).category))];
  return reaches.flatMap((reach) => [
    request('weight', reach),
    ...categories.map((category) => request('health-data', { category, ...reach })),
    ...zones.flatMap((timeZone) => [
      request('aggregations', { timeZone, ...reach }),
      request('trends', { bucket: 'day' as const, timeZone, ...reach }),
      ...types.map((type) => request('trends', { type, bucket: 'hour' as const, timeZone, ...reach })),
    ]),
  ]);
}
