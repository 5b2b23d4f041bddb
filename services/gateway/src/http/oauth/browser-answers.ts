import { AUTHORIZATION_ERRORS, type WayBack } from '@phds/catalog/page-messages';
import { PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import type { OpenAuthorizationResponse } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { type AppError, toAppError, unavailable } from '@phds/service-kit/errors';
import { countFailure, rateLimited } from '../../limits/limits.ts';
import { type Exchange, onBehalf, withdrawAllowance } from '../exchange.ts';
import { HttpError, meaningOf, OAUTH_HEADERS } from '../http-error.ts';
import { redirect } from '../respond.ts';
import { showMessage } from '../web/web-page.ts';

type ErrorRedirect = Pick<OpenAuthorizationResponse, 'errorRedirect' | 'errorRedirectHost'>;

/** Whether the person shares data with the app; `unknown` without a session or when consent cannot be reached. */
type Connection = 'connected' | 'not connected' | 'unknown';

/**
 * Returns a browser to its app with an error. Anybody can register an app and send people a link that ends in an error here (an
 * open redirector), so the browser is redirected automatically only to an app that the signed-in person shares data with. Otherwise
 * a message shows the host and a link (RFC 9700 section 4.11.2).
 */
export async function returnToApp(exchange: Exchange, target: ErrorRedirect): Promise<void> {
  const { name, description } = findError(target.errorRedirect);
  if (name === 'temporarily_unavailable') {
    // Without asking consent, which is probably the service that is unavailable.
    const message = { code: 'AUTHORIZATION_UNAVAILABLE', wayBack: toWayBack(target, 'unknown') } as const;
    return showMessage(exchange, unavailable(), message, OAUTH_HEADERS);
  }
  const connection = await findConnection(exchange);
  if (connection === 'connected') return redirect(exchange.response, target.errorRedirect, OAUTH_HEADERS);
  // The description, which may repeat what the request says, is only in the address that leads to the app.
  const error = AUTHORIZATION_ERRORS.find((known) => known === name);
  const message = {
    code: 'AUTHORIZATION_REFUSED',
    wayBack: toWayBack(target, connection),
    ...(error === undefined ? {} : { error }),
  } as const;
  showMessage(exchange, new HttpError(400, 'INVALID_REQUEST', description), message, OAUTH_HEADERS);
}

function toWayBack({ errorRedirect, errorRedirectHost }: ErrorRedirect, connection: Connection): WayBack {
  return { url: errorRedirect, host: errorRedirectHost, isStranger: connection === 'not connected' };
}

/** Takes the last parameter of each name: the redirect URI may have a query of its own, to which ours were appended. */
function findError(errorRedirect: string) {
  const searchParams = new URLSearchParams(errorRedirect.slice(errorRedirect.indexOf('?') + 1));
  const find = (name: string) => searchParams.getAll(name).at(-1) ?? '';
  return { name: find('error'), description: find('error_description') };
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
 * Refuses an invalid request with which an app sent a browser here. The message is identical for an unknown client, an inactive app, an
 * unregistered redirect URI and a malformed request, and never links back to the app (RFC 6749 4.1.2.1).
 */
export async function refuseBrowser(exchange: Exchange, error: AppError): Promise<void> {
  const { gateway, request, response, startedAt } = exchange;
  if (meaningOf(error).status >= 500 || error.reason === 'rate_limited') {
    return showMessage(exchange, error, { code: 'AUTHORIZATION_UNAVAILABLE' });
  }
  // A malformed request never has these fields, and all these answers must be identical.
  withdrawAllowance(response);
  if (error.reason === 'unauthorized') {
    const credential = exchange.presentedClientId;
    const failure = { address: request.ip ?? '', credential, issued: false };
    const refusal = await countFailure(gateway.limits, failure);
    const early = gateway.config.AUTH_FAILURE_FLOOR_MS - (performance.now() - startedAt);
    if (early > 0) await gateway.pause(early);
    if (refusal !== null) {
      return showMessage(exchange, rateLimited(refusal), { code: 'AUTHORIZATION_UNAVAILABLE' });
    }
  }
  showMessage(exchange, new HttpError(400, 'INVALID_REQUEST', ''), { code: 'AUTHORIZATION_LINK_INVALID' });
}
