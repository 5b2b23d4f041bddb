import { join } from 'node:path';
import { toAppError } from '@phds/service-kit/errors';
import type { ErrorRequestHandler, Router } from 'express';
import type { Config } from '../../config.ts';
import { exchangeOf } from '../exchange.ts';
import { createRouter, mountNotFound, type Route } from '../operation.ts';
import { toFileRoute } from './files.ts';
import { sendWebPage, wantsHtml } from './web-page.ts';

// The paths of packages/web/src/app.tsx. All of them serve the same document; the web app routes in the browser.
const PAGES = [
  '/',
  '/approve/:id',
  '/apps',
  '/apps/:id',
  '/history',
  '/data',
  '/data/:scope',
  '/console',
  '/console/:clientId',
  '/console/:clientId/credentials',
  '/console/:clientId/log',
  '/console/:clientId/sandbox',
  '/console/:clientId/settings',
  '/console/:clientId/webhook',
  '/signed-in',
] as const;

/** Serves the web app: one document for all its paths and for addresses that a browser mistypes, and its assets. */
export function createWebRouter(config: Config): Router {
  const pages = PAGES.map(
    (path): Route => ({ method: 'GET', also: ['HEAD'], path, handle: (exchange) => sendWebPage(exchange) }),
  );
  const files = toFileRoute('/assets', join(config.WEB_DIRECTORY, 'assets'));
  return mountNotFound(createRouter('', [...pages, files])).use(answerVisits);
}

/**
 * Shows the app's page about an address that does not exist to a person who mistyped it. Programs get the JSON error; so does
 * everything under the prefixes of the programming interfaces, whose routers come first.
 */
const answerVisits: ErrorRequestHandler = (error: unknown, request, _response, next) => {
  const isVisit = request.method === 'GET' && wantsHtml(request);
  if (isVisit && isUnknownAddress(error)) sendWebPage(exchangeOf(request), { status: 404 });
  else next(error);
};

/** Express throws a `URIError` for a path with a bad percent escape. */
function isUnknownAddress(error: unknown): boolean {
  return error instanceof URIError || toAppError(error).reason === 'not_found';
}
