import { PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import type { OpenAuthorizationResponse } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { toAppError, unavailable } from '@phds/service-kit/errors';
import { type Exchange, onBehalf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { errorHeaders } from '../http-error.ts';
import { OAUTH_HEADERS } from '../oauth-error.ts';
import { html } from '../pages/html.ts';
import { sendPage } from '../pages/page.ts';
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
  const { response } = exchange;
  if (connection === 'connected') return redirect(response, target.errorRedirect, OAUTH_HEADERS);
  sendPage(
    response,
    'We cannot go on with this request',
    html`<p>The request of the app that sent you here has a mistake. Nothing was shared.</p>
<p>What is wrong, for the makers of the app: ${description}</p>
${wayBack(target, connection)}`,
    400,
    OAUTH_HEADERS,
  );
}

/** Answers 503 for a failure of ours without asking consent, which is probably the service that is unavailable. */
function sendTryAgain({ log }: Gateway, exchange: Exchange, target: ErrorRedirect): void {
  const { response, requestId, route } = exchange;
  log.warn(
    { requestId, route, clientId: exchange.presentedClientId },
    'authorization request failed temporarily',
  );
  sendPage(
    response,
    'Please try again',
    html`<p>This is not possible right now. Nothing was shared. Please try again in a minute.</p>
${wayBack(target, 'unknown')}`,
    503,
    { ...OAUTH_HEADERS, ...errorHeaders(unavailable()) },
  );
}

function wayBack({ errorRedirect, errorRedirectHost }: ErrorRedirect, connection: Connection) {
  const reason =
    connection === 'not connected' ? 'You do not share data with this app.' : 'Anybody can register an app.';
  return html`<p>The link below leads to <strong>${errorRedirectHost}</strong>. ${reason} Continue only if you know this address.</p>
<p><a href="${errorRedirect}" rel="noreferrer">Return to ${errorRedirectHost}</a></p>`;
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
