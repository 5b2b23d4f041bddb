import type { IncomingMessage, ServerResponse } from 'node:http';
import { API_PREFIX } from '@phds/catalog/endpoints';
import { FHIR_PREFIX } from '@phds/catalog/fhir/resource-types';
import { type AppError, invalidRequest, toAppError } from '@phds/service-kit/errors';
import { withoutRedaction } from '@phds/service-kit/telemetry/log';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { UnprovenToken } from '../cache/access-tokens.ts';
import { createApiSurface } from './api/requests.ts';
import { answerVersions, asksForVersions } from './api/versions.ts';
import { createDataHandler } from './data-request.ts';
import {
  addToRequestLog,
  exchangeOf,
  noteSecurityEvent,
  startExchange,
  takeFromPerson,
  withinRequest,
} from './exchange.ts';
import { isFhirDocument } from './fhir/documents.ts';
import { FHIR_SURFACE, findFhirRoute } from './fhir/requests.ts';
import { FORCE_HEADER } from './forced-errors.ts';
import type { Gateway } from './gateway.ts';
import { urlTooLong } from './http-error.ts';
import { createRouter, mountNotFound } from './operation.ts';
import { SANDBOX_OPERATIONS, SURFACES } from './operations.ts';
import { isUnder, splitUrl } from './query.ts';
import { refuse } from './refusal.ts';
import { send, transportHeaders } from './respond.ts';
import { createPreparation } from './sandbox.ts';
import { SIGN_IN_ROUTES } from './sign-in/sign-in.ts';
import { createDocumentation } from './web/documentation.ts';
import { createWebRouter } from './web/web-app.ts';

/** Builds the public interface. `/api` and the FHIR interface are hot paths and have handlers of their own; Express routers serve the rest. */
export function createApp(gateway: Gateway): Express {
  const { config } = gateway;
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  app.set('query parser', false).set('trust proxy', config.TRUST_PROXY);
  const api = createDataHandler(gateway, createApiSurface(config));
  const besideApi = (request: Request, response: Response) =>
    asksForVersions(request) ? void answerVersions(gateway, request, response) : api(request, response);
  const fhir = createDataHandler(gateway, FHIR_SURFACE);
  const transport = Object.entries(transportHeaders(config));
  const answerPreflight = createPreflight(config);
  app.use((request, response, next) => {
    for (const [name, value] of transport) response.setHeader(name, value);
    if (request.method === 'OPTIONS' && !isFhirDocument(request.url) && answerPreflight(request, response))
      return;
    openToPages(request, response);
    if (isUnder(API_PREFIX, request.url)) api(request, response);
    else if (isUnder('/api', request.url)) besideApi(request, response);
    else if (isUnder(FHIR_PREFIX, request.url) && !isFhirDocument(request.url)) fhir(request, response);
    else next();
  });
  app.use(observe(gateway), limitUrl(gateway));
  const surface = (prefix: keyof typeof SURFACES) => mountNotFound(createRouter(prefix, SURFACES[prefix]));
  app.use('/oauth', surface('/oauth'));
  app.use(FHIR_PREFIX, surface(FHIR_PREFIX));
  app.use(['/developer', '/partner'], requireSession(gateway));
  if (config.SANDBOX) {
    app.use('/developer', createRouter('/developer', SANDBOX_OPERATIONS));
    app.use('/partner', createPreparation(gateway));
  }
  app.use('/developer', surface('/developer'));
  app.use('/partner', surface('/partner'));
  app.use(createRouter('', [...SURFACES[''], ...SIGN_IN_ROUTES, ...createDocumentation(config)]));
  app.use(createWebRouter(config));
  app.use(handleError);
  return app;
}

/** A person's session. Without one every path of a surface is answered alike, so that not even the routes are disclosed. */
function requireSession(gateway: Gateway): RequestHandler {
  return async (request, _response, next) => {
    const exchange = exchangeOf(request);
    exchange.session = await gateway.readSession(request);
    await takeFromPerson(exchange);
    next();
  };
}

