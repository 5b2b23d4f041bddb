import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CallOptions } from '@connectrpc/connect';
import { propagation, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ProblemCode } from '@phds/catalog/problems';
import { withinOrigin } from '@phds/service-kit/current-work';
import { type AppError, notFound, unauthorized } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import type { SecurityEvent } from '@phds/service-kit/telemetry/log';
import type { Metrics } from '@phds/service-kit/telemetry/metrics';
import type { Request, Response } from 'express';
import { findAccessToken } from '../cache/access-tokens.ts';
import { type Allowance, type LimitName, limitFields, toPlainAddress } from '../limits/limits.ts';
import { isSafeMethod, type SignedIn } from './credentials.ts';
import type { Gateway, MeasureRequest } from './gateway.ts';
import type { Headers } from './respond.ts';

/** One request, its response and what is known about them so far. */
export interface Exchange {
  readonly gateway: Gateway;
  readonly request: Request;
  readonly response: Response;
  readonly requestId: string;
  /** `performance.now()` when the request arrived. */
  readonly startedAt: number;
  /** The values of `Authorization`. */
  readonly authorization: readonly string[];
  /** Pattern of the matched route, for the log. The path itself may contain a secret id. */
  route: string;
  /** What the security log calls a request of this route, whatever its outcome. */
  securityEvent: SecurityEvent | undefined;
  /** The app that the path names, whoever asks. */
  appInPath: string | undefined;
  /** The client id that the request presented, not yet verified. */
  presentedClientId: string | undefined;
  /** The app that has authenticated itself. */
  clientId: string | undefined;
  /** Whether the request only named an app without a secret, which anybody can. */
  isPublicCall: boolean;
  /** Thumbprint of the key that the request proved to hold, which is that of its token; empty for none. */
  provenKey: string;
  /** Set on routes that require a session. */
  session: SignedIn | undefined;
  /** Throws the error that the request asks for. In a sandbox deployment only. */
  force: (() => void) | undefined;
  /** Header fields of every answer except the uniform 401 and the 429 in its place. */
  headers: Headers;
}

export function createExchange(
  gateway: Gateway,
  request: Request,
  response: Response,
  authorization: readonly string[],
): Exchange {
  return {
    gateway,
    request,
    response,
    requestId: newId('req', 96),
    startedAt: performance.now(),
    authorization,
    route: '',
    securityEvent: undefined,
    appInPath: undefined,
    presentedClientId: undefined,
    clientId: undefined,
    isPublicCall: false,
    provenKey: '',
    session: undefined,
    force: undefined,
    headers: {},
  };
}

const exchanges = new WeakMap<IncomingMessage, Exchange>();

/** Starts the exchange of a request that Express routes. */
export function startExchange(gateway: Gateway, request: Request, response: Response): Exchange {
  const exchange = createExchange(gateway, request, response, request.headersDistinct['authorization'] ?? []);
  exchanges.set(request, exchange);
  return exchange;
}

/** The exchange of a request that Express routes. */
export function exchangeOf(request: Request): Exchange {
  const exchange = exchanges.get(request);
  if (exchange === undefined) throw new Error('a request without an exchange');
  return exchange;
}

/** The client's address according to the trusted proxies. */
export function addressOf({ request }: Exchange): string {
  return toPlainAddress(request.ip ?? request.socket.remoteAddress ?? '');
}

/** The presented credential, in the form that `FailedAuthentication` needs. */
export function credentialOf({ presentedClientId, authorization }: Exchange): string | undefined {
  return presentedClientId ?? findAccessToken(authorization) ?? undefined;
}

const CLIENT_ID = /^app_[0-9A-Za-z]{1,40}$/;

/** The presented client id. Everything else may be a secret in its place. */
export function findClientId(credential: string | undefined): string | null {
  return credential !== undefined && CLIENT_ID.test(credential) ? credential : null;
}

/** A named path parameter; empty when the route has none. Throws `not_found` for values that cannot be an id. */
export function pathParameter({ request }: Exchange, name: string): string {
  const value = request.params[name] ?? '';
  if (typeof value !== 'string' || value.includes('\0')) throw notFound();
  return value;
}

/** Id of the signed-in person. Throws `unauthorized` without a session. */
export function userOf(exchange: Exchange): string {
  return requireSession(exchange).userId;
}

/** Call options that forward the person's session to the called service. Throws `unauthorized` without a session. */
export function onBehalf(exchange: Exchange): CallOptions {
  return { headers: { [SESSION_METADATA]: requireSession(exchange).jwt } };
}

/** The session of the signed-in person. Throws `unauthorized` without a session. */
export function requireSession({ session }: Exchange): SignedIn {
  if (session === undefined) throw unauthorized('no session');
  return session;
}

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

