import type { AppError } from '@phds/service-kit/errors';
import { withdrawAllowance } from '../allowance.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { errorHeaders, meaningOf } from '../http-error.ts';
import { html } from './html.ts';
import { sendPage } from './page.ts';

/**
 * Sends the error page for a browser that its app sent here with an invalid request. The page is identical for an unknown client,
 * an inactive app, an unregistered redirect URI and a malformed request, and never links back to the app (RFC 6749 4.1.2.1).
 */
export async function sendErrorPage(gateway: Gateway, exchange: Exchange, error: AppError): Promise<void> {
  const { request, response, startedAt, requestId } = exchange;
  const { status } = meaningOf(error);
  if (status >= 500) {
    gateway.log.warn(
      { requestId, route: exchange.route, err: error },
      'authorization request failed temporarily',
    );
    return sendPage(response, 'Please try again', TRY_AGAIN, status, errorHeaders(error));
  }
  if (error.reason === 'rate_limited') {
    return sendPage(response, 'Please try again', TRY_AGAIN, status, errorHeaders(error));
  }
  // A malformed request never has these fields, and all these pages must be identical.
  withdrawAllowance(response);
  if (error.reason === 'unauthorized') {
    const credential = exchange.presentedClientId;
    const failure = { address: request.ip ?? '', credential, issued: false };
    const retryAfter = await gateway.failures.count(failure);
    const early = gateway.config.AUTH_FAILURE_FLOOR_MS - (performance.now() - startedAt);
    if (early > 0) await gateway.pause(early);
    if (retryAfter !== null) {
      const headers = { 'Retry-After': String(retryAfter) };
      return sendPage(response, 'Too many attempts', TRY_AGAIN, 429, headers);
    }
  }
  sendPage(response, 'This link does not work', BAD_REQUEST, 400);
}

const TRY_AGAIN = html`<p>This is not possible right now. Please try again in a minute.</p>`;
const BAD_REQUEST = html`<p>The app that sent you here did not ask correctly, so we cannot go on. Nothing was shared.
Please go back to the app and tell its makers.</p>`;
