import { readDayRange } from '../day-range.ts';
import { type Exchange, onBehalf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { readListQuery, toList } from '../list-query.ts';
import { sendJson } from '../respond.ts';
import { pathParameter } from '../routing.ts';

/**
 * `GET /developer/apps/:clientId/usage`: accesses and refused requests by day and endpoint (refused requests also by status),
 * newest day first.
 */
export async function listUsage(gateway: Gateway, exchange: Exchange): Promise<void> {
  const query = readListQuery(exchange.request.originalUrl, ['from', 'to']);
  const { from, to } = readDayRange(query);
  query.check();
  const { usage } = await gateway.backends.accesses.getAppUsage(
    { clientId: pathParameter(exchange, 'clientId'), from, to },
    onBehalf(exchange),
  );
  const { page, pageSize } = query.page;
  const shown = usage.slice((page - 1) * pageSize, page * pageSize);
  const data = shown.map(({ refusals, date, endpoint, released, refused }) => ({
    date,
    endpoint,
    released,
    refused,
    refusals: refusals.map(({ status, count }) => ({ status, count })),
  }));
  sendJson(exchange.response, 200, toList(data, query.page, usage.length));
}