/** Label of requests that match no route. */
const OTHER = 'other';
/** Label `status` of a request whose client was gone before the answer was sent. */
const ABORTED = 'aborted';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Measures the requests of the public port. */
export function measureRequests(metrics: Metrics): MeasureRequest {
  let inFlight = 0;
  metrics.readGauge(
    { name: 'phds_http_requests_in_flight', help: 'Requests being answered now.' },
    () => inFlight,
  );
  const durations = metrics.histogram({
    name: 'phds_http_request_duration_seconds',
    help: 'Duration of requests, from their head to the end of the answer.',
    labels: ['endpoint', 'method', 'status'],
  });
  return (request, response, endpointOf) => {
    const startedAt = performance.now();
    const method = request.method ?? '';
    inFlight += 1;
    whenOver(request, response, () => {
      inFlight -= 1;
      const status = response.writableFinished ? String(response.statusCode) : ABORTED;
      durations
        .labels(endpointOf() || OTHER, METHODS.has(method) ? method : OTHER, status)
        .observe((performance.now() - startedAt) / 1000);
    });
  };
}

/** Pipelined requests whose responses wait behind others, by connection. */
const queued = new WeakMap<Socket, Set<() => void>>();

/** Calls `end` once, when the answer is sent or the client is gone. */
function whenOver(request: IncomingMessage, response: ServerResponse, end: () => void): void {
  if (response.socket !== null) {
    response.once('close', end);
    return;
  }
  // A response that waits behind another has no connection yet. It never closes if the connection ends first.
  const { socket } = request;
  const waiting = queued.get(socket) ?? new Set();
  if (!queued.has(socket)) {
    queued.set(socket, waiting);
    socket.once('close', () => {
      for (const endOne of [...waiting]) endOne();
    });
  }
  const endOnce = () => {
    if (waiting.delete(endOnce)) end();
  };
  waiting.add(endOnce);
  response.once('close', endOnce);
}

/** A request and how it is named. */
interface NamedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Whether it may have a trace. Default: it may. */
  readonly isTraced?: boolean;
  /** The pattern of the matched route, never the path; empty for none. Called at the end. */
  readonly routeOf: () => string;
}

/**
 * Handles a request so that every line of the log about it has its id, here and in the called services, and has a span. Nothing of
 * either is sent to the client here.
 */
export function withinRequest<T>(
  { request, response, requestId, isTraced = true, routeOf }: NamedRequest,
  handle: () => T,
): T {
  if (!isTraced) return withinOrigin({ requestIds: [requestId], trace: undefined }, handle);
  const span = startSpan(request);
  if (span.isRecording()) {
    whenOver(request, response, () => {
      const { method = '' } = request;
      const [route, status] = [routeOf(), response.statusCode];
      span.updateName(`${method} ${route}`.trimEnd());
      span.setAttributes({
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'phds.request_id': requestId,
      });
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
  }
  return withinOrigin({ requestIds: [requestId], trace: trace.setSpan(ROOT_CONTEXT, span) }, handle);
}

/** Does nothing while traces are off. A trace from outside is linked, not continued: apps would decide what is recorded. */
function startSpan({ method = '', headers }: IncomingMessage): Span {
  const sender = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, headers));
  const links = sender === undefined ? [] : [{ context: sender }];
  return trace.getTracer('phds').startSpan(method, { kind: SpanKind.SERVER, root: true, links });
}

/**
 * Adds an answered request to the request log of its app, if it has authenticated itself, or named an app and was refused for its assertion.
 * `code` is null for an answer that is no error.
 */
export function addToRequestLog(exchange: Exchange, code: ProblemCode | null, error?: AppError): void {
  const { gateway, request, response, requestId, startedAt, route: endpoint } = exchange;
  const fault = error === undefined ? undefined : findAssertionFault(error);
  const clientId = fault === undefined ? exchange.clientId : exchange.presentedClientId;
  if (clientId === undefined) return;
  const isProven = code === null || (fault === undefined && !exchange.isPublicCall);
  const ms = Math.round(performance.now() - startedAt);
  const at = gateway.clock.now().getTime() - ms;
  const { method } = request;
  const answered = { requestId, at, method, endpoint, status: response.statusCode, code, ms, fault };
  gateway.requests.add(clientId, answered, isProven);
}

/** How the cause of authorization begins when an active app was refused for its assertion. */
const ASSERTION_REFUSED = 'assertion: ';

function findAssertionFault({ reason, cause }: AppError): string | undefined {
  const isRefused =
    reason === 'unauthorized' && typeof cause === 'string' && cause.startsWith(ASSERTION_REFUSED);
  return isRefused ? cause.slice(ASSERTION_REFUSED.length) : undefined;
}

/** Writes an answered request to the security log if its route is in it. Refused authentications of all routes have lines of their own. */
export function noteSecurityEvent(exchange: Exchange): void {
  const { gateway, response, requestId, route, securityEvent: event, presentedClientId } = exchange;
  const outcome = response.statusCode;
  if (event === undefined || outcome === 401) return;
  const client = exchange.clientId ?? findClientId(exchange.appInPath ?? presentedClientId);
  const cause = outcome < 400 ? {} : { cause: `answered with ${outcome}` };
  const address = addressOf(exchange);
  gateway.security(event, { requestId, route, outcome, address, client, ...cause });
}
