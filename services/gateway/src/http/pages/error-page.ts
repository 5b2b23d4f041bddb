import type { AppError } from '@phds/service-kit/errors';
import { withdrawAllowance } from '../allowance.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { errorHeaders, meaningOf } from '../http-error.ts';
import { html } from './html.ts';
import { type Page, sendPage } from './page.ts';

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
    return sendPage(exchange, TRY_AGAIN, status, errorHeaders(error));
  }
  if (error.reason === 'rate_limited') {
    return sendPage(exchange, TRY_AGAIN, status, errorHeaders(error));
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
      return sendPage(exchange, TOO_MANY, 429, { 'Retry-After': String(retryAfter) });
    }
  }
  sendPage(exchange, BAD_REQUEST, 400);
}

const TRY_AGAIN: Page = {
  en: {
    title: 'Please try again',
    content: html`<p>This is not possible right now. Nothing was shared. Please try again in a minute.</p>`,
  },
  de: {
    title: 'Bitte versuchen Sie es erneut',
    content: html`<p>Das ist im Moment nicht möglich. Es wurde nichts geteilt. Bitte versuchen Sie es in einer Minute erneut.</p>`,
  },
};

const TOO_MANY: Page = {
  en: { title: 'Too many attempts', content: TRY_AGAIN.en.content },
  de: { title: 'Zu viele Versuche', content: TRY_AGAIN.de.content },
};

const BAD_REQUEST: Page = {
  en: {
    title: 'This link does not work',
    content: html`<p>The app that sent you here made a mistake in its request. Nothing was shared. Go back to the app and tell its developer.</p>
<h2>For the app’s developer</h2>
<p>At least one of these is wrong: the client ID, the redirect URI (it must equal a registered one, character by character), the
request URI (it may have expired), or a parameter that is sent twice; or the app is not active. For security, this page does not
say which. To see the reason, send the same parameters and the app’s secret to <code>POST /oauth/authorize</code>, and compare the
settings in the <a href="/console">developer console</a>.</p>`,
  },
  de: {
    title: 'Dieser Link funktioniert nicht',
    content: html`<p>Die App, von der Sie kommen, hat in ihrer Anfrage einen Fehler gemacht. Es wurde nichts geteilt. Gehen Sie zurück zur App
und sagen Sie es ihrem Entwickler.</p>
<h2>Für den Entwickler der App</h2>
<p>Mindestens eines davon ist falsch: die Client-ID, die Redirect-URI (sie muss Zeichen für Zeichen einer registrierten gleichen), die
Request-URI (sie ist vielleicht abgelaufen) oder ein Parameter, der doppelt gesendet wird; oder die App ist nicht aktiv. Aus Gründen
der Sicherheit sagt diese Seite nicht, welches. Um den Grund zu sehen, senden Sie dieselben Parameter und das Secret der App an
<code>POST /oauth/authorize</code> und vergleichen Sie die Einstellungen in der <a href="/console">Entwicklerkonsole</a>.</p>`,
  },
};
