import type { Category } from './categories.ts';
import { CATEGORY_SLUGS, isCategory } from './categories.ts';

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

interface Row {
  readonly id: string;
  readonly path: string;
  readonly scope: `read:${string}` | null;
  readonly scopeByCategory: boolean;
  readonly envelope: 'list' | 'object';
  readonly timeField: string | null;
  readonly query: readonly QueryParameter[];
}

const PAGED = ['page', 'pageSize'] as const;
const PAGED_IN_TIME = ['page', 'pageSize', 'from', 'to'] as const;

/** A list with a time or date field, which accepts `from` and `to`. */
function listInTime<const I extends string, const S extends `read:${string}`>(
  id: I,
  path: string,
  scope: S,
  timeField: string,
) {
  return {
    id,
    path,
    scope,
    scopeByCategory: false,
    envelope: 'list',
    timeField,
    query: PAGED_IN_TIME,
  } as const;
}

// In the published order, which scopes and documentation pages follow.
const TABLE = [
  {
    id: 'health-data',
    path: '/health-data/:category',
    scope: null,
    scopeByCategory: true,
    envelope: 'list',
    timeField: 'timestamp',
    query: [...PAGED_IN_TIME, 'type', 'updatedSince'],
  },
  {
    id: 'aggregations',
    path: '/aggregations',
    scope: 'read:aggregations',
    scopeByCategory: false,
    envelope: 'object',
    // The time of the readings that are aggregated; the result itself has no single instant.
    timeField: 'timestamp',
    query: ['from', 'to', 'type', 'timeZone'],
  },
  {
    id: 'trends',
    path: '/trends',
    scope: 'read:trends',
    scopeByCategory: false,
    envelope: 'list',
    timeField: 'start',
    query: [...PAGED_IN_TIME, 'type', 'bucket', 'timeZone'],
  },
  listInTime('symptoms', '/symptoms', 'read:symptoms', 'timestamp'),
  {
    id: 'medications',
    path: '/medications',
    scope: 'read:medications',
    scopeByCategory: false,
    envelope: 'list',
    // Medications have no time and are ordered by name.
    timeField: null,
    query: PAGED,
  },
  // As-needed doses have no scheduledAt; takenAt is used instead.
  listInTime('adherence', '/medications/:id/adherence', 'read:medications', 'scheduledAt'),
  listInTime('conditions', '/conditions', 'read:conditions', 'sinceDate'),
  listInTime('allergies', '/allergies', 'read:allergies', 'sinceDate'),
  listInTime('appointments', '/appointments', 'read:appointments', 'dateTime'),
  listInTime('weight', '/weight', 'read:weight', 'date'),
  listInTime('mood', '/mood', 'read:mood', 'timestamp'),
  listInTime('reports', '/reports', 'read:reports', 'generatedAt'),
  {
    id: 'profile',
    path: '/profile',
    scope: 'read:profile',
    scopeByCategory: false,
    envelope: 'object',
    timeField: null,
    query: [],
  },
  listInTime('ehr', '/ehr', 'read:ehr', 'timestamp'),
] as const satisfies readonly Row[];

/** Stable name of a data endpoint, used in access records and metrics. */
export type EndpointId = (typeof TABLE)[number]['id'];

/** The scope that opens one health-data category. */
export type CategoryScope = `read:health-data:${Category}`;

/** A scope that opens at least one data endpoint. There are no other scopes. */
export type EndpointScope = NonNullable<(typeof TABLE)[number]['scope']> | CategoryScope;

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
export const ENDPOINTS: readonly Endpoint[] = TABLE;

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
