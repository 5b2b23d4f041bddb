import { unauthorized } from '@phds/service-kit/errors';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { sendJson } from '../respond.ts';
import { isSameOrigin, sessionCookieName } from '../session.ts';

/**
 * `POST /sign-out`: removes the session cookie, also one that is no longer valid. The session itself stays valid until it expires, for
 * whoever holds a copy: it is the identity provider's, and ending it there is not part of this. Throws `unauthorized` for other origins.
 */
export function signOut({ config }: Gateway, { request, response }: Exchange): void {
  const { origin } = new URL(config.PUBLIC_URL);
  if (!isSameOrigin(request, origin)) throw unauthorized('sign-out from another origin');
  const name = sessionCookieName(config.PUBLIC_URL);
  const secure = name.startsWith('__Host-') ? '; Secure' : '';
  const cookie = `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${secure}`;
  sendJson(response, 200, { data: { signedOut: true } }, { 'Set-Cookie': cookie });
}
