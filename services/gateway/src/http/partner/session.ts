import { type Exchange, userOf } from '../exchange.ts';
import { sendJson } from '../respond.ts';

/** `GET /partner/session`: the signed-in person, for pages that cannot read the cookie. */
export function showSession(exchange: Exchange): void {
  sendJson(exchange.response, 200, { data: { userId: userOf(exchange) } });
}
