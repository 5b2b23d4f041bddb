import type { IncomingMessage } from 'node:http';
import {
  FHIR_PREFIX,
  FHIR_TYPES,
  type FhirType,
  fhirPathOf,
  isFhirType,
} from '@phds/catalog/fhir/resource-types';
import {
  type FhirSearch,
  isFhirId,
  parseSearch,
  type SentParameter,
  searchForId,
} from '@phds/catalog/fhir/search';
import { type AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { FORM_TYPE, readBody } from '../body.ts';
import type { Exchange } from '../exchange.ts';
import { HttpError, unsupportedMediaType } from '../http-error.ts';
import { parsePairs, splitUrl } from '../query.ts';

/** What a path of the FHIR interface asks for. */
export interface FhirRoute {
  readonly method: 'GET' | 'POST';
  readonly type: FhirType;
  /** For a read; empty for a search. */
  readonly id: string;
  /** For a search in the compartment of a Patient, whose id this is; null for others. */
  readonly patient: string | null;
}

/** The route of a path; null if it has none. */
export function findFhirRoute(path: string): FhirRoute | null {
  const [type = '', second, third, fourth, ...more] = segmentsOf(path);
  if (!isFhirType(type) || (fourth ?? '_search') !== '_search' || more.length > 0) return null;
  if (second === undefined) return { method: 'GET', type, id: '', patient: null };
  if (third === undefined && second === '_search') return { method: 'POST', type, id: '', patient: null };
  if (!isFhirId(second)) return null;
  if (third === undefined) return { method: 'GET', type, id: second, patient: null };
  if (type !== 'Patient' || third === 'Patient' || !isFhirType(third)) return null;
  return { method: fourth === undefined ? 'GET' : 'POST', type: third, id: '', patient: second };
}

function segmentsOf(path: string): string[] {
  return path.slice(FHIR_PREFIX.length + 1).split('/');
}

/** Why a path has no route. */
export function noFhirRoute(path: string): AppError {
  const [type = '', ...others] = segmentsOf(path);
  const all = [type, ...others];
  if (all.some((segment) => segment.startsWith('$'))) return notFound('There are no operations here.');
  if (all.includes('_history')) return notFound('Earlier versions of resources are not kept.');
  if (type === '' || type === '_search')
    return notFound('There are no batches and no searches over all types. Ask for one type.');
  if (isFhirType(type)) return notFound();
  return notFound(`There are no resources of this type. The types are ${FHIR_TYPES.join(', ')}.`);
}

/** The name of a route in metrics, app usage and the log: as in access records. */
export function nameOf({ type, id }: FhirRoute): string {
  return fhirPathOf(type, id !== '');
}

/** The name in app usage and the log for every path without a route. */
export const NO_FHIR_ROUTE = `${FHIR_PREFIX}/*`;

/** The parameters of a request, decoded: those of the compartment, the URL and the body. `_format` has been applied. */
export async function readFhirParameters(
  { gateway, request }: Exchange,
  { method, patient }: FhirRoute,
): Promise<SentParameter[]> {
  const { MAX_BODY_BYTES, MAX_URL_BYTES } = gateway.config;
  const sent = parsePairs(splitUrl(request.url).rawQuery);
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
export function isLenient({ headers: { prefer } }: IncomingMessage): boolean {
  return /(^|[,;])\s*handling\s*=\s*"?lenient"?\s*([,;]|$)/i.test([prefer].flat().join(','));
}

const OF_READS: ReadonlySet<string> = new Set(['_format', '_pretty']);

/** The search of a request, or its read. Throws `invalid_request` that names every invalid parameter. */
export function parseFhirSearch(
  { type, id }: FhirRoute,
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
