import { type Exchange, requireSession } from '../exchange.ts';
import { sendJson } from '../respond.ts';

/** `GET /partner/session`: the signed-in person, for pages that cannot read the cookie. */
export function showSession(exchange: Exchange): void {
  const { userId, name, expiresAt } = requireSession(exchange);
  sendJson(exchange.response, 200, { data: { userId, name, expiresAt: expiresAt.toISOString() } });
}
