import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ProblemCode } from '@phds/catalog/problems';
import { isSandboxApp } from '@phds/catalog/sandbox';
import { AppError, toAppError, unauthorized } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { toReadEndpoint } from '@phds/service-kit/postgres/read-endpoints';
import type { Authenticated } from '../../cache/authenticator.ts';
import { ClientGone } from '../../clients/batched-reads.ts';
import type { Allowance } from '../../limits/limit.ts';
import { findAccessToken, findBearerToken } from '../bearer.ts';
import type { Gateway } from '../gateway.ts';
import { meaningOf } from '../http-error.ts';
import { refuse } from '../refusal.ts';
import { addToRequestLog } from '../request-log-entry.ts';
import { withinRequest } from '../request-origin.ts';
import { toForcedDataError } from '../sandbox/forced-data-errors.ts';
import { admit, withAssertion } from './admission.ts';
import { type ApiCall, readApiCall } from './api-call.ts';
import { sendDocument } from './document-answer.ts';
import { parseQueryParameters } from './query-parameters.ts';
import {
  getRoute,
  parseMedicationId,
  type Route,
  scopesOf,
  toPattern,
  toUsageName,
  VERSIONS_PATH,
} from './routes.ts';
import { lifecycleHeaders, sendVersions } from './versions.ts';

/** Handles everything under `/api`. `address` is the client's address according to the trusted proxies. */
export type ApiHandler = (
  request: IncomingMessage & { ip?: string | undefined },
  response: ServerResponse,
) => void;

/** Handles one request. The order of the checks decides which error a request gets. */
export function createApiHandler(gateway: Gateway): ApiHandler {
  const lifecycle = lifecycleHeaders(gateway.config);
  return (request, response) => {
    const call = readApiCall(request);
    if (call.path === VERSIONS_PATH && (call.method === 'GET' || call.method === 'OPTIONS')) {
      gateway.measure(request, response, () => VERSIONS_PATH);
      return sendVersions(response, call.method, gateway.config);
    }
    const requestId = newId('req', 96);
    const address = request.ip ?? request.socket.remoteAddress ?? '';
    const startedAt = performance.now();
    const arrival: Arrival = {
      call,
      requestId,
      startedAt,
      address,
      response,
      clientId: null,
      headers: {},
      route: undefined,
    };
    const routeOf = () => toPattern(call.path, arrival.route);
    gateway.measure(request, response, routeOf);
    void withinRequest({ request, response, requestId, routeOf }, () =>
      answer(gateway, arrival, lifecycle)
        .then(
          () => noteData(gateway, arrival),
          (caught: unknown) => refuseCall(gateway, arrival, caught),
        )
        .catch((err: unknown) => gateway.log.error({ requestId, err }, 'answering failed')),
    );
  };
}

/** A request and what is known about it so far. */
interface Arrival {
  readonly call: ApiCall;
  readonly requestId: string;
  readonly startedAt: number;
  readonly address: string;
  readonly response: ServerResponse;
  /** The app, once its token has proved to be live. */
  clientId: string | null;
  headers: Readonly<Record<string, string>>;
  /** The data endpoint, once it was looked up. */
  route: Route | undefined;
}

async function answer(
  gateway: Gateway,
  arrival: Arrival,
  lifecycle: Readonly<Record<string, string>>,
): Promise<void> {
  const { call, requestId } = arrival;
  const who = await authenticate(gateway, call);
  arrival.clientId = who.principal.clientId;
  // Every authenticated request counts and gets the limit's header fields; exceeding the limit is judged later, in its place in
  // the order.
  const allowance = await gateway.limits.take(who.principal.clientId, who.principal.userId);
  arrival.headers = { ...toHeaders(allowance, requestId), ...lifecycle };
  if (call.force !== undefined && isSandboxApp(arrival.clientId) && allowance.allowed) {
    throwForced(gateway, arrival, call.force);
  }
  await serve(gateway, arrival, who, allowance);
}

