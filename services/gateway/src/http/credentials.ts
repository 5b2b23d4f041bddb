import type { IncomingMessage } from 'node:http';
import { type AppError, unauthorized } from '@phds/service-kit/errors';
import type { Session, SessionVerifier } from '@phds/service-kit/trust/session';
import { findBearerToken } from '../cache/access-tokens.ts';
import type { EndedSessions } from '../clients/ended-sessions.ts';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether this HTTP method is not intended to change anything (RFC 9110 section 9.2.1). */
export function isSafeMethod(method: string): boolean {
  return SAFE_METHODS.has(method);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Name of a cookie that only this host can set. The `__Host-` prefix requires https, which a plain loopback address does not have.
 */
export function toCookieName(publicUrl: string, name: string): string {
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'http:' && LOOPBACK.test(hostname) ? name : `__Host-${name}`;
}

/** Name of the cookie with the session. */
export function sessionCookieName(publicUrl: string): string {
  return toCookieName(publicUrl, 'session');
}

/** A `Set-Cookie` value. Browsers do not send the cookie with requests of other sites, except when the person comes from them. */
export function toSetCookie(name: string, value: string, maxAgeSeconds: number): string {
  const secure = name.startsWith('__Host-') ? '; Secure' : '';
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** A `Set-Cookie` value that removes a cookie. */
export function toClearCookie(name: string): string {
  return toSetCookie(name, '', 0);
}

/** The value of the cookie with this name; null unless there is exactly one, and if it is empty. */
export function findCookie({ headers }: IncomingMessage, name: string): string | null {
  const prefix = `${name}=`;
  // Not `trim`: it removes more than browsers do, so that another cookie could be read as this one.
  const pairs = (headers.cookie ?? '').split(/; */).filter((pair) => pair.startsWith(prefix));
  const [pair, ...others] = pairs;
  return pair === undefined || others.length > 0 ? null : pair.slice(prefix.length) || null;
}

/** A signed-in person. */
export interface SignedIn extends Session {
  /** Forwarded to the called service, which verifies it again. */
  readonly jwt: string;
  /** Whether the session may change something. A cookie may only if one of our own pages sent the request. */
  readonly mayChange: boolean;
}

/**
 * Throws `unauthorized` for every invalid or ended session, and `unavailable` when the identity provider's keys cannot be fetched or
 * consent does not answer whether the session was ended.
 */
export type SessionReader = (request: IncomingMessage) => Promise<SignedIn>;

/**
 * Reads the session of a request from `Authorization: Bearer`, else from the cookie. A browser sends the
 * cookie with cross-site requests too, so unsafe methods with a cookie must come from our own pages (CSRF). A GET that changes
 * something calls `requireChange` for the same check.
 */
export function createSessionReader(options: {
  readonly verify: SessionVerifier;
  readonly publicUrl: string;
  /** Null where nobody can sign in or out, so that sessions end only by expiry. */
  readonly endedSessions: Pick<EndedSessions, 'isEnded'> | null;
}): SessionReader {
  const { origin } = new URL(options.publicUrl);
  const cookieName = sessionCookieName(options.publicUrl);
  return async (request) => {
    const { jwt, mayChange } = findSession(request);
    if (!isSafeMethod(request.method ?? '') && !mayChange) throw foreign();
    const session = await options.verify(jwt);
    if (await options.endedSessions?.isEnded(session, jwt)) throw unauthorized('the session was ended');
    return { ...session, jwt, mayChange };
  };

  function findSession(request: IncomingMessage): Pick<SignedIn, 'jwt' | 'mayChange'> {
    const authorization = request.headersDistinct['authorization'];
    if (authorization !== undefined) {
      const token = findBearerToken(authorization);
      if (token === null) throw unauthorized('not one bearer token');
      return { jwt: token, mayChange: true };
    }
    const jwt = findCookie(request, cookieName);
    if (jwt === null) throw unauthorized('not one session cookie');
    return { jwt, mayChange: isSameOrigin(request, origin) };
  }
}

/** Throws `unauthorized` unless the session may change something. */
export function requireChange(session: SignedIn | undefined): void {
  if (session?.mayChange !== true) throw foreign();
}

function foreign(): AppError {
  return unauthorized('session cookie from another origin');
}

/** Whether one of our own pages sent the request, according to Fetch Metadata, Origin or Referer. */
export function isSameOrigin(request: IncomingMessage, origin: string): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin: sender, referer } = request.headers;
  if (sender !== undefined || request.method !== 'GET') return sender === origin;
  // Browsers without Fetch Metadata (Safari up to 16.3) send no Origin with a same-origin GET, but our pages send a Referer.
  return referer !== undefined && URL.canParse(referer) && new URL(referer).origin === origin;
}
