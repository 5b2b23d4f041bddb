import type { ProblemCode } from '@phds/catalog/problems';
import { type AppError, invalidRequest, toAppError } from '@phds/service-kit/errors';
import { withoutRedaction } from '@phds/service-kit/telemetry/log';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Router } from 'express';
import { createApiHandler } from './api/handler.ts';
import { createDeveloperRouter } from './developer/router.ts';
import { createDocsRouter } from './docs/router.ts';
import { credentialOf, type Exchange, exchangeOf } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { urlTooLong } from './http-error.ts';
import { createOauthRouter } from './oauth/router.ts';
import { createPartnerRouter } from './partner/router.ts';
import { createPublicRouter } from './public/router.ts';
import { refuse } from './refusal.ts';
import { addToRequestLog } from './request-log-entry.ts';
import { withinRequest } from './request-origin.ts';
import { transportHeaders } from './respond.ts';
import { noteSecurityEvent } from './security-events.ts';
import { createSignInRouter } from './sign-in/router.ts';
import { isUnder, surfaceOf } from './surface.ts';
import { createWebRouter } from './web/router.ts';

/** Builds the public interface. `/api` is the hot path and has its own handler; Express routers serve the rest. */
export function createApp(gateway: Gateway): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  app.set('query parser', false).set('trust proxy', gateway.config.TRUST_PROXY);
  const api = createApiHandler(gateway);
  const transport = Object.entries(transportHeaders(gateway.config));
  app.use((request, response, next) => {
    for (const [name, value] of transport) response.setHeader(name, value);
    if (isUnder('/api', request.url)) api(request, response);
    else next();
  });
  app.use(logExchange(gateway), limitUrl(gateway));
  for (const { prefix, router } of createRouters(gateway)) app.use(prefix, router);
  app.use(handleError(gateway));
  return app;
}

/** Everything outside of `/api`, in the order in which it is asked. */
export function createRouters(gateway: Gateway): readonly { prefix: string; router: Router }[] {
  return [
    { prefix: '/oauth', router: createOauthRouter(gateway) },
    { prefix: '/developer', router: createDeveloperRouter(gateway) },
    { prefix: '/partner', router: createPartnerRouter(gateway) },
    { prefix: '/', router: createPublicRouter(gateway) },
    { prefix: '/', router: createSignInRouter(gateway) },
    { prefix: '/', router: createDocsRouter(gateway) },
    { prefix: '/', router: createWebRouter(gateway) },
  ];
}

const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Measures and logs each request outside the data API. Never logs a path, a query or a body. */
function logExchange(gateway: Gateway): RequestHandler {
  const log = withoutRedaction(gateway.log);
  return (request, response, next) => {
    const exchange = exchangeOf(request, response);
    gateway.measure(request, response, () => exchange.route);
    response.once('finish', () => {
      const { requestId, route, startedAt } = exchange;
      const ms = Math.round(performance.now() - startedAt);
      const line = { requestId, method: request.method, route, status: response.statusCode, ms };
      if (PROBES.has(route)) log.debug(line, 'probe');
      else log.info(line, 'request');
      noteSecurityEvent(gateway, exchange);
      if (response.statusCode < 400) noteAnswer(gateway, exchange, null);
    });
    const { requestId } = exchange;
    const isTraced = !PROBES.has(request.path);
    withinRequest({ request, response, requestId, isTraced, routeOf: () => exchange.route }, next);
  };
}

function limitUrl({ config }: Gateway): RequestHandler {
  return (request, _response, next) => {
    if (request.url.length > config.MAX_URL_BYTES) throw urlTooLong(config.MAX_URL_BYTES);
    next();
  };
}

function handleError(gateway: Gateway): ErrorRequestHandler {
  return async (caught: unknown, request, response, _next) => {
    const exchange = exchangeOf(request, response);
    const code = await refuse(gateway, response, toHttpError(caught), {
      surface: surfaceOf(request.originalUrl),
      requestId: exchange.requestId,
      startedAt: exchange.startedAt,
      address: request.ip ?? '',
      route: exchange.route,
      credential: credentialOf(exchange),
    });
    if (code !== null) noteAnswer(gateway, exchange, code);
  };
}

/** Adds an answer to an authenticated app to the app's request log. */
function noteAnswer(gateway: Gateway, exchange: Exchange, code: ProblemCode | null): void {
  const { clientId, requestId, startedAt, route, request, response } = exchange;
  if (clientId === undefined) return;
  const { method } = request;
  addToRequestLog(gateway, clientId, { requestId, startedAt, method, endpoint: route, response, code });
}

/** Express throws an error with status 400 for a path with a bad percent escape. */
function toHttpError(caught: unknown): AppError {
  if (caught instanceof URIError) return invalidRequest('path', 'has a bad percent escape');
  return toAppError(caught);
}
