import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import {
  API_PREFIX,
  ENDPOINTS,
  type Endpoint,
  type EndpointId,
  errorsOfEndpoint,
  type QueryParameter,
  scopeOfCategory,
  scopeOfEndpoint,
} from '@phds/catalog/endpoints';
import { TREND_BUCKET_DEFAULT, TREND_BUCKETS } from '@phds/catalog/wire-names';
import { z } from 'zod';
import {
  category,
  dataOf,
  type Fields,
  type HeaderName,
  LIMITED,
  listOf,
  metricType,
  PAGE_QUERY,
  text,
} from '../openapi/fields.ts';
import type { Operation } from '../operation.ts';
import { CHANGES, DATA_ITEMS } from './data-items.ts';
import { LIST_VERSIONS } from './versions.ts';

/** Every query parameter of the data API. Which of them an endpoint accepts is in the catalog. */
const QUERY: Readonly<Record<QueryParameter, z.ZodType>> = {
  ...PAGE_QUERY,
  from: text.meta({ description: 'Inclusive: a date (2026-03-01) or an RFC 3339 instant.' }),
  to: text.meta({ description: 'Exclusive: a date or an RFC 3339 instant.' }),
  type: metricType,
  bucket: z.enum(TREND_BUCKETS).meta({ description: 'Width of a point.', default: TREND_BUCKET_DEFAULT }),
  timeZone: text.meta({ description: 'IANA time zone; if absent, that of the person.' }),
  updatedSince: text.meta({
    description:
      'Changes since an RFC 3339 instant or a cursor, the oldest first, in place of the list. Excludes `page`, `from` and `to`.',
    example: '1970-01-01T00:00:00Z',
  }),
};

const REQUEST_HEADERS: Fields = {
  'API-Version': z.literal('1').meta({ description: 'The version of the API that the client expects.' }),
  'If-None-Match': text.meta({ description: 'The `ETag` of an earlier answer: 304 if nothing has changed.' }),
};

const SUMMARIES: Readonly<Record<EndpointId, string>> = {
  'health-data': 'List readings of one category',
  aggregations: 'Summarise readings',
  trends: 'List trend points',
  symptoms: 'List symptoms',
  medications: 'List medications',
  adherence: 'List the doses of one medication',
  conditions: 'List conditions',
  allergies: 'List allergies',
  appointments: 'List appointments',
  weight: 'List weight entries',
  mood: 'List mood entries',
  reports: 'List reports',
  profile: 'Read the profile',
  ehr: 'List records of connected providers',
};

const ALWAYS: readonly HeaderName[] = [
  'API-Version',
  ...LIMITED,
  'X-Request-Id',
  'ETag',
  'Cache-Control',
  'Deprecation',
  'Sunset',
];

/** The data API, derived from the catalog, and the list of its versions. */
export const API_OPERATIONS: readonly Operation[] = [...ENDPOINTS.map(toOperation), LIST_VERSIONS];

function toOperation(endpoint: Endpoint): Operation {
  const { id, path, query, envelope } = endpoint;
  const isList = envelope === 'list';
  const headers: readonly HeaderName[] = isList ? [...ALWAYS, 'Link'] : ALWAYS;
  return {
    method: 'GET',
    path: API_PREFIX + path,
    operationId: toOperationId(id),
    tag: 'Data',
    summary: SUMMARIES[id],
    description: describeScope(endpoint),
    security: { scopes: scopesOf(endpoint) },
    pathParameters: { category, id: text.meta({ description: 'Id of the medication.' }) },
    query: Object.fromEntries(query.map((name) => [name, QUERY[name]])),
    requestHeaders: REQUEST_HEADERS,
    answers: {
      200: {
        description: 'The data.',
        body: toBody(endpoint),
        headers,
      },
      304: { description: 'Not changed since the entity tag in `If-None-Match`.', headers },
    },
    errorFormat: 'problem',
    errors: errorsOfEndpoint(endpoint),
  };
}

/** `getHealthData` for `health-data`. */
function toOperationId(id: EndpointId): string {
  return `get-${id}`.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function toBody({ id, envelope, query }: Endpoint): z.ZodType {
  if (envelope === 'object') return dataOf(DATA_ITEMS[id]);
  const list = listOf(DATA_ITEMS[id]);
  return query.includes('updatedSince') ? z.union([list, CHANGES]) : list;
}

function scopesOf(endpoint: Endpoint): readonly string[] {
  return endpoint.scopeByCategory ? CATEGORY_SLUGS.map(scopeOfCategory) : [scopeOfEndpoint(endpoint)];
}

function describeScope({ scope }: Endpoint): string {
  return `Needs \`${scope ?? 'read:health-data:{category}'}\`.`;
}
