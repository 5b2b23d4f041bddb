import { FHIR_PREFIX, FHIR_TYPES, searchParametersOf } from '@phds/catalog/fhir/resource-types';
import { COUNT_DEFAULT, COUNT_MAX } from '@phds/catalog/fhir/search';
import type { ProblemCode } from '@phds/catalog/problems';
import { z } from 'zod';
import { FORM_TYPE } from '../body.ts';
import { count, type Fields, type HeaderName, LIMITED, text } from '../openapi/fields.ts';
import type { Operation } from '../operation.ts';
import { FHIR_JSON } from './outcome.ts';

// An overview: which parameters a type has is in the CapabilityStatement, and what resources are made of is in FHIR R4.

const ofTypes = Map.groupBy(
  FHIR_TYPES.flatMap((type) => searchParametersOf(type).map((name) => ({ name, type }))),
  ({ name }) => name,
);

const SEARCH: Fields = {
  ...Object.fromEntries(
    [...ofTypes].map(([name, found]) => {
      const types = found.map(({ type }) => type).join(', ');
      return [name, text.optional().meta({ description: `As in R4, for ${types}.` })];
    }),
  ),
  _count: text.optional().meta({
    description: `Resources on a page: ${COUNT_DEFAULT} if absent; more than ${COUNT_MAX} is taken as ${COUNT_MAX}.`,
  }),
  _sort: text
    .optional()
    .meta({ description: 'The newest first, such as `-date`, which is the order anyway.' }),
  _total: text
    .optional()
    .meta({ description: '`accurate` or `estimate`: with the number of all matches. `none`: without.' }),
  _summary: text.optional().meta({ description: '`count`: only the number of matches.' }),
  _cursor: text.optional().meta({ description: 'Of the link `next`.' }),
};

const FORMAT: Fields = {
  _format: text.optional().meta({ description: 'JSON is the only format; in place of `Accept`.' }),
};

const FORM = { schema: z.object({ ...SEARCH, ...FORMAT }), optional: true, types: [FORM_TYPE] };

const TYPE = { type: z.enum(FHIR_TYPES).meta({ id: 'FhirType', description: 'A type of resources.' }) };
const ID = { id: text.meta({ description: 'Id of the resource, or of the Patient.' }) };

const ALWAYS: readonly HeaderName[] = [...LIMITED, 'X-Request-Id', 'ETag', 'Cache-Control'];

/** The codes of every operation. A search can also be answered with CURSOR_EXPIRED. */
export const FHIR_ERRORS: readonly ProblemCode[] = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'TOKEN_EXPIRED',
  'INSUFFICIENT_SCOPE',
  'CONSENT_REQUIRED',
  'NOT_FOUND',
  'RATE_LIMITED',
  'ACCESS_NOT_RECORDED',
  'INTERNAL_ERROR',
];

const bundle = z
  .looseObject({
    resourceType: z.literal('Bundle'),
    type: z.literal('searchset'),
    total: count.optional(),
    link: z.array(z.looseObject({ relation: text, url: text })),
    entry: z
      .array(z.looseObject({ fullUrl: text, resource: z.looseObject({ resourceType: text }) }))
      .optional()
      .meta({ description: 'Absent if nothing was found.' }),
  })
  .meta({ id: 'FhirBundle', description: 'A Bundle of FHIR R4 of the type `searchset`.' });
const resource = z
  .looseObject({ resourceType: TYPE.type })
  .meta({ id: 'FhirResource', description: 'A resource of FHIR R4.' });

const HOW =
  'Finds only resources of data that the person shares: one consented scope of the type is enough, and the link `self` says what was ' +
  'searched. An unknown parameter is an error unless the request has `Prefer: handling=lenient`.';

function fhirOperation(
  given: Pick<Operation, 'method' | 'path' | 'operationId' | 'summary'> & Partial<Operation>,
): Operation {
  const isSearch = given.operationId !== 'readFhir';
  const body = isSearch ? bundle : resource;
  const found = { description: 'What was found.', body, type: FHIR_JSON, headers: ALWAYS };
  const unchanged = { description: 'Not changed since the entity tag in `If-None-Match`.', headers: ALWAYS };
  return {
    tag: 'FHIR',
    ...(isSearch ? { description: HOW } : {}),
    // Which scopes open a request depends on type and parameters.
    security: { scopes: [] },
    answers: given.method === 'GET' ? { 200: found, 304: unchanged } : { 200: found },
    errorFormat: 'fhir',
    errors: [...FHIR_ERRORS, ['INVALID_REQUEST', 406], ...(isSearch ? (['CURSOR_EXPIRED'] as const) : [])],
    ...given,
    path: `${FHIR_PREFIX}${given.path}`,
  };
}

/** The searches and reads of the FHIR interface, each described once for all types. */
export const FHIR_OPERATIONS: readonly Operation[] = [
  fhirOperation({
    method: 'GET',
    path: '/:type',
    operationId: 'searchFhir',
    summary: 'Search FHIR resources',
    pathParameters: TYPE,
    query: { ...SEARCH, ...FORMAT },
  }),
  fhirOperation({
    method: 'POST',
    path: '/:type/_search',
    operationId: 'searchFhirByForm',
    summary: 'Search FHIR resources with a form',
    pathParameters: TYPE,
    body: FORM,
  }),
  fhirOperation({
    method: 'GET',
    path: '/Patient/:id/:type',
    operationId: 'searchFhirOfPatient',
    summary: 'Search FHIR resources of the Patient',
    description: 'Takes the parameters of the search without a Patient.',
    pathParameters: { ...TYPE, ...ID },
  }),
  fhirOperation({
    method: 'POST',
    path: '/Patient/:id/:type/_search',
    operationId: 'searchFhirOfPatientByForm',
    summary: 'Search FHIR resources of the Patient with a form',
    pathParameters: { ...TYPE, ...ID },
    body: FORM,
  }),
  fhirOperation({
    method: 'GET',
    path: '/:type/:id',
    operationId: 'readFhir',
    summary: 'Read a FHIR resource',
    pathParameters: { ...TYPE, ...ID },
    query: FORMAT,
  }),
];
