import { unauthorized } from '@phds/service-kit/errors';
import { sessionCookieName, toClearCookie } from '../cookies.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { sendJson } from '../respond.ts';
import { isSameOrigin } from '../session.ts';

/**
 * `POST /sign-out`: removes the session cookie, even an invalid one. The session token itself stays valid until it expires; ending
 * it is up to the identity provider. Throws `unauthorized` for cross-origin requests.
 */
export function signOut({ config }: Gateway, { request, response }: Exchange): void {
  const { origin } = new URL(config.PUBLIC_URL);
  if (!isSameOrigin(request, origin)) throw unauthorized('sign-out from another origin');
  const name = sessionCookieName(config.PUBLIC_URL);
  const cookie = toClearCookie(name);
  sendJson(response, 200, { data: { signedOut: true } }, { 'Set-Cookie': cookie });
}
