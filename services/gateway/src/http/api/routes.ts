import type { IncomingMessage } from 'node:http';
import { type Category, isCategory } from '@phds/catalog/categories';
import {
  API_PREFIX,
  DATA_PATHS,
  ENDPOINTS,
  type Endpoint,
  type EndpointId,
  type EndpointScope,
  getEndpoint,
  scopeOfEndpoint,
} from '@phds/catalog/endpoints';
import { AppError, notFound } from '@phds/service-kit/errors';
import { describeUnknownCategory } from '../../domain/suggestion.ts';
import { methodNotAllowed, unsupportedVersion, urlTooLong } from '../http-error.ts';
import { decode, splitUrl } from '../query.ts';
/** The parts of a request that the data API uses. */
export interface ApiCall {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly rawQuery: string;
  readonly authorization: readonly string[];
  /** Value of `API-Version`; several fields are joined by a comma. */
  readonly version: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** Value of `Sandbox-Force`, used in a sandbox deployment only. */
  readonly force: string | undefined;
}

const NONE: readonly string[] = [];

/** Reads the raw header fields in one pass, which avoids Node's header object. */
export function readApiCall({ method = '', url = '', rawHeaders }: IncomingMessage): ApiCall {
  let authorization = NONE;
  let version: string | undefined;
  let ifNoneMatch: string | undefined;
  let force: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const value = rawHeaders[i + 1] ?? '';
    if (name.length === 11 && name.toLowerCase() === 'api-version') version = join(version, value);
    else if (name.length !== 13) continue;
    else if (name.toLowerCase() === 'authorization') authorization = [...authorization, value];
    else if (name.toLowerCase() === 'if-none-match') ifNoneMatch = join(ifNoneMatch, value);
    else if (name.toLowerCase() === 'sandbox-force') force = join(force, value);
  }
  return { method, url, ...splitUrl(url), authorization, version, ifNoneMatch, force };
}

function join(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

export const VERSIONS_PATH = '/api/versions';
export const VERSIONS_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** The data endpoint of a request. */
export interface Route {
  readonly endpoint: Endpoint;
  /** Its scope, alone in a list. */
  readonly scopes: readonly [EndpointScope];
  /** Null for endpoints without a category. */
  readonly category: Category | null;
  /** Still encoded; empty for endpoints without a medication. */
  readonly medicationId: string;
}

const VERSION = /^\/api\/v(\d+)(?:\/|$)/;
const CATEGORY = new RegExp(`^${API_PREFIX}/health-data/([^/]+)$`);
const ADHERENCE = new RegExp(`^${API_PREFIX}/medications/([^/]+)/adherence$`);

const PATTERNS = Object.fromEntries(ENDPOINTS.map(({ id, path }) => [id, API_PREFIX + path])) as Record<
  EndpointId,
  string
>;

const STATIC_ROUTES: ReadonlyMap<string, Route> = new Map(
  ENDPOINTS.filter(({ path }) => !path.includes(':')).map((endpoint) => [
    API_PREFIX + endpoint.path,
    { endpoint, scopes: [scopeOfEndpoint(endpoint)], category: null, medicationId: '' },
  ]),
);

/**
 * The route of an authenticated request. Checks in this order: version, route, method. Throws
 * UNSUPPORTED_VERSION, NOT_FOUND or 405.
 */
export function getRoute(call: ApiCall, maxUrlBytes: number): Route {
  if (call.url.length > maxUrlBytes) throw urlTooLong(maxUrlBytes);
  checkVersion(call);
  if (call.path === VERSIONS_PATH) throw methodNotAllowed(VERSIONS_METHODS.join(', '));
  const route = findRoute(call.path);
  if (route === null) throw noRoute(call.path);
  if (call.method !== 'GET') throw methodNotAllowed('GET');
  return route;
}

function checkVersion({ path, version }: ApiCall): void {
  const inPath = VERSION.exec(path)?.[1];
  if (inPath !== undefined && inPath !== '1') throw unsupportedVersion();
  if (version !== undefined && version.trim() !== '1') throw unsupportedVersion();
}

function findRoute(path: string): Route | null {
  return STATIC_ROUTES.get(path) ?? findCategoryRoute(path) ?? findAdherenceRoute(path);
}

/** A path of an unknown category gets a hint at the one that was meant. */
function noRoute(path: string): AppError {
  const text = CATEGORY.exec(path)?.[1];
  return text === undefined ? notFound() : new AppError('not_found', describeUnknownCategory(text));
}

function findCategoryRoute(path: string): Route | null {
  const category = CATEGORY.exec(path)?.[1];
  if (category === undefined || !isCategory(category)) return null;
  const endpoint = getEndpoint('health-data');
  return { endpoint, scopes: [scopeOfEndpoint(endpoint, category)], category, medicationId: '' };
}

function findAdherenceRoute(path: string): Route | null {
  const medicationId = ADHERENCE.exec(path)?.[1];
  if (medicationId === undefined) return null;
  const endpoint = getEndpoint('adherence');
  return { endpoint, scopes: [scopeOfEndpoint(endpoint)], category: null, medicationId };
}

/** The pattern of a path's data endpoint; empty if it has none. */
export function toPattern(path: string, route = findRoute(path)): string {
  return route === null ? '' : PATTERNS[route.endpoint.id];
}

/** The name in app usage for every path under `/api` that is not a data endpoint. */
const NO_ENDPOINT = '/api/*';
const ADHERENCE_NAME = DATA_PATHS.find(({ endpoint }) => endpoint === 'adherence')?.path ?? NO_ENDPOINT;

/** The name of a path in app usage and the log: a data endpoint as in access records, or one name for all others. */
export function toUsageName(path: string, route = findRoute(path)): string {
  if (route === null) return NO_ENDPOINT;
  return route.endpoint.id === 'adherence' ? ADHERENCE_NAME : path;
}

/** The medication id of a path. Any text is accepted, because only the data shows whether it exists. */
export function parseMedicationId({ medicationId }: Route): string {
  return medicationId.includes('%') ? decode(medicationId.replaceAll('+', '%2B'), 'id') : medicationId;
}
