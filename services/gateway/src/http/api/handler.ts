import { errorsOfEndpoint } from '@phds/catalog/data-errors';
import { toAppError } from '@phds/service-kit/errors';
import { toReadEndpoint } from '@phds/service-kit/wire-enums';
import type { Request, Response } from 'express';
import {
  admit,
  type Counted,
  countDataRequest,
  handleDataRequest,
  readData,
  requireAllowance,
} from '../data-request.ts';
import { createExchange, type Exchange } from '../exchange.ts';
import { type ForcedRoute, findForced, throwForcedData } from '../forced-errors.ts';
import type { Gateway } from '../gateway.ts';
import { refuse } from '../refusal.ts';
import type { Headers } from '../respond.ts';
import { sendDocument } from './document-answer.ts';
import { parseQueryParameters, readDataQuery } from './query-parameters.ts';
import {
  type ApiCall,
  getRoute,
  parseMedicationId,
  type Route,
  readApiCall,
  toPattern,
  toUsageName,
  VERSIONS_METHODS,
  VERSIONS_PATH,
} from './routes.ts';
import { LIST_VERSIONS, lifecycleHeaders } from './versions.ts';

/** A request under `/api`. */
interface DataExchange extends Exchange {
  readonly call: ApiCall;
  /** The data endpoint, once it was looked up. */
  endpoint: Route | undefined;
}

/** Handles everything under `/api`. The order of the checks decides which error a request gets. */
export function createApiHandler(gateway: Gateway): (request: Request, response: Response) => void {
  const lifecycle = lifecycleHeaders(gateway.config);
  return (request, response) => {
    const call = readApiCall(request);
    if (call.path === VERSIONS_PATH && VERSIONS_METHODS.includes(call.method)) {
      gateway.measure(request, response, () => VERSIONS_PATH);
      return void listVersions(createExchange(gateway, request, response, []));
    }
    const exchange = createExchange(gateway, request, response, call.authorization);
    const data: DataExchange = Object.assign(exchange, { call, endpoint: undefined });
    handleDataRequest(data, {
      routeOf: () => toPattern(call.path, data.endpoint),
      nameOf: () => toUsageName(call.path, data.endpoint),
      answer: () => answer(data, lifecycle),
    });
  };
}

async function listVersions(exchange: Exchange): Promise<void> {
  try {
    findForced(exchange, LIST_VERSIONS);
    await LIST_VERSIONS.handle(exchange);
  } catch (error) {
    await refuse(exchange, toAppError(error));
  }
}

const VERSION: Headers = { 'API-Version': '1' };

async function answer(data: DataExchange, lifecycle: Headers): Promise<void> {
  const counted = await countDataRequest(data, { before: VERSION, after: lifecycle });
  throwForcedData(data, data.call.force, counted, () => toForcedRoute(data));
  await serve(data, counted);
}

function toForcedRoute({ gateway, call }: DataExchange): ForcedRoute {
  const { endpoint, category, scopes } = getRoute(call, gateway.config.MAX_URL_BYTES);
  const misspell = () => parseQueryParameters(endpoint, category, readDataQuery('fromm=2026-03-01'));
  return { codes: errorsOfEndpoint(endpoint), scope: scopes[0], misspell };
}

async function serve(data: DataExchange, { who: asking, allowance }: Counted): Promise<void> {
  const { gateway, call, requestId, headers, response } = data;
  const route = getRoute(call, gateway.config.MAX_URL_BYTES);
  data.endpoint = route;
  requireAllowance(allowance);
  const { endpoint, category, scopes } = route;
  const query = readDataQuery(call.rawQuery);
  const who = await admit(gateway, asking, scopes);
  const medicationId = parseMedicationId(route);
  const { linkQuery, ...parameters } = parseQueryParameters(endpoint, category, query);
  const request = {
    endpoint: toReadEndpoint(endpoint.id),
    category: category ?? '',
    medicationId,
    parameters,
    requestId,
    jkt: data.provenKey,
  };
  const document = await readData(data, who, scopes, () => request);
  const links =
    parameters.page === undefined ? null : { path: call.path, query: linkQuery, ...parameters.page };
  sendDocument(response, { document, links, headers, ifNoneMatch: call.ifNoneMatch });
}
