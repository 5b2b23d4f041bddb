import type { IncomingMessage, ServerResponse } from 'node:http';
import { FHIR_PREFIX } from '@phds/catalog/fhir/resource-types';
import { findFhirRoute } from './fhir/routes.ts';
import { FORCE_HEADER } from './forced-errors.ts';
import { isUnder, splitUrl } from './query.ts';
import { send } from './respond.ts';

// Cross-origin requests of apps in pages. There are no cookies on these paths, so every origin may read the answers, and credentials are
// never allowed. The authorization endpoint is not among them: it is opened by navigation (RFC 9700 section 2.6).

const OAUTH_PATHS: ReadonlySet<string> = new Set(['/oauth/token', '/oauth/par', '/oauth/revoke']);

function isOpen(url: string): boolean {
  return isUnder('/api/v1', url) || isUnder(FHIR_PREFIX, url) || OAUTH_PATHS.has(url.split('?', 1)[0] ?? '');
}

/** Header fields of an answer that a page may read. */
const EXPOSED =
  'WWW-Authenticate, Date, Retry-After, Link, ETag, RateLimit, RateLimit-Policy, X-Request-Id, API-Version, Deprecation, Sunset';

const REQUEST_HEADERS = 'Authorization, Content-Type, DPoP, If-None-Match, API-Version';

/** The method of a path; GET for a path that does not exist. */
function methodOf(url: string): string {
  const { path } = splitUrl(url);
  if (isUnder(FHIR_PREFIX, path)) return findFhirRoute(path)?.method ?? 'GET';
  return OAUTH_PATHS.has(path) ? 'POST' : 'GET';
}

/** Answers a preflight request of a path that is no document. Returns whether it was one. */
export function createPreflight({ SANDBOX }: { readonly SANDBOX: boolean }) {
  const allowed = SANDBOX ? `${REQUEST_HEADERS}, ${FORCE_HEADER}` : REQUEST_HEADERS;
  return ({ method, url = '', headers }: IncomingMessage, response: ServerResponse): boolean => {
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined || !isOpen(url))
      return false;
    const fields = {
      'Access-Control-Allow-Origin': '*',
      // A search may ask for lenient handling.
      'Access-Control-Allow-Headers': isUnder(FHIR_PREFIX, url) ? `${allowed}, Prefer` : allowed,
      'Access-Control-Max-Age': '86400',
      'Access-Control-Allow-Methods': methodOf(url),
    };
    send(response, 204, fields, '');
    return true;
  };
}

const OPEN = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED } as const;

/** Lets the page that sent a request read the answer. */
export function openToPages({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.origin === undefined || !isOpen(url)) return;
  for (const [name, value] of Object.entries(OPEN)) response.setHeader(name, value);
}

/** The same for the uniform 401, which has no other fields. */
export function corsForUniform(
  request: IncomingMessage & { readonly originalUrl?: string },
): readonly string[] {
  if (request.headers.origin === undefined || !isOpen(request.originalUrl ?? request.url ?? '')) return [];
  return Object.entries(OPEN).flat();
}
