import type { Category } from './categories.ts';
import { CATEGORY_SLUGS, isCategory } from './categories.ts';
import type { ProblemCode } from './problems.ts';

/** Prefix of every path of the data API. */
export const API_PREFIX = '/api/v1';

/** A query parameter of the data API. */
export type QueryParameter =
  | 'page'
  | 'pageSize'
  | 'from'
  | 'to'
  | 'type'
  | 'bucket'
  | 'timeZone'
  | 'updatedSince';

type Row = readonly [
  id: string,
  path: string,
  scope: `read:${string}` | null,
  envelope: 'list' | 'object',
  timeField: string | null,
  query: readonly QueryParameter[],
];

const PAGED = ['page', 'pageSize'] as const;
const IN_TIME = [...PAGED, 'from', 'to'] as const;

// In the published order, which scopes and documentation pages follow. Medications have no time and are ordered by name. As-needed doses
// have no scheduledAt; takenAt is used instead. Aggregations have the time of the readings that are aggregated: they have no single instant.
const TABLE = [
  ['health-data', '/health-data/:category', null, 'list', 'timestamp', [...IN_TIME, 'type', 'updatedSince']],
  [
    'aggregations',
    '/aggregations',
    'read:aggregations',
    'object',
    'timestamp',
    ['from', 'to', 'type', 'timeZone'],
  ],
  ['trends', '/trends', 'read:trends', 'list', 'start', [...IN_TIME, 'type', 'bucket', 'timeZone']],
  ['symptoms', '/symptoms', 'read:symptoms', 'list', 'timestamp', IN_TIME],
  ['medications', '/medications', 'read:medications', 'list', null, PAGED],
  ['adherence', '/medications/:id/adherence', 'read:medications', 'list', 'scheduledAt', IN_TIME],
  ['conditions', '/conditions', 'read:conditions', 'list', 'sinceDate', IN_TIME],
  ['allergies', '/allergies', 'read:allergies', 'list', 'sinceDate', IN_TIME],
  ['appointments', '/appointments', 'read:appointments', 'list', 'dateTime', IN_TIME],
  ['weight', '/weight', 'read:weight', 'list', 'date', IN_TIME],
  ['mood', '/mood', 'read:mood', 'list', 'timestamp', IN_TIME],
  ['reports', '/reports', 'read:reports', 'list', 'generatedAt', IN_TIME],
  ['profile', '/profile', 'read:profile', 'object', null, []],
  ['ehr', '/ehr', 'read:ehr', 'list', 'timestamp', IN_TIME],
] as const satisfies readonly Row[];

/** Stable name of a data endpoint, used in access records and metrics. */
export type EndpointId = (typeof TABLE)[number][0];

/** The scope that opens one health-data category. */
type CategoryScope = `read:health-data:${Category}`;

/** A scope that opens at least one data endpoint. There are no other scopes. */
export type EndpointScope = NonNullable<(typeof TABLE)[number][2]> | CategoryScope;

/** One route under `/api/v1`. All are GET. */
export interface Endpoint {
  readonly id: EndpointId;
  /** Relative to `API_PREFIX`, parameters as `:name`. */
  readonly path: string;
  /** The scope that the route requires; null for one whose category determines it. */
  readonly scope: EndpointScope | null;
  /** Whether the path's `:category` determines the scope. */
  readonly scopeByCategory: boolean;
  readonly envelope: 'list' | 'object';
  /** The field that `from` and `to` filter by; null where they do not apply. */
  readonly timeField: string | null;
  /** Every accepted query parameter. Any other is INVALID_REQUEST. */
  readonly query: readonly QueryParameter[];
}

/** The 14 data routes, in the published order. */
export const ENDPOINTS: readonly Endpoint[] = TABLE.map(([id, path, scope, envelope, timeField, query]) => ({
  id,
  path,
  scope,
  scopeByCategory: scope === null,
  envelope,
  timeField,
  query,
}));

const byId: ReadonlyMap<string, Endpoint> = new Map(ENDPOINTS.map((entry) => [entry.id, entry]));

/** The route with this id. Throws RangeError for an unknown id, which is a programming error. */
export function getEndpoint(id: EndpointId): Endpoint {
  const endpoint = byId.get(id);
  if (endpoint === undefined) throw new RangeError(`No endpoint has the id '${id}'.`);
  return endpoint;
}

const CATEGORY_SCOPE = 'read:health-data:';

/** The scope of one health-data category. */
export function scopeOfCategory(category: Category): CategoryScope {
  return `${CATEGORY_SCOPE}${category}`;
}

/** The health-data category that a scope opens; null for every other scope. */
export function categoryOfScope(scope: string): Category | null {
  const category = scope.startsWith(CATEGORY_SCOPE) ? scope.slice(CATEGORY_SCOPE.length) : '';
  return isCategory(category) ? category : null;
}

/** The scope of a request to this endpoint. Throws RangeError when the scope depends on the category and none is given. */
export function scopeOfEndpoint(endpoint: Endpoint, category?: Category): EndpointScope {
  if (endpoint.scope !== null) return endpoint.scope;
  if (category === undefined) throw new RangeError(`'${endpoint.id}' has a scope only with a category.`);
  return scopeOfCategory(category);
}

/** One concrete data path with its scope. */
export interface DataPath {
  /** Full path with parameters as in OpenAPI: `/api/v1/medications/{id}/adherence`. */
  readonly path: string;
  readonly endpoint: EndpointId;
  readonly category: Category | null;
  readonly scope: EndpointScope;
}

function toDataPaths(endpoint: Endpoint): DataPath[] {
  if (!endpoint.scopeByCategory) {
    const path = API_PREFIX + endpoint.path.replace(':id', '{id}');
    return [{ path, endpoint: endpoint.id, category: null, scope: scopeOfEndpoint(endpoint) }];
  }
  return CATEGORY_SLUGS.map((category) => ({
    path: API_PREFIX + endpoint.path.replace(':category', category),
    endpoint: endpoint.id,
    category,
    scope: scopeOfCategory(category),
  }));
}

/** The 23 concrete data endpoints: ten categories and thirteen others. */
export const DATA_PATHS: readonly DataPath[] = ENDPOINTS.flatMap(toDataPaths);

/** The codes that requests for this endpoint can be answered with, in the order of the documentation. */
export function errorsOfEndpoint({ path, query }: Pick<Endpoint, 'path' | 'query'>): readonly ProblemCode[] {
  return [
    'INVALID_REQUEST',
    'UNSUPPORTED_VERSION',
    'UNAUTHORIZED',
    'TOKEN_EXPIRED',
    'INSUFFICIENT_SCOPE',
    'CONSENT_REQUIRED',
    'RATE_LIMITED',
    'ACCESS_NOT_RECORDED',
    'INTERNAL_ERROR',
    // Only a path with a parameter can name something that does not exist.
    ...(path.includes(':') ? (['NOT_FOUND'] as const) : []),
    ...(query.includes('updatedSince') ? (['CURSOR_EXPIRED'] as const) : []),
  ];
}
