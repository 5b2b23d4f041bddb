import { unauthorized } from '@phds/service-kit/errors';
import type { Exchange } from '../exchange.ts';
import { sendJson } from '../respond.ts';

/** `GET /partner/session`: who is signed in, for pages that cannot read the cookie. */
export function showSession({ session, response }: Exchange): void {
  if (session === undefined) throw unauthorized('no session');
  sendJson(response, 200, { data: { userId: session.userId } });
}
