import type { Category } from '@phds/catalog/categories';
import { errorsOfEndpoint } from '@phds/catalog/data-errors';
import { API_PREFIX, DATA_PATHS, type Endpoint, getEndpoint } from '@phds/catalog/endpoints';
import { AppError, notFound } from '@phds/service-kit/errors';
import { toReadEndpoint } from '@phds/service-kit/rpc/messages';
import type { Config } from '../../config.ts';
import type { Asked, DataCall, DataRoute, DataSurface } from '../data-request.ts';
import type { Exchange } from '../exchange.ts';
import { methodNotAllowed, unsupportedVersion } from '../http-error.ts';
import { decode, parseQuery } from '../query.ts';
import { describeUnknownCategory } from '../suggestion.ts';
import { parseQueryParameters } from './query-parameters.ts';
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
