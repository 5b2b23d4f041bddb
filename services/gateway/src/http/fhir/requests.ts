import type { IncomingMessage } from 'node:http';
import {
  FHIR_PREFIX,
  FHIR_TYPES,
  type FhirType,
  fhirPathOf,
  fhirTypeOf,
  isFhirType,
} from '@phds/catalog/fhir/resource-types';
import {
  costOf,
  type FhirSearch,
  isFhirId,
  isNewestSearch,
  parseSearch,
  type SentParameter,
  searchForId,
} from '@phds/catalog/fhir/search';
import { type AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { FORM_TYPE, readBody } from '../body.ts';
import type { Asked, DataCall, DataSurface } from '../data-request.ts';
import type { Exchange } from '../exchange.ts';
import { HttpError, methodNotAllowed, unsupportedMediaType } from '../http-error.ts';
import { parsePairs } from '../query.ts';
import { FHIR_ERRORS } from './operations.ts';
import { FHIR_MEDIA_TYPE } from './outcome.ts';

/** What the FHIR interface does differently from the data API. */
export const FHIR_SURFACE: DataSurface<FhirRoute> = {
  type: FHIR_MEDIA_TYPE,
  headers: { before: {}, after: {} },
  noRoute: `${FHIR_PREFIX}/*`,
  findRoute: findFhirRoute,
  requireRoute,
  ask,
  toForced: ({ type, id }) => ({
    codes: id === '' ? [...FHIR_ERRORS, 'CURSOR_EXPIRED'] : FHIR_ERRORS,
    scope: fhirTypeOf(type).scopes[0] ?? '',
    misspell: () => parseFhirSearch({ type, id }, [['dat', '2026']], '', false),
  }),
};

function requireRoute({ path, method }: DataCall, route: FhirRoute | null): FhirRoute {
  if (route === null) throw noFhirRoute(path);
  if (method !== route.method) throw methodNotAllowed(route.method);
  return route;
}

/** All parameters are checked before consent, because they decide which scopes open the request. */
async function ask(exchange: Exchange, call: DataCall, route: FhirRoute): Promise<Asked> {
  const { gateway, request, requestId, provenKey: jkt } = exchange;
  const { type: resourceType, id } = route;
  const base = gateway.config.PUBLIC_URL + FHIR_PREFIX;
  const sent = await readParameters(exchange, call, route);
  const lenient = isLenient(request);
  const search = parseFhirSearch(route, sent, base, lenient);
  const parameters = id === '' ? sent.map(([name, value]) => ({ name, value })) : [];
  const fhir = { base, resourceType, id, parameters, lenient };
  const toRequest = (scope: string) => ({ fhir, requestId, scope, jkt });
  const cost = id === '' ? costOf(search) : 1;
  const parsed = { toRequest, links: null, isNewestSearch: isNewestSearch(search) };
  return { scopes: search.scopes, cost, parse: () => parsed };
}

/** The parameters of a request, decoded: those of the compartment, the URL and the body. `_format` has been applied. */
async function readParameters(
  { gateway, request }: Exchange,
  { rawQuery }: DataCall,
  { method, patient }: FhirRoute,
): Promise<SentParameter[]> {
  const { MAX_BODY_BYTES, MAX_URL_BYTES } = gateway.config;
  const sent = parsePairs(rawQuery);
  if (method === 'POST') {
    const { type, text } = await readBody(request, MAX_BODY_BYTES, FORM_TYPE);
    if (type !== FORM_TYPE) throw unsupportedMediaType(FORM_TYPE);
    sent.push(...parsePairs(text));
  }
  requireJson(request, sent);
  const longest = MAX_URL_BYTES / 2;
  const inLinks = sent.filter(([name]) => name !== '_cursor');
  if (new URLSearchParams(inLinks).toString().length > longest)
    throw invalidRequest(
      'query',
      `must not be longer than ${longest} bytes, so that the link "next" is a URL`,
    );
  const applied = sent.map(([name, value]): SentParameter => [name, name === '_format' ? 'json' : value]);
  return patient === null ? applied : [['patient', patient], ...applied];
}

/** A `+` in a URL that was not encoded is a blank. */
const JSON_FORMAT = /^(json|application\/(fhir[+ ])?json)$/i;
const JSON_RANGE = /^(\*\/\*|application\/(\*|json|fhir\+json))$/i;
/** A parameter of a media range that excludes what we answer. */
const EXCLUDES_R4 = /^(q=0(\.0*)?|fhirversion=(?!"?4\.0(\.1)?"?$).*)$/i;

/** Throws 406 unless the client takes JSON. `_format` overrides `Accept` (R4, RESTful API, section 3.1.0.1.11). */
export function requireJson({ headers }: IncomingMessage, sent: readonly SentParameter[]): void {
  const formats = sent.filter(([name]) => name === '_format');
  const accepted =
    formats.length > 0 ? formats.every(([, value]) => takes(value, JSON_FORMAT)) : takesJson(headers);
  if (!accepted)
    throw new HttpError(406, 'INVALID_REQUEST', 'The only format is application/fhir+json of R4.');
}

function takesJson({ accept = '' }: IncomingMessage['headers']): boolean {
  if (accept.trim() === '') return true;
  return accept.split(',').some((range) => takes(range, JSON_RANGE));
}

function takes(range: string, json: RegExp): boolean {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  return json.test(type) && !parameters.some((parameter) => EXCLUDES_R4.test(parameter));
}

/** Whether unknown parameters are ignored (R4, Search, section 3.1.1.3.2). */
function isLenient({ headers: { prefer } }: IncomingMessage): boolean {
  return /(^|[,;])\s*handling\s*=\s*"?lenient"?\s*([,;]|$)/i.test([prefer].flat().join(','));
}

const OF_READS: ReadonlySet<string> = new Set(['_format', '_pretty']);

/** The search of a request, or its read. Throws `invalid_request` that names every invalid parameter. */
function parseFhirSearch(
  { type, id }: Pick<FhirRoute, 'type' | 'id'>,
  sent: readonly SentParameter[],
  base: string,
  lenient: boolean,
): FhirSearch {
  if (id === '') {
    const parsed = parseSearch(type, sent, base, lenient);
    if ('search' in parsed) return parsed.search;
    throw invalidRequest(parsed.problems);
  }
  const unknown = lenient ? [] : sent.filter(([name]) => !OF_READS.has(name));
  if (unknown.length === 0) return searchForId(type, id, base);
  throw invalidRequest(
    unknown.map(([parameter]) => ({ parameter, message: 'is not a parameter of a read by id' })),
  );
}

/** What a path of the FHIR interface asks for. */
interface FhirRoute {
  readonly method: 'GET' | 'POST';
  readonly type: FhirType;
  /** For a read; empty for a search. */
  readonly id: string;
  /** For a search in the compartment of a Patient, whose id this is; null for others. */
  readonly patient: string | null;
  /** In metrics, access records, app usage and the log. */
  readonly name: string;
  readonly pattern: string;
}

/** The route of a path; null if it has none. */
export function findFhirRoute(path: string): FhirRoute | null {
  const [type = '', second, third, fourth, ...more] = segmentsOf(path);
  if (!isFhirType(type) || (fourth ?? '_search') !== '_search' || more.length > 0) return null;
  if (second === undefined) return toRoute('GET', type);
  if (third === undefined && second === '_search') return toRoute('POST', type);
  if (!isFhirId(second)) return null;
  if (third === undefined) return toRoute('GET', type, { id: second });
  if (type !== 'Patient' || third === 'Patient' || !isFhirType(third)) return null;
  return toRoute(fourth === undefined ? 'GET' : 'POST', third, { patient: second });
}

function toRoute(
  method: FhirRoute['method'],
  type: FhirType,
  { id = '', patient = null }: Partial<Pick<FhirRoute, 'id' | 'patient'>> = {},
): FhirRoute {
  const pattern = fhirPathOf(type, id !== '');
  return { method, type, id, patient, pattern, name: pattern };
}

function segmentsOf(path: string): string[] {
  return path.slice(FHIR_PREFIX.length + 1).split('/');
}

/** Why a path has no route. */
function noFhirRoute(path: string): AppError {
  const [type = '', ...others] = segmentsOf(path);
  const all = [type, ...others];
  if (all.some((segment) => segment.startsWith('$'))) return notFound('There are no operations here.');
  if (all.includes('_history')) return notFound('Earlier versions of resources are not kept.');
  if (type === '' || type === '_search')
    return notFound('There are no batches and no searches over all types. Ask for one type.');
  if (isFhirType(type)) return notFound();
  return notFound(`There are no resources of this type. The types are ${FHIR_TYPES.join(', ')}.`);
}
