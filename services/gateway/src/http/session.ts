import type { IncomingMessage } from 'node:http';
import { unauthorized } from '@phds/service-kit/errors';
import type { SessionVerifier } from '@phds/service-kit/session';
import { findBearerToken } from './bearer.ts';

/** A signed-in person. */
export interface SignedIn {
  readonly userId: string;
  /** Forwarded to the service that acts on it, which verifies it again. */
  readonly jwt: string;
}

/** Throws `unauthorized` for every cause, `unavailable` when the identity provider's keys cannot be fetched. */
export type SessionReader = (request: IncomingMessage) => Promise<SignedIn>;

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Reads the session of a request (contract section 5): `Authorization: Bearer`, else the cookie. A cookie comes along with
 * whatever a foreign page makes the browser send, so with it unsafe methods must prove to come from our own pages.
 */
export function createSessionReader(options: {
  readonly verify: SessionVerifier;
  readonly publicUrl: string;
}): SessionReader {
  const { origin } = new URL(options.publicUrl);
  const cookieName = sessionCookieName(options.publicUrl);
  return async (request) => {
    const jwt = findJwt(request);
    const { userId } = await options.verify(jwt);
    return { userId, jwt };
  };

  function findJwt(request: IncomingMessage): string {
    const authorization = request.headersDistinct['authorization'];
    if (authorization !== undefined) {
      const token = findBearerToken(authorization);
      if (token === null) throw unauthorized('not one bearer token');
      return token;
    }
    const cookies = findCookies(request.headers.cookie ?? '', cookieName);
    const [jwt] = cookies;
    if (jwt === undefined || jwt === '' || cookies.length > 1) throw unauthorized('not one session cookie');
    if (!SAFE_METHODS.has(request.method ?? '') && !isSameOrigin(request, origin)) {
      throw unauthorized('session cookie from another origin');
    }
    return jwt;
  }
}

/** `__Host-` needs https, which a plain loopback address does not have. */
export function sessionCookieName(publicUrl: string): string {
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'http:' && LOOPBACK.test(hostname) ? 'session' : '__Host-session';
}

/** Whether a page of ours sent the request, as the browser tells. */
export function isSameOrigin(request: IncomingMessage, origin: string): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return request.headers.origin === origin;
}

function findCookies(header: string, name: string): string[] {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}
