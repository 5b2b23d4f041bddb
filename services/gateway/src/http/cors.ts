import type { IncomingMessage, ServerResponse } from 'node:http';
import { FHIR_PREFIX } from '@phds/catalog/fhir/resource-types';
import { findFhirRoute } from './fhir/requests.ts';
import { isUnder } from './http-error.ts';
import { splitUrl } from './query.ts';
import { type Headers, send } from './respond.ts';

// Cross-origin requests of browser apps. There are no cookies on these paths, so credentials are never allowed. The authorization endpoint
// is not among them: it is opened by navigation (RFC 9700 section 2.6).

const OAUTH_PATHS: ReadonlySet<string> = new Set(['/oauth/token', '/oauth/par', '/oauth/revoke']);

function isOpen(url: string): boolean {
  return isUnder('/api/v1', url) || isUnder(FHIR_PREFIX, url) || OAUTH_PATHS.has(url.split('?', 1)[0] ?? '');
}

/** Header fields of an answer that a page may read. */
const EXPOSED =
  'WWW-Authenticate, Date, Retry-After, Link, ETag, RateLimit, RateLimit-Policy, X-Request-Id, API-Version, Deprecation, Sunset';

const PREFLIGHT = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, DPoP, If-None-Match, API-Version, Sandbox-Force',
  'Access-Control-Max-Age': '86400',
} as const;

/** A search may ask for lenient handling. */
const FHIR_PREFLIGHT = {
  ...PREFLIGHT,
  'Access-Control-Allow-Headers': `${PREFLIGHT['Access-Control-Allow-Headers']}, Prefer`,
};

/** The method of a path; GET for a path that does not exist. */
function methodOf(url: string): string {
  const { path } = splitUrl(url);
  if (isUnder(FHIR_PREFIX, path)) return findFhirRoute(path)?.method ?? 'GET';
  return OAUTH_PATHS.has(path) ? 'POST' : 'GET';
}

/**
 * Answers a preflight request of a path that is no document, always alike: which pages may read an answer is decided when the app is known.
 * Returns whether it was one.
 */
export function answerPreflight(
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined || !isOpen(url))
    return false;
  const fields = isUnder(FHIR_PREFIX, url) ? FHIR_PREFLIGHT : PREFLIGHT;
  send(response, 204, { ...fields, 'Access-Control-Allow-Methods': methodOf(url) }, '');
  return true;
}

/** Lets every page read what is answered under `/oauth` before the app is known: it says nothing about any app. */
export function openToPages({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.origin === undefined || !OAUTH_PATHS.has(url.split('?', 1)[0] ?? '')) return;
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Expose-Headers', EXPOSED);
}

/** From now on the answer is about an app. */
export function closeToPages(response: ServerResponse): void {
  response.removeHeader('Access-Control-Allow-Origin');
  response.removeHeader('Access-Control-Expose-Headers');
}

/** For an answer that the pages of this origin may read. */
export function corsFor(origin: string): Headers {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': EXPOSED,
    Vary: 'Origin',
  };
}

/** For the uniform 401, which says nothing about any app, so that every page may read it. */
export function corsForUniform(
  request: IncomingMessage & { readonly originalUrl?: string },
): readonly string[] {
  if (request.headers.origin === undefined || !isOpen(request.originalUrl ?? request.url ?? '')) return [];
  return ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED];
}