/** Answers a sandbox app with the error that it asks for. */
function throwForced({ config }: Gateway, arrival: Arrival, value: string): never {
  const { call, headers } = arrival;
  const route = () => getRoute(call, config.MAX_URL_BYTES);
  const forced = toForcedDataError(value, { call, route, headers });
  arrival.headers = forced.headers;
  throw forced.error;
}

function noteData(gateway: Gateway, arrival: Arrival): void {
  const { call, requestId, startedAt, route } = arrival;
  const endpoint = toUsageName(call.path, route);
  noteAnswer(gateway, arrival, endpoint, null);
  gateway.log.debug({ requestId, route: endpoint, ms: performance.now() - startedAt }, 'data');
}

function noteAnswer(gateway: Gateway, arrival: Arrival, endpoint: string, code: ProblemCode | null): void {
  const { clientId, requestId, startedAt, call, response } = arrival;
  if (clientId === null) return;
  addToRequestLog(gateway, clientId, { requestId, startedAt, method: call.method, endpoint, response, code });
}

async function refuseCall(gateway: Gateway, arrival: Arrival, caught: unknown): Promise<void> {
  const { call, requestId, startedAt, address, response, clientId, headers, route } = arrival;
  // The path is the caller's own text and may contain a secret.
  const endpoint = toUsageName(call.path, route);
  // Neither a failure of the service nor a refusal, because no answer was sent.
  if (caught instanceof ClientGone) {
    return gateway.log.debug({ requestId, route: endpoint }, 'the client hung up');
  }
  const error = toAppError(caught);
  if (clientId !== null) gateway.refusals.add({ clientId, endpoint, status: meaningOf(error).status });
  const code = await refuse(gateway, response, error, {
    surface: 'problem',
    requestId,
    startedAt,
    address,
    route: endpoint,
    credential: findAccessToken(call.authorization) ?? undefined,
    clientId,
    headers,
  });
  if (code !== null) noteAnswer(gateway, arrival, endpoint, code);
}

async function authenticate({ authenticator }: Gateway, { authorization }: ApiCall): Promise<Authenticated> {
  const token = findBearerToken(authorization);
  if (token === null) throw unauthorized('not one bearer token');
  return authenticator.authenticate(token);
}

function toHeaders({ policy, state }: Allowance, requestId: string): Record<string, string> {
  return { 'API-Version': '1', 'RateLimit-Policy': policy, RateLimit: state, 'X-Request-Id': requestId };
}

async function serve(
  gateway: Gateway,
  arrival: Arrival,
  authenticated: Authenticated,
  allowance: Allowance,
): Promise<void> {
  const { call, requestId, headers, response } = arrival;
  const route = getRoute(call, gateway.config.MAX_URL_BYTES);
  arrival.route = route;
  if (!allowance.allowed) {
    throw new AppError('rate_limited', '', { retryAfterSeconds: allowance.retryAfterSeconds });
  }
  const { endpoint, category } = route;
  const scopes = scopesOf(route, call.rawQuery);
  const who = await admit(gateway, authenticated, scopes);
  const medicationId = parseMedicationId(route);
  const { linkQuery, ...parameters } = parseQueryParameters(endpoint, category, call.rawQuery);
  const request = {
    endpoint: toReadEndpoint(endpoint.id),
    category: category ?? '',
    medicationId,
    parameters,
    requestId,
    scope: '',
  };
  const { clientId } = who.principal;
  const isWanted = () => !response.destroyed;
  const document = await withAssertion(gateway, who, scopes, (assertion, scope) =>
    gateway.backends.readData({
      // The first scope is the default.
      request: scope === scopes[0] ? request : { ...request, scope },
      assertion,
      clientId,
      isWanted,
    }),
  );
  const links =
    parameters.page === undefined ? null : { path: call.path, query: linkQuery, ...parameters.page };
  sendDocument(response, { document, links, headers, ifNoneMatch: call.ifNoneMatch });
}
