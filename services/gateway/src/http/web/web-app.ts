import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toAppError } from '@phds/service-kit/errors';
import type { ErrorRequestHandler, Router } from 'express';
import type { Config } from '../../config.ts';
import { type Exchange, exchangeOf } from '../exchange.ts';
import { createRouter, mountNotFound, type Route } from '../operation.ts';
import { html, type Page, sendPage, toScriptPageHeaders, wantsHtml } from '../pages/page.ts';
import { send } from '../respond.ts';
import { toFileRoute } from './files.ts';

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
export function createWebRouter(config: Config): Router {
  const sendWebPage = loadWebPage(config);
  const pages = PAGES.map(
    (path): Route => ({ method: 'GET', also: ['HEAD'], path, handle: (exchange) => sendWebPage(exchange) }),
  );
  const files = toFileRoute('/assets', join(config.WEB_DIRECTORY, 'assets'));
  return mountNotFound(createRouter('', [...pages, files])).use(answerVisits(sendWebPage));
}

/**
 * Shows the app's page about an address that does not exist to a person who mistyped it. Programs get the JSON error; so does
 * everything under the prefixes of the programming interfaces, whose routers come first.
 */
function answerVisits(sendWebPage: ReturnType<typeof loadWebPage>): ErrorRequestHandler {
  return (error: unknown, request, _response, next) => {
    const isVisit = request.method === 'GET' && wantsHtml(request);
    if (isVisit && isUnknownAddress(error)) sendWebPage(exchangeOf(request), 404);
    else next(error);
  };
}

/** Express throws a `URIError` for a path with a bad percent escape. */
function isUnknownAddress(error: unknown): boolean {
  return error instanceof URIError || toAppError(error).reason === 'not_found';
}

// Same name as in packages/web/vite.config.ts.
const NONCE_PLACEHOLDER = 'CSP_NONCE';
// Same name as in packages/web/index.html.
const CHANGE_LIMIT_PLACEHOLDER = 'CHANGE_LIMIT_MS';
const SUPPORT_PLACEHOLDER = 'SUPPORT_URL';

function toHeaders(nonce: string) {
  return { 'Content-Type': 'text/html; charset=utf-8', ...toScriptPageHeaders(nonce) };
}

/** How long the gateway works on a change: consent checks the session, then authorization or consent makes the change. */
function toChangeLimitMs(config: Pick<Config, 'AUTHORIZATION_DEADLINE_MS' | 'CONSENT_DEADLINE_MS'>): number {
  const { AUTHORIZATION_DEADLINE_MS, CONSENT_DEADLINE_MS } = config;
  return CONSENT_DEADLINE_MS + Math.max(AUTHORIZATION_DEADLINE_MS, CONSENT_DEADLINE_MS);
}

/**
 * Reads the built page with the settings that it needs once, and returns a function that sends it, with status 404 for an address that the app does not know. If the
 * page is not built, the function sends an explanation.
 */
function loadWebPage(config: Config): (exchange: Exchange, status?: 200 | 404) => void {
  const file = join(config.WEB_DIRECTORY, 'index.html');
  if (!existsSync(file)) return (exchange) => sendPage(exchange, NOT_BUILT, 503);
  const support = html`${config.SUPPORT_URL ?? ''}`.markup;
  const page = readFileSync(file, 'utf8')
    .replaceAll(CHANGE_LIMIT_PLACEHOLDER, String(toChangeLimitMs(config)))
    .replaceAll(SUPPORT_PLACEHOLDER, () => support);
  return ({ response }, status = 200) => {
    const nonce = randomBytes(16).toString('base64');
    send(response, status, toHeaders(nonce), page.replaceAll(NONCE_PLACEHOLDER, nonce));
  };
}

const NOT_BUILT: Page = {
  en: {
    title: 'Not here',
    content: html`<p>The pages for people are not built on this server. Its programming interfaces work.</p>`,
  },
  de: {
    title: 'Nicht hier',
    content: html`<p>Die Seiten für Personen sind auf diesem Server nicht gebaut. Seine Programmierschnittstellen funktionieren.</p>`,
  },
};
