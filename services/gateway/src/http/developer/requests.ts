import { PROBLEM_CODES } from '@phds/catalog/problems';
import { isId } from '@phds/service-kit/ids';
import { z } from 'zod';
import type { LoggedRequest } from '../../usage/request-log.ts';
import { type Exchange, onBehalf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { findChoice, type ListQuery, readListQuery, toList } from '../list-query.ts';
import { count, instant, text } from '../openapi/fields.ts';
import { sendJson } from '../respond.ts';
import { pathParameter } from '../routing.ts';

export const REQUESTS_QUERY = {
  status: text.meta({ description: 'A status such as 429, or a class such as 4xx.' }),
  code: z.enum(PROBLEM_CODES).meta({ description: 'Only requests that were answered with this error code.' }),
  requestId: text.meta({ description: 'Only the request with this id: `X-Request-Id` of its answer.' }),
};

export const requestJson = z
  .object({
    requestId: text,
    at: instant,
    method: text,
    endpoint: text.meta({ description: 'The path without ids.' }),
    status: count,
    code: z.enum(PROBLEM_CODES).nullable(),
    ms: count,
  })
  .meta({ id: 'LoggedRequest' });

/**
 * `GET /developer/apps/:clientId/requests`: the latest requests of the app in the last 24 hours, newest first. `complete` is false when
 * the requests at other gateways are missing.
 */
export async function listRequests(gateway: Gateway, exchange: Exchange): Promise<void> {
  const query = readListQuery(exchange.request.originalUrl, REQUESTS_QUERY);
  const isWanted = readFilters(query);
  query.check();
  const clientId = pathParameter(exchange, 'clientId');
  // Authorization throws `not_found` unless the app belongs to the developer.
  await gateway.backends.apps.getApp({ clientId }, onBehalf(exchange));
  const { requests, complete } = await gateway.requests.find(clientId);
  const found = requests.filter(isWanted);
  const { page, pageSize } = query.page;
  const shown = found.slice((page - 1) * pageSize, page * pageSize);
  const list = toList(shown.map(toRequestJson), query.page, found.length);
  sendJson(exchange.response, 200, { ...list, complete });
}

const STATUS = /^[1-5](\d\d|xx)$/;

function readFilters(query: ListQuery): (request: LoggedRequest) => boolean {
  const status = query.find('status');
  if (status !== undefined && !STATUS.test(status)) {
    query.fault('status', 'must be a status such as 429, or a class such as 4xx');
  }
  const code = findChoice(query, 'code', PROBLEM_CODES);
  const requestId = query.find('requestId');
  if (requestId !== undefined && !isId('req', requestId)) {
    query.fault('requestId', 'must be a request id, which starts with req_');
  }
  return (request) =>
    (status === undefined || hasStatus(request, status)) &&
    (code === undefined || request.code === code) &&
    (requestId === undefined || request.requestId === requestId);
}

function hasStatus(request: LoggedRequest, wanted: string): boolean {
  const status = String(request.status);
  return wanted.endsWith('xx') ? status[0] === wanted[0] : status === wanted;
}

function toRequestJson({
  requestId,
  at,
  method,
  endpoint,
  status,
  code,
  ms,
}: LoggedRequest): z.infer<typeof requestJson> {
  return { requestId, at: new Date(at).toISOString(), method, endpoint, status, code, ms };
}
