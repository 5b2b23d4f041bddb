import { type Exchange, userOf } from '../exchange.ts';
import { sendJson } from '../respond.ts';

/** `GET /partner/session`: who is signed in, for pages that cannot read the cookie. */
export function showSession(exchange: Exchange): void {
  sendJson(exchange.response, 200, { data: { userId: userOf(exchange) } });
}
