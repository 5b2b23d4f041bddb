import type { IncomingMessage } from 'node:http';
import { type AppError, unauthorized } from '@phds/service-kit/errors';
import type { Session, SessionVerifier } from '@phds/service-kit/trust/session';
import type { EndedSessions } from '../clients/ended-sessions.ts';
import { isSafeMethod } from '../domain/safe-methods.ts';
import { findBearerToken } from './bearer.ts';
import { findCookie, sessionCookieName } from './cookies.ts';

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