const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Measures and logs each request outside the data API. Never logs a path, a query or a body. */
function observe(gateway: Gateway): RequestHandler {
  const log = withoutRedaction(gateway.log);
  return (request, response, next) => {
    const exchange = startExchange(gateway, request, response);
    const { requestId, startedAt } = exchange;
    const routeOf = () => exchange.route;
    gateway.measure(request, response, routeOf);
    response.once('finish', () => {
      const { route } = exchange;
      const ms = Math.round(performance.now() - startedAt);
      const line = { requestId, method: request.method, route, status: response.statusCode, ms };
      if (PROBES.has(route)) log.debug(line, 'probe');
      else log.info(line, 'request');
      noteSecurityEvent(exchange);
      if (response.statusCode < 400) addToRequestLog(exchange, null);
    });
    withinRequest({ request, response, requestId, isTraced: !PROBES.has(request.path), routeOf }, next);
  };
}

function limitUrl({ config }: Gateway): RequestHandler {
  return (request, _response, next) => {
    if (request.url.length > config.MAX_URL_BYTES) throw urlTooLong(config.MAX_URL_BYTES);
    next();
  };
}

const handleError: ErrorRequestHandler = async (caught: unknown, request, _response, _next) => {
  const exchange = exchangeOf(request);
  const error = toHttpError(caught);
  const { gateway, clientId, route: endpoint } = exchange;
  // At `/oauth/grants`.
  if (clientId !== undefined && error instanceof UnprovenToken) {
    gateway.refusals.add({ clientId, endpoint, status: 401, isWithoutKey: true, grantId: '' });
  }
  const code = await refuse(exchange, error);
  if (code !== null) addToRequestLog(exchange, code, error);
};

/** Express throws an error with status 400 for a path with a bad percent escape. */
function toHttpError(caught: unknown): AppError {
  if (caught instanceof URIError) return invalidRequest('path', 'has a bad percent escape');
  return toAppError(caught);
}

// Cross-origin requests of apps in pages. There are no cookies on these paths, so every origin may read the answers, and credentials are
// never allowed. The authorization endpoint is not among them: it is opened by navigation (RFC 9700 section 2.6).

const OAUTH_PATHS: ReadonlySet<string> = new Set(['/oauth/token', '/oauth/par', '/oauth/revoke']);

function isOpen(url: string): boolean {
  return isUnder('/api/v1', url) || isUnder(FHIR_PREFIX, url) || OAUTH_PATHS.has(url.split('?', 1)[0] ?? '');
}

/** Header fields of an answer that a page may read. */
const EXPOSED =
  'WWW-Authenticate, Date, Retry-After, Link, ETag, RateLimit, RateLimit-Policy, X-Request-Id, API-Version, Deprecation, Sunset';

const REQUEST_HEADERS = 'Authorization, Content-Type, DPoP, If-None-Match, API-Version';

/** The method of a path; GET for a path that does not exist. */
function methodOf(url: string): string {
  const { path } = splitUrl(url);
  if (isUnder(FHIR_PREFIX, path)) return findFhirRoute(path)?.method ?? 'GET';
  return OAUTH_PATHS.has(path) ? 'POST' : 'GET';
}

/** Answers a preflight request of a path that is no document. Returns whether it was one. */
function createPreflight({ SANDBOX }: { readonly SANDBOX: boolean }) {
  const allowed = SANDBOX ? `${REQUEST_HEADERS}, ${FORCE_HEADER}` : REQUEST_HEADERS;
  return ({ method, url = '', headers }: IncomingMessage, response: ServerResponse): boolean => {
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined || !isOpen(url))
      return false;
    const fields = {
      'Access-Control-Allow-Origin': '*',
      // A search may ask for lenient handling.
      'Access-Control-Allow-Headers': isUnder(FHIR_PREFIX, url) ? `${allowed}, Prefer` : allowed,
      'Access-Control-Max-Age': '86400',
      'Access-Control-Allow-Methods': methodOf(url),
    };
    send(response, 204, fields, '');
    return true;
  };
}

const OPEN = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED } as const;

/** Lets the page that sent a request read the answer. */
function openToPages({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.origin === undefined || !isOpen(url)) return;
  for (const [name, value] of Object.entries(OPEN)) response.setHeader(name, value);
}
