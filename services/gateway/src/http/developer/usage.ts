import { z } from 'zod';
import { limitCostly } from '../allowance.ts';
import { DAY_RANGE_QUERY, readDayRange } from '../day-range.ts';
import { type Exchange, onBehalf, userOf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { readListQuery, toList } from '../list-query.ts';
import { count, date, text } from '../openapi/fields.ts';
import { sendJson } from '../respond.ts';
import { pathParameter } from '../routing.ts';

export const usageJson = z
  .object({
    date,
    endpoint: text,
    released: count,
    refused: count,
    refusals: z.array(z.object({ status: count, count })),
  })
  .meta({ id: 'AppUsage', description: 'The accesses and refused requests of one day and endpoint.' });

/**
 * `GET /developer/apps/:clientId/usage`: accesses and refused requests by day and endpoint (refused requests also by status),
 * newest day first.
 */
export async function listUsage(gateway: Gateway, exchange: Exchange): Promise<void> {
  const query = readListQuery(exchange.request.originalUrl, DAY_RANGE_QUERY);
  const { from, to } = readDayRange(query);
  query.check();
  await limitCostly(gateway, exchange, 'usage', userOf(exchange));
  const { usage } = await gateway.backends.accesses.getAppUsage(
    { clientId: pathParameter(exchange, 'clientId'), from, to },
    onBehalf(exchange),
  );
  const { page, pageSize } = query.page;
  const shown = usage.slice((page - 1) * pageSize, page * pageSize);
  const data: z.infer<typeof usageJson>[] = shown.map(({ refusals, date, endpoint, released, refused }) => ({
    date,
    endpoint,
    released,
    refused,
    refusals: refusals.map(({ status, count }) => ({ status, count })),
  }));
  sendJson(exchange.response, 200, toList(data, query.page, usage.length));
}
