import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { notFound, toAppError } from '@phds/service-kit/errors';
import type { ErrorRequestHandler, Router } from 'express';
import type { Config } from '../../config.ts';
import { type Exchange, exchangeOf, pathParameter } from '../exchange.ts';
import { createRouter, mountNotFound, type Route } from '../operation.ts';
import { send } from '../respond.ts';
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

/** Encodings that the build produces, the smallest first. */
const CODINGS = [
  { coding: 'br', suffix: '.br' },
  { coding: 'gzip', suffix: '.gz' },
] as const;

// Names contain a hash of the content, so files never change.
const FOR_GOOD = 'public, max-age=31536000, immutable';

/**
 * Serves the files of a directory below `path` from memory, compressed if the build made compressed files. They are read at start-up, so
 * that they match the page even when a new build replaces them on disk.
 */
export function toFileRoute(path: string, directory: string, cacheControl = FOR_GOOD): Route {
  const files = readFiles(directory);
  const handle = (exchange: Exchange) => {
    const { request, response } = exchange;
    const name = pathParameter(exchange, 'name');
    const plain = files.get(name);
    if (plain === undefined) throw notFound();
    const compressed = CODINGS.find(
      ({ coding, suffix }) => files.has(name + suffix) && request.acceptsEncodings(coding) === coding,
    );
    response.type(extname(name));
    response.vary('Accept-Encoding');
    if (compressed !== undefined) response.setHeader('Content-Encoding', compressed.coding);
    const body = files.get(name + (compressed?.suffix ?? '')) ?? plain;
    send(response, 200, { 'Cache-Control': cacheControl }, body);
  };
  return { method: 'GET', also: ['HEAD'], path: `${path}/:name`, handle };
}

function readFiles(directory: string): ReadonlyMap<string, Buffer> {
  if (!existsSync(directory)) return new Map();
  return new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))]));
}
