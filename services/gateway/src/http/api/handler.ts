import { isSandboxApp } from '@phds/catalog/sandbox';
import { AppError, toAppError } from '@phds/service-kit/errors';
import { toReadEndpoint } from '@phds/service-kit/wire-enums';
import type { Request, Response } from 'express';
import { type Authenticated, UnprovenToken } from '../../cache/authenticator.ts';
import { ClientGone } from '../../clients/batched-reads.ts';
import { type Judgement, judge } from '../../domain/principal.ts';
import type { Allowance } from '../../limits/limits.ts';
import { createExchange, type Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { meaningOf } from '../http-error.ts';
import { addToRequestLog, withinRequest } from '../observation.ts';
import { authenticate } from '../presented-token.ts';
import { refuse } from '../refusal.ts';
import type { Headers } from '../respond.ts';
import { toForcedDataError } from '../sandbox/forced-data-errors.ts';
import { sendDocument } from './document-answer.ts';
import { parseQueryParameters, readDataQuery } from './query-parameters.ts';
import {
  type ApiCall,
  getRoute,
  parseMedicationId,
  type Route,
  readApiCall,
  scopesOf,
  toPattern,
  toUsageName,
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
    if (call.path === VERSIONS_PATH && (call.method === 'GET' || call.method === 'OPTIONS')) {
      gateway.measure(request, response, () => VERSIONS_PATH);
      return void LIST_VERSIONS.handle(createExchange(gateway, request, response, []));
    }
    const exchange = createExchange(gateway, request, response, call.authorization);
    const data: DataExchange = Object.assign(exchange, { call, endpoint: undefined });
    const { requestId } = data;
    const routeOf = () => toPattern(call.path, data.endpoint);
    gateway.measure(request, response, routeOf);
    void withinRequest({ request, response, requestId, routeOf }, () =>
      answer(data, lifecycle)
        .then(
          () => noteData(data),
          (caught: unknown) => refuseCall(data, caught),
        )
        .catch((err: unknown) => gateway.log.error({ requestId, err }, 'answering failed')),
    );
  };
}

async function answer(data: DataExchange, lifecycle: Headers): Promise<void> {
  const { gateway, call, requestId } = data;
  const who = await authenticate(data);
  const { clientId, userId } = who.principal;
  // Every authenticated request counts and gets the limit's header fields; exceeding the limit is judged later, in its place in
  // the order.
  const allowance = await gateway.limits.take(clientId, userId);
  data.headers = { ...data.headers, ...toHeaders(allowance, requestId), ...lifecycle };
  if (call.force !== undefined && isSandboxApp(clientId) && allowance.allowed) throwForced(data, call.force);
  await serve(data, who, allowance);
}

/** Answers a sandbox app with the error that it asks for. */
function throwForced(data: DataExchange, value: string): never {
  const { gateway, call, headers } = data;
  const route = () => getRoute(call, gateway.config.MAX_URL_BYTES);
  const forced = toForcedDataError(value, { route, headers });
  data.headers = forced.headers;
  throw forced.error;
}

function noteData(data: DataExchange): void {
  const { gateway, call, requestId, startedAt, endpoint } = data;
  data.route = toUsageName(call.path, endpoint);
  addToRequestLog(data, null);
  gateway.log.debug({ requestId, route: data.route, ms: performance.now() - startedAt }, 'data');
}

async function refuseCall(data: DataExchange, caught: unknown): Promise<void> {
  const { gateway, call, requestId, clientId, endpoint } = data;
  // The path is the caller's own text and may contain a secret.
  const route = toUsageName(call.path, endpoint);
  data.route = route;
  // No failure of ours, and no refusal, because nothing was answered.
  if (caught instanceof ClientGone) return gateway.log.debug({ requestId, route }, 'the client hung up');
  const error = toAppError(caught);
  if (clientId !== undefined) {
    const isWithoutKey = error instanceof UnprovenToken;
    gateway.refusals.add({ clientId, endpoint: route, status: meaningOf(error).status, isWithoutKey });
  }
  const code = await refuse(data, error);
  if (code !== null) addToRequestLog(data, code);
}

