import type { Category } from '@phds/catalog/categories';
import {
  API_PREFIX,
  DATA_PATHS,
  type Endpoint,
  errorsOfEndpoint,
  getEndpoint,
} from '@phds/catalog/endpoints';
import { findInstant, isInverted } from '@phds/catalog/instants';
import { findMetricByName, METRICS, metricsOfCategory } from '@phds/catalog/metrics';
import { TREND_BUCKETS, type TrendBucket } from '@phds/catalog/wire-names';
import { TrendBucket as WireTrendBucket } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError, notFound } from '@phds/service-kit/errors';
import { toReadEndpoint } from '@phds/service-kit/rpc/messages';
import type { Config } from '../../config.ts';
import type { Asked, DataCall, DataRoute, DataSurface } from '../data-request.ts';
import type { Exchange } from '../exchange.ts';
import { methodNotAllowed, unsupportedVersion } from '../http-error.ts';
import {
  decode,
  findBound,
  findChoice,
  type ListQuery,
  parseQuery,
  type Query,
  readTimeZone,
  toListQuery,
} from '../query.ts';
import { describeUnknownCategory } from '../suggestion.ts';
import { lifecycleHeaders, VERSIONS_METHODS, VERSIONS_PATH } from './versions.ts';

/** The data endpoint of a request. */
interface ApiRoute extends DataRoute {
  readonly endpoint: Endpoint;
  readonly scopes: readonly string[];
  /** Null for endpoints without a category. */
  readonly category: Category | null;
  /** Still encoded; empty for endpoints without a medication. */
  readonly medicationId: string;
}

/** What the data API does differently from the FHIR interface. */
export function createApiSurface(config: Config): DataSurface<ApiRoute> {
  return {
    type: 'application/json; charset=utf-8',
    headers: { before: { 'API-Version': '1' }, after: lifecycleHeaders(config) },
    noRoute: '/api/*',
    findRoute,
    requireRoute,
    ask,
    toForced: ({ endpoint, category, scopes: [scope = ''] }) => ({
      codes: errorsOfEndpoint(endpoint),
      scope,
      misspell: () => parseQueryParameters(endpoint, category, parseQuery('fromm=2026-03-01')),
    }),
  };
}

const ROUTES: readonly ApiRoute[] = DATA_PATHS.map(({ path: name, endpoint: id, category, scope }) => {
  const endpoint = getEndpoint(id);
  const pattern = API_PREFIX + endpoint.path;
  return { endpoint, pattern, name, scopes: [scope], category, medicationId: '' };
});

const BY_PATH = new Map(ROUTES.map((route) => [route.name, route]));

/** The only route with a parameter. */
const OF_MEDICATION = ROUTES.find(({ endpoint }) => endpoint.id === 'adherence');
const MEDICATION = new RegExp(`^${API_PREFIX}/medications/([^/]+)/adherence$`);

function findRoute(path: string): ApiRoute | null {
  const medicationId = MEDICATION.exec(path)?.[1];
  if (medicationId === undefined || OF_MEDICATION === undefined) return BY_PATH.get(path) ?? null;
  return { ...OF_MEDICATION, medicationId };
}

const VERSION = /^\/api\/v(\d+)(?:\/|$)/;

/** Checks in this order: version, route, method. Throws UNSUPPORTED_VERSION, NOT_FOUND or 405. */
function requireRoute({ method, path, version }: DataCall, route: ApiRoute | null): ApiRoute {
  const inPath = VERSION.exec(path)?.[1] ?? '1';
  if (inPath !== '1' || (version ?? '1').trim() !== '1') throw unsupportedVersion();
  if (path === VERSIONS_PATH) throw methodNotAllowed(VERSIONS_METHODS.join(', '));
  if (route === null) throw noRoute(path);
  if (method !== 'GET') throw methodNotAllowed('GET');
  return route;
}

const CATEGORY = new RegExp(`^${API_PREFIX}/health-data/([^/]+)$`);

/** A path of an unknown category gets a hint at the one that was meant. */
function noRoute(path: string): AppError {
  const text = CATEGORY.exec(path)?.[1];
  return text === undefined ? notFound() : new AppError('not_found', describeUnknownCategory(text));
}

function ask({ requestId, provenKey: jkt }: Exchange, { rawQuery }: DataCall, route: ApiRoute): Asked {
  const { endpoint, category, scopes } = route;
  const parse = () => {
    const medicationId = parseMedicationId(route);
    const query = parseQuery(rawQuery);
    const { linkQuery, ...parameters } = parseQueryParameters(endpoint, category, query);
    const { page } = parameters;
    const request = {
      endpoint: toReadEndpoint(endpoint.id),
      category: category ?? '',
      medicationId,
      parameters,
      requestId,
      jkt,
    };
    return { toRequest: () => request, links: page === undefined ? null : { query: linkQuery, ...page } };
  };
  return { scopes, cost: 1, parse };
}

/** The medication id of a path. Any text is accepted, because only the data shows whether it exists. */
function parseMedicationId({ medicationId }: ApiRoute): string {
  return medicationId.includes('%') ? decode(medicationId.replaceAll('+', '%2B'), 'id') : medicationId;
}

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
function parseQueryParameters(endpoint: Endpoint, category: Category | null, given: Query): QueryParameters {
  const query = toListQuery(given, endpoint.query);
  const bucket = findChoice(query, 'bucket', TREND_BUCKETS);
  const parameters = {
    page: endpoint.envelope === 'list' ? query.page : undefined,
    ...readWindow(query, endpoint),
    type: readType(query, category),
    bucket: bucket === undefined ? WireTrendBucket.UNSPECIFIED : BUCKETS[bucket],
    timeZone: readTimeZone(query),
    updatedSince: readUpdatedSince(query),
    linkQuery: toLinkQuery(query),
  };
  query.check();
  return parameters;
}

function readWindow(query: ListQuery, { query: known }: Endpoint) {
  const window = { from: findBound(query, 'from'), to: findBound(query, 'to') };
  if (isInverted(window, known.includes('timeZone'))) query.fault('from', 'must be before "to"');
  return { from: window.from?.text ?? '', to: window.to?.text ?? '' };
}

function readType(query: ListQuery, category: Category | null): string {
  const text = query.find('type');
  if (text === undefined) return '';
  const choices = category === null ? METRICS : metricsOfCategory(category);
  const metric = findMetricByName(text);
  if (metric !== null && choices.includes(metric)) return metric.name;
  query.fault('type', `must be one of ${choices.map(({ name }) => name).join(', ')}`);
  return '';
}

const CURSOR = /^cur_[A-Za-z0-9_-]{22,400}$/;

function readUpdatedSince(query: ListQuery): string {
  const text = query.find('updatedSince');
  if (text === undefined) return '';
  for (const name of ['page', 'from', 'to']) {
    if (query.values.has(name)) query.fault(name, 'cannot be combined with "updatedSince"');
  }
  if (CURSOR.test(text)) return text;
  const instant = findInstant(text);
  if (instant !== null) return instant.at.toISOString();
  query.fault(
    'updatedSince',
    'must be an RFC 3339 instant (1970-01-01T00:00:00Z for everything) or the cursor of an earlier answer',
  );
  return '';
}

function toLinkQuery({ values }: ListQuery): string {
  let text = '';
  for (const [name, value] of values) {
    if (name === 'page' || name === 'updatedSince') continue;
    text += `${text === '' ? '' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}
