import { isCategory } from '@phds/catalog/categories';
import type { Endpoint, QueryParameter } from '@phds/catalog/endpoints';
import { findMetricByName, METRICS, metricsOfCategory } from '@phds/catalog/metrics';
import { findTimeZone } from '@phds/catalog/time-zones';
import { TREND_BUCKETS } from '@phds/catalog/wire-names';
import { findTimeBound, type TimeBound } from '../../domain/instant.ts';
import { readPage } from '../page-parameters.ts';
import { parseQuery, type Query } from '../query.ts';
import { Violations } from '../violations.ts';

/** The parameters of a data request, checked (contract section 6). */
export interface ReadParameters {
  /** 0 where the endpoint has no pages. */
  readonly page: number;
  readonly pageSize: number;
  /** Empty where not given, as all that follow. */
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly bucket: string;
  readonly timeZone: string;
  /** The query without `page`, encoded anew, for links to other pages. */
  readonly linkQuery: string;
}

/** Reads the query of a request; throws `invalid_request` that names every parameter at fault. */
export function parseReadParameters(endpoint: Endpoint, segment: string, rawQuery: string): ReadParameters {
  const violations = new Violations();
  const query = takeKnown(parseQuery(rawQuery), endpoint.query, violations);
  const parameters = {
    ...(endpoint.envelope === 'list' ? readPage(query, violations) : { page: 0, pageSize: 0 }),
    ...readWindow(query, endpoint, violations),
    type: readType(query, segment, violations),
    bucket: readBucket(query, violations),
    timeZone: readTimeZone(query, violations),
    linkQuery: toLinkQuery(query),
  };
  violations.throwIfAny();
  return parameters;
}

/** The parameters that the endpoint knows; every other, and every repetition, is at fault. */
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
  const from = readBound(query, 'from', violations);
  const to = readBound(query, 'to', violations);
  if (from !== null && to !== null && isEmptyWindow(from, to, known.includes('timeZone'))) {
    violations.add('from', 'must be before "to"');
  }
  return { from: from?.text ?? '', to: to?.text ?? '' };
}

/** Where a zone decides what a date's midnight is, a date and an instant are compared where the zone is known. */
function isEmptyWindow(from: TimeBound, to: TimeBound, zoned: boolean): boolean {
  if (zoned && from.kind !== to.kind) return false;
  return from.time >= to.time;
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

function readType(query: Query, segment: string, violations: Violations): string {
  const text = query.values.get('type');
  if (text === undefined) return '';
  const choices = isCategory(segment) ? metricsOfCategory(segment) : METRICS;
  const metric = findMetricByName(text);
  if (metric !== null && choices.includes(metric)) return metric.name;
  violations.add('type', `must be one of ${choices.map(({ name }) => name).join(', ')}`);
  return '';
}

function readBucket(query: Query, violations: Violations): string {
  const text = query.values.get('bucket') ?? '';
  const known =
    text === '' ? !query.values.has('bucket') : (TREND_BUCKETS as readonly string[]).includes(text);
  if (!known) violations.add('bucket', `must be one of ${TREND_BUCKETS.join(', ')}`);
  return text;
}

function readTimeZone(query: Query, violations: Violations): string {
  const text = query.values.get('timeZone');
  if (text === undefined) return '';
  const timeZone = findTimeZone(text);
  if (timeZone === null) violations.add('timeZone', 'must be an IANA time zone such as Europe/Berlin');
  return timeZone ?? '';
}

function toLinkQuery({ values }: Query): string {
  let text = '';
  for (const [name, value] of values) {
    if (name === 'page') continue;
    text += `${text === '' ? '' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}
