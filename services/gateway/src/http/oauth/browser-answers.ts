import type { Language } from '@phds/catalog/languages';
import { PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import type { OpenAuthorizationResponse } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { type AppError, toAppError, unavailable } from '@phds/service-kit/errors';
import { sampledLogOf } from '@phds/service-kit/telemetry/security-log';
import { withdrawAllowance } from '../allowance.ts';
import { type Exchange, onBehalf } from '../exchange.ts';
import { errorHeaders, meaningOf, OAUTH_HEADERS } from '../http-error.ts';
import { type Html, html, type Page, sendPage } from '../pages/page.ts';
import { redirect } from '../respond.ts';

type ErrorRedirect = Pick<OpenAuthorizationResponse, 'errorRedirect' | 'errorRedirectHost'>;

/** Whether the person shares data with the app; `unknown` without a session or when consent cannot be reached. */
type Connection = 'connected' | 'not connected' | 'unknown';

/**
 * Returns a browser to its app with an error. Anybody can register an app and send people a link that ends in an error here (an
 * open redirector), so the browser is redirected automatically only to an app that the signed-in person shares data with. Otherwise
 * a page shows the host and a link (RFC 9700 section 4.11.2).
 */
export async function returnToApp(exchange: Exchange, target: ErrorRedirect): Promise<void> {
  const { error, description } = findError(target.errorRedirect);
  if (error === 'temporarily_unavailable') return sendTryAgain(exchange, target);
  const connection = await findConnection(exchange);
  if (connection === 'connected') return redirect(exchange.response, target.errorRedirect, OAUTH_HEADERS);
  sendPage(exchange, toMistake(target, description, connection), 400, OAUTH_HEADERS);
}

const FAILED = 'authorization request failed temporarily';

/** Answers 503 for a failure of ours without asking consent, which is probably the service that is unavailable. */
function sendTryAgain(exchange: Exchange, target: ErrorRedirect): void {
  const { gateway, requestId, route } = exchange;
  const line = { requestId, route, clientId: exchange.presentedClientId };
  sampledLogOf(gateway.log)('warn', 'authorization request', line, FAILED);
  sendPage(exchange, toTryAgain(target), 503, { ...OAUTH_HEADERS, ...errorHeaders(unavailable()) });
}

function toMistake(target: ErrorRedirect, description: string, connection: Connection): Page {
  return {
    en: {
      title: 'This request has a mistake',
      content: html`<p>The app that sent you here made a mistake in its request. Nothing was shared.</p>
${wayBack(target, connection, 'en')}
<h2>For the app’s developer</h2>
<p>${description}</p>`,
    },
    de: {
      title: 'Diese Anfrage enthält einen Fehler',
      content: html`<p>Die App, von der Sie kommen, hat in ihrer Anfrage einen Fehler gemacht. Es wurde nichts geteilt.</p>
${wayBack(target, connection, 'de')}
<h2>Für den Entwickler der App</h2>
<p lang="en">${description}</p>`,
    },
  };
}

function toTryAgain(target: ErrorRedirect): Page {
  return {
    en: {
      title: 'Please try again',
      content: html`<p>This is not possible right now. Nothing was shared. Please try again in a minute.</p>
${wayBack(target, 'unknown', 'en')}`,
    },
    de: {
      title: 'Bitte versuchen Sie es erneut',
      content: html`<p>Das ist im Moment nicht möglich. Es wurde nichts geteilt. Bitte versuchen Sie es in einer Minute erneut.</p>
${wayBack(target, 'unknown', 'de')}`,
    },
  };
}

/** The link back to the app, and why the person should know its address. */
function wayBack(
  { errorRedirect, errorRedirectHost }: ErrorRedirect,
  connection: Connection,
  language: Language,
): Html {
  const host = html`<strong>${errorRedirectHost}</strong>`;
  const isStranger = connection === 'not connected';
  const [advice, text] = {
    en: [
      html`The link below leads to ${host}. ${isStranger ? 'You share no data with this app.' : 'Anybody can register an app.'} Continue only if you know this address.`,
      `Return to ${errorRedirectHost}`,
    ],
    de: [
      html`Der folgende Link führt zu ${host}. ${isStranger ? 'Sie teilen mit dieser App keine Daten.' : 'Jeder kann eine App registrieren.'} Gehen Sie nur weiter, wenn Sie diese Adresse kennen.`,
      `Zurück zu ${errorRedirectHost}`,
    ],
  }[language] as [Html, string];
  return html`<p>${advice}</p>
<p><a class="action" href="${errorRedirect}" rel="noreferrer">${text}</a></p>`;
}

/** Takes the last parameter of each name: the redirect URI may have a query of its own, to which ours were appended. */
function findError(errorRedirect: string) {
  const searchParams = new URLSearchParams(errorRedirect.slice(errorRedirect.indexOf('?') + 1));
  const find = (name: string) => searchParams.getAll(name).at(-1) ?? '';
  return { error: find('error'), description: find('error_description') };
}

async function findConnection(exchange: Exchange): Promise<Connection> {
  const { gateway, request, requestId, route, presentedClientId } = exchange;
  try {
    exchange.session = await gateway.readSession(request);
    const { grants, total } = await gateway.backends.consent.listGrants(
      { status: GrantStatus.ACTIVE, page: { page: 1, pageSize: PAGE_SIZE_MAX } },
      onBehalf(exchange),
    );
    if (grants.some(({ app }) => app?.clientId === presentedClientId)) return 'connected';
    return total > grants.length ? 'unknown' : 'not connected';
  } catch (caught) {
    const err = toAppError(caught);
    if (err.reason !== 'unauthorized') {
      gateway.log.warn({ requestId, route, err }, 'grants of the person could not be read');
    }
    return 'unknown';
  }
}

/**
 * Sends the error page for a browser that its app sent here with an invalid request. The page is identical for an unknown client,
 * an inactive app, an unregistered redirect URI and a malformed request, and never links back to the app (RFC 6749 4.1.2.1).
 */
export async function sendErrorPage(exchange: Exchange, error: AppError): Promise<void> {
  const { gateway, request, response, startedAt, requestId } = exchange;
  const { status } = meaningOf(error);
  if (status >= 500) {
    const line = { requestId, route: exchange.route, err: error };
    sampledLogOf(gateway.log)('warn', 'authorization request', line, FAILED);
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
