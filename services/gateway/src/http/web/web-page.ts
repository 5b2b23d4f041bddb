import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageMessage } from '@phds/catalog/page-messages';
import { type AppError, unavailable } from '@phds/service-kit/errors';
import type { Request } from 'express';
import type { Config } from '../../config.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { errorHeaders, meaningOf } from '../http-error.ts';
import { logRefusal } from '../refusal.ts';
import { type Headers, send } from '../respond.ts';

// Same name as in packages/web/vite.config.ts.
const NONCE_PLACEHOLDER = 'CSP_NONCE';
// Same names as in packages/web/index.html.
const CHANGE_LIMIT_PLACEHOLDER = 'CHANGE_LIMIT_MS';
const DEPLOYMENT_PLACEHOLDER = 'DEPLOYMENT';
const MESSAGE_PLACEHOLDER = 'PAGE_MESSAGE';

/** Reads the built page with the settings that it needs once. Null if it is not built. */
export function loadWebPage(config: Config): Gateway['webPage'] {
  const file = join(config.WEB_DIRECTORY, 'index.html');
  if (!existsSync(file)) return null;
  const deployment = escapeHtml(JSON.stringify(toDeployment(config)));
  const page = readFileSync(file, 'utf8')
    .replaceAll(CHANGE_LIMIT_PLACEHOLDER, String(toChangeLimitMs(config)))
    .replaceAll(DEPLOYMENT_PLACEHOLDER, () => deployment);
  return (nonce, message) => {
    const escaped = message === null ? '' : escapeHtml(JSON.stringify(message));
    return page.replaceAll(NONCE_PLACEHOLDER, nonce).replaceAll(MESSAGE_PLACEHOLDER, () => escaped);
  };
}

/** What the footer of the pages says of the deployment. */
function toDeployment(config: Config) {
  return {
    operator: config.DEPLOYMENT.operator,
    privacyUrl: config.DEPLOYMENT.privacyNotice,
    supportUrl: config.SUPPORT_URL,
  };
}

/** How long the gateway works on a change: consent checks the session, then authorization or consent makes the change. */
function toChangeLimitMs(config: Pick<Config, 'AUTHORIZATION_DEADLINE_MS' | 'CONSENT_DEADLINE_MS'>): number {
  const { AUTHORIZATION_DEADLINE_MS, CONSENT_DEADLINE_MS } = config;
  return CONSENT_DEADLINE_MS + Math.max(AUTHORIZATION_DEADLINE_MS, CONSENT_DEADLINE_MS);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text for an element, or for an attribute in quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] ?? '');
}

/**
 * Sends the document of the web app, which shows the message if there is one, else the page of its address. Throws `unavailable` where
 * the web app is not built.
 */
export function sendWebPage(
  { gateway, response }: Exchange,
  {
    status = 200,
    message = null,
    headers = {},
  }: {
    readonly status?: number;
    readonly message?: PageMessage | null;
    readonly headers?: Headers;
  } = {},
): void {
  if (gateway.webPage === null) throw unavailable('the web app is not built');
  const nonce = randomBytes(16).toString('base64');
  send(response, status, { ...toPageHeaders(nonce), ...headers }, gateway.webPage(nonce, message));
}

/**
 * Refuses a request: shows a browser the message with the status of the error, and throws the error for programs. A message about an
 * error of the service names the request.
 */
export function showMessage(
  exchange: Exchange,
  error: AppError,
  message: PageMessage,
  headers: Headers = {},
): void {
  if (!wantsHtml(exchange.request) || exchange.gateway.webPage === null) throw error;
  logRefusal(exchange, error);
  const { status } = meaningOf(error);
  const shown = status >= 500 ? { requestId: exchange.requestId, ...message } : message;
  sendWebPage(exchange, { status, message: shown, headers: { ...errorHeaders(error), ...headers } });
}

/** Whether the client prefers HTML over JSON, as browsers do. Without a preference it gets JSON. */
export function wantsHtml(request: Request): boolean {
  return request.accepts(['json', 'html']) === 'html';
}

/** `nonce` admits style elements. */
function toPageHeaders(nonce: string): Headers {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    ...toPolicyHeaders({
      scripts: "script-src 'self'",
      styles: `style-src 'self' 'nonce-${nonce}'`,
      images: "img-src 'self'",
    }),
  };
}

/** The directives of a page that differ between pages. */
interface PagePolicy {
  readonly scripts: string;
  readonly styles: string;
  readonly images: string;
}

/** Everything comes from this origin, and forms are submitted by script only. */
export function toPolicyHeaders({ scripts, styles, images }: PagePolicy): Headers {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      scripts,
      styles,
      images,
      "connect-src 'self'",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
}