function toHeaders({ policy, state }: Allowance, requestId: string): Headers {
  return { 'API-Version': '1', 'RateLimit-Policy': policy, RateLimit: state, 'X-Request-Id': requestId };
}

async function serve(data: DataExchange, authenticated: Authenticated, allowance: Allowance): Promise<void> {
  const { gateway, call, requestId, headers, response } = data;
  const route = getRoute(call, gateway.config.MAX_URL_BYTES);
  data.endpoint = route;
  if (!allowance.allowed) {
    throw new AppError('rate_limited', '', { retryAfterSeconds: allowance.retryAfterSeconds });
  }
  const { endpoint, category } = route;
  const query = readDataQuery(call.rawQuery);
  const scopes = scopesOf(route, query);
  const who = await admit(gateway, authenticated, scopes);
  const medicationId = parseMedicationId(route);
  const { linkQuery, ...parameters } = parseQueryParameters(endpoint, category, query);
  const request = {
    endpoint: toReadEndpoint(endpoint.id),
    category: category ?? '',
    medicationId,
    parameters,
    requestId,
    scope: '',
    jkt: data.provenKey,
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

type Judges = Pick<Gateway, 'authenticator' | 'clock'>;

const USERLESS = 'This token has no user. Use one from the authorization code flow.';

/** The facts by which a request was admitted, and the scope that opens it. */
interface Admitted extends Authenticated {
  readonly scope: string;
}

/**
 * Judges scope and consent by the scopes of which each one opens the request, and returns the first that does, with the facts used.
 * If cached facts show no consent, authorization is asked again before CONSENT_REQUIRED is returned, so that a new approval works at
 * once. Errors name the first scope.
 */
async function admit(gateway: Judges, who: Authenticated, scopes: readonly string[]): Promise<Admitted> {
  const now = gateway.clock.now().getTime();
  let refusal: Exclude<Judgement, 'allowed'> = 'insufficient_scope';
  for (const scope of scopes) {
    const judgement = judge(who.principal, scope, now);
    if (judgement === 'allowed') return { ...who, scope };
    if (judgement === 'consent_required') refusal = judgement;
  }
  if (refusal === 'consent_required' && who.fromCache && who.principal.userId !== '') {
    return admit(gateway, await gateway.authenticator.renew(who), scopes);
  }
  const isUserless = refusal === 'consent_required' && who.principal.userId === '';
  throw new AppError(refusal, isUserless ? USERLESS : '', { requiredScope: scopes[0] ?? '' });
}

/**
 * Calls health-data with the assertion. The facts are renewed and the call repeated once if the assertion is stale, or if there is no
 * consent to the scope but another may open the request. Facts that the record step has refuted are dropped from the cache.
 */
async function withAssertion<T>(
  gateway: Judges,
  who: Admitted,
  scopes: readonly string[],
  call: (assertion: string, scope: string) => Promise<T>,
): Promise<T> {
  try {
    return await call(who.principal.assertion, who.scope);
  } catch (error) {
    if (!(error instanceof AppError) || !REFUTED.has(error.reason)) throw error;
    gateway.authenticator.forget(who);
    const mayChooseAgain = error.reason === 'consent_required' && scopes.length > 1;
    if (error.reason !== 'assertion_stale' && !mayChooseAgain) throw withScope(error, scopes);
  }
  const renewed = await admit(gateway, await gateway.authenticator.renew(who), scopes);
  try {
    return await call(renewed.principal.assertion, renewed.scope);
  } catch (error) {
    if (error instanceof AppError && REFUTED.has(error.reason)) {
      gateway.authenticator.forget(renewed);
      throw withScope(error, scopes);
    }
    throw error;
  }
}

const REFUTED: ReadonlySet<string> = new Set([
  'assertion_stale',
  'unauthorized',
  'token_expired',
  'consent_required',
]);

/** The error with the scope that the caller should ask for: the first that opens the request, whichever was judged. */
function withScope(error: AppError, scopes: readonly string[]): AppError {
  const [scope = ''] = scopes;
  if (error.reason !== 'consent_required' || error.requiredScope === scope) return error;
  return new AppError('consent_required', error.message, { requiredScope: scope });
}
