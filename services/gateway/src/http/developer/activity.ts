import { PROBLEM_CODES } from '@phds/catalog/problems';
import { isId } from '@phds/service-kit/ids';
import { z } from 'zod';
import type { LoggedRequest } from '../../usage/request-log.ts';
import { toJson } from '../messages.ts';
import { count, date, instant, listOf, PAGE_QUERY, text } from '../openapi/fields.ts';
import { jsonOperation, type MountedOperation } from '../operation.ts';
import { DAY_RANGE_QUERY, findChoice, type ListQuery, readDayRange, sliceOf, toList } from '../query.ts';

const usageJson = z
  .object({
    date,
    endpoint: text,
    released: count,
    refused: count,
    refusals: z.array(z.object({ status: count, count })),
    withoutKey: count.meta({
      description:
        'Refused requests with a live token of the app whose key they did not prove: a sign of copied tokens.',
    }),
  })
  .meta({ id: 'AppUsage', description: 'The accesses and refused requests of one day and endpoint.' });

const REQUESTS_QUERY = {
  status: text.meta({ description: 'A status such as 429, or a class such as 4xx.' }),
  code: z.enum(PROBLEM_CODES).meta({ description: 'Only requests that were answered with this error code.' }),
  requestId: text.meta({ description: 'Only the request with this id: `X-Request-Id` of its answer.' }),
};

const requestJson = z
  .object({
    requestId: text,
    at: instant,
    method: text,
    endpoint: text.meta({ description: 'The path without ids.' }),
    status: count,
    code: z.enum(PROBLEM_CODES).nullable(),
    ms: count,
    fault: text.optional().meta({
      description:
        'Only of a request whose client assertion was refused: what was wrong. Everybody can send one in the name of the app.',
    }),
  })
  .meta({ id: 'LoggedRequest' });

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

/** What an app has done, for its developer. */
export const ACTIVITY_OPERATIONS: readonly MountedOperation[] = [
  jsonOperation({
    method: 'GET',
    path: '/developer/apps/:clientId/usage',
    operationId: 'listAppUsage',
    summary: 'Count accesses and refused requests',
    query: { ...PAGE_QUERY, ...DAY_RANGE_QUERY },
    cost: 5,
    answer: { description: 'By day and endpoint, newest day first.', body: listOf(usageJson) },
    handle: async ({ backends, caller, query, clientId }) => {
      const { from, to } = readDayRange(query);
      query.check();
      const { usage } = await backends.accesses.getAppUsage({ clientId, from, to }, caller);
      const data = sliceOf(usage, query.page).map((row) => toJson(usageJson, row));
      return toList(data, query.page, usage.length);
    },
  }),
  jsonOperation({
    method: 'GET',
    path: '/developer/apps/:clientId/requests',
    operationId: 'listRequests',
    summary: 'List the latest requests of an app',
    description:
      'At most 200, of the last 24 hours. `complete` is false when the requests at other gateways are missing.',
    query: { ...PAGE_QUERY, ...REQUESTS_QUERY },
    answer: {
      description: 'The requests, newest first.',
      body: listOf(requestJson).extend({ complete: z.boolean() }),
    },
    handle: async ({ exchange, backends, caller, query, clientId }) => {
      const isWanted = readFilters(query);
      query.check();
      // Authorization throws `not_found` unless the app belongs to the developer.
      await backends.apps.listApps({ clientId }, caller);
      const { requests, complete } = await exchange.gateway.requests.find(clientId);
      const found = requests.filter(isWanted);
      const shown = sliceOf(found, query.page).map((request) => ({
        ...request,
        at: new Date(request.at).toISOString(),
      }));
      return { ...toList(shown, query.page, found.length), complete };
    },
  }),
];
