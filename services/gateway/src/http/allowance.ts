import type { ServerResponse } from 'node:http';
import { type Allowance, type LimitName, limitFields } from '../limits/limits.ts';
import { isSafeMethod } from './credentials.ts';
import { type Exchange, userOf } from './exchange.ts';

/**
 * Counts a request, or what a counted one costs beyond one point, and adds the fields of the limit to the response. Throws `rate_limited`
 * beyond the limit.
 */
export async function takeFromLimit(
  { gateway, response }: Exchange,
  name: LimitName,
  key: string,
  further?: number,
): Promise<void> {
  const allowance = await gateway.limits.take(name, key, further);
  showAllowance(response, allowance);
  gateway.limits.require(allowance);
}

/** Adds the fields of a limit to the response. Not used for the uniform 401. */
export function showAllowance(response: ServerResponse, allowance: Allowance): void {
  response.setHeaders(new Map(Object.entries(limitFields(allowance))));
}

/** The same for a request of a session. Reads and changes have separate limits. */
export function takeFromPerson(exchange: Exchange): Promise<void> {
  const name = isSafeMethod(exchange.request.method) ? 'user' : 'user-changes';
  return takeFromLimit(exchange, name, userOf(exchange));
}

/** The same for what a request of a session costs besides. */
export function takeCost(exchange: Exchange, cost: number): Promise<void> {
  return takeFromLimit(exchange, 'user-costly', userOf(exchange), cost);
}

/** Removes the fields of the limit, for answers that must be identical with and without them. */
export function withdrawAllowance(response: ServerResponse): void {
  response.removeHeader('RateLimit-Policy');
  response.removeHeader('RateLimit');
}
