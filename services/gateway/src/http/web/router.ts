import { join } from 'node:path';
import { toAppError } from '@phds/service-kit/errors';
import { type ErrorRequestHandler, Router } from 'express';
import { exchangeOf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { mount, mountNotFound } from '../routing.ts';
import { wantsHtml } from '../wants-html.ts';
import { mountHashedFiles } from './web-files.ts';
import { loadWebPage, toChangeLimitMs } from './web-page.ts';

// The paths of packages/web/src/app.tsx. All of them serve the same document; the web app routes in the browser.
const PAGES = [
  '/',
  '/approve/:id',
  '/apps',
  '/apps/:id',
  '/apps/:id/receipt',
  '/history',
  '/data',
  '/console',
  '/console/:clientId',
  '/console/:clientId/requests',
  '/console/:clientId/sandbox',
  '/console/:clientId/webhook',
  '/signed-in',
] as const;

/** Serves the web app: one document for all its paths and for addresses that a browser mistypes, and its assets. */
export function createWebRouter(gateway: Gateway): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const { config } = gateway;
  const sendWebPage = loadWebPage(config.WEB_DIRECTORY, toChangeLimitMs(config));
  for (const path of PAGES) mount(router, path, { GET: (exchange) => sendWebPage(exchange) });
  mountHashedFiles(router, '/assets', join(config.WEB_DIRECTORY, 'assets'));
  mountNotFound(router);
  router.use(answerVisits(sendWebPage));
  return router;
}

/**
 * Shows the app's page about an address that does not exist to a person who mistyped it. Programs get the JSON error; so does
 * everything under the prefixes of the programming interfaces, whose routers come first.
 */
function answerVisits(sendWebPage: ReturnType<typeof loadWebPage>): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const isVisit = request.method === 'GET' && wantsHtml(request);
    if (isVisit && isUnknownAddress(error)) sendWebPage(exchangeOf(request, response), 404);
    else next(error);
  };
}

/** Express throws a `URIError` for a path with a bad percent escape. */
function isUnknownAddress(error: unknown): boolean {
  return error instanceof URIError || toAppError(error).reason === 'not_found';
}
