import type { Language } from '@phds/catalog/languages';
import { PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import type { OpenAuthorizationResponse } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { toAppError, unavailable } from '@phds/service-kit/errors';
import { type Exchange, onBehalf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { errorHeaders } from '../http-error.ts';
import { OAUTH_HEADERS } from '../oauth-error.ts';
import { type Html, html } from '../pages/html.ts';
import { type Page, sendPage } from '../pages/page.ts';
import { redirect } from '../respond.ts';

type ErrorRedirect = Pick<OpenAuthorizationResponse, 'errorRedirect' | 'errorRedirectHost'>;

/** Whether the person shares data with the app; `unknown` without a session or when consent cannot be reached. */
type Connection = 'connected' | 'not connected' | 'unknown';

/**
 * Returns a browser to its app with an error. Anybody can register an app and send people a link that ends in an error here (an
 * open redirector), so the browser is redirected automatically only to an app that the signed-in person shares data with. Otherwise
 * a page shows the host and a link (RFC 9700 section 4.11.2, docs/decisions/0009).
 */
export async function returnToApp(
  gateway: Gateway,
  exchange: Exchange,
  target: ErrorRedirect,
): Promise<void> {
  const { error, description } = findError(target.errorRedirect);
  if (error === 'temporarily_unavailable') return sendTryAgain(gateway, exchange, target);
  const connection = await findConnection(gateway, exchange);
  if (connection === 'connected') return redirect(exchange.response, target.errorRedirect, OAUTH_HEADERS);
  sendPage(exchange, toMistake(target, description, connection), 400, OAUTH_HEADERS);
}

/** Answers 503 for a failure of the service without asking consent, which is probably the service that is unavailable. */
function sendTryAgain({ log }: Gateway, exchange: Exchange, target: ErrorRedirect): void {
  const { requestId, route } = exchange;
  log.warn(
    { requestId, route, clientId: exchange.presentedClientId },
    'authorization request failed temporarily',
  );
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
export function wayBack(
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

async function findConnection(gateway: Gateway, exchange: Exchange): Promise<Connection> {
  const { request, requestId, route, presentedClientId } = exchange;
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
