import { randomBytes } from 'node:crypto';
import type { PageMessage } from '@phds/catalog/page-messages';
import { type AppError, unavailable } from '@phds/service-kit/errors';
import type { Request } from 'express';
import type { Exchange } from '../exchange.ts';
import { errorHeaders, meaningOf } from '../http-error.ts';
import { logRefusal } from '../refusal.ts';
import { type Headers, send } from '../respond.ts';

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
