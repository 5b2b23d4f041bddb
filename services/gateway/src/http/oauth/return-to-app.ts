import { PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import type { OpenAuthorizationResponse } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { type Exchange, onBehalf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { OAUTH_HEADERS } from '../oauth-error.ts';
import { html } from '../pages/html.ts';
import { sendPage } from '../pages/page.ts';
import { redirect } from '../respond.ts';

/**
 * Leads a browser back to its app with an error. Anybody can register an app and send people a link to us that ends in an error, so
 * the browser follows by itself only to an app that the signed-in person shares data with. Everybody else gets a page of ours with the host and a
 * link (RFC 9700 section 4.11.2, docs/decisions/0009).
 */
export async function returnToApp(
  gateway: Gateway,
  exchange: Exchange,
  {
    errorRedirect,
    errorRedirectHost,
  }: Pick<OpenAuthorizationResponse, 'errorRedirect' | 'errorRedirectHost'>,
): Promise<void> {
  const { response } = exchange;
  if (await isConnected(gateway, exchange)) return redirect(response, errorRedirect, OAUTH_HEADERS);
  sendPage(
    response,
    'We cannot go on with this request',
    html`<p>The app that sent you here asked for something that we cannot do now. Nothing was shared.</p>
<p>The app takes its answers at <strong>${errorRedirectHost}</strong>. You do not share data with it, so we do not know whether
you trust it. Return only if you know this address.</p>
<p><a href="${errorRedirect}" rel="noreferrer">Return to ${errorRedirectHost}</a></p>`,
    400,
    OAUTH_HEADERS,
  );
}

/** Whether the signed-in person shares data with the app of this request, by the newest grants. Whatever cannot be found out counts as no. */
async function isConnected(gateway: Gateway, exchange: Exchange): Promise<boolean> {
  const { request, presentedClientId } = exchange;
  try {
    exchange.session = await gateway.readSession(request);
    const { grants } = await gateway.backends.consent.listGrants(
      { status: GrantStatus.ACTIVE, page: { page: 1, pageSize: PAGE_SIZE_MAX } },
      onBehalf(exchange),
    );
    return grants.some(({ app }) => app?.clientId === presentedClientId);
  } catch {
    return false;
  }
}
