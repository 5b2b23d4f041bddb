import type { CompleteSandboxAuthorizationResponse } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { toAppError } from '@phds/service-kit/errors';
import { type Exchange, onBehalf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { OAUTH_HEADERS } from '../oauth-error.ts';
import { html } from '../pages/html.ts';
import { type Page, sendPage } from '../pages/page.ts';
import { redirect } from '../respond.ts';
import { wantsHtml } from '../wants-html.ts';
import { wayBack } from './return-to-app.ts';

type Decided = Pick<CompleteSandboxAuthorizationResponse, 'redirectUri' | 'redirectHost'>;

/**
 * Has a sandbox person decide a request of a sandbox app, and returns the browser to the app. Anybody can register a sandbox app and
 * send people a link that ends here (an open redirector, RFC 9700 section 4.11.2), so a browser is redirected automatically only to
 * its own computer or for the app's developer. Otherwise a page shows the host and a link. Programs are always redirected.
 */
export async function approveInSandbox(
  gateway: Gateway,
  exchange: Exchange,
  { clientId, pendingId }: { readonly clientId: string; readonly pendingId: string },
): Promise<void> {
  const { authorization, sandboxData } = gateway.backends;
  const { userId, ...decided } = await authorization.completeSandboxAuthorization({ clientId, pendingId });
  if (userId !== '') await sandboxData.prepareSandboxPerson({ userId });
  const { redirectUri } = decided;
  const mayRedirect =
    !wantsHtml(exchange.request) || isLoopback(redirectUri) || (await isOwner(gateway, exchange, clientId));
  if (redirectUri !== '' && mayRedirect) return redirect(exchange.response, redirectUri, OAUTH_HEADERS);
  sendPage(exchange, toRehearsal(decided), 200, OAUTH_HEADERS);
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

function isLoopback(uri: string): boolean {
  return URL.canParse(uri) && LOOPBACK.has(new URL(uri).hostname);
}

async function isOwner(gateway: Gateway, exchange: Exchange, clientId: string): Promise<boolean> {
  const { request, requestId, route } = exchange;
  try {
    exchange.session = await gateway.readSession(request);
    await gateway.backends.apps.getApp({ clientId }, onBehalf(exchange));
    return true;
  } catch (caught) {
    const err = toAppError(caught);
    if (err.reason !== 'unauthorized' && err.reason !== 'not_found') {
      gateway.log.warn({ requestId, route, err }, 'the owner of a sandbox app could not be read');
    }
    return false;
  }
}

function toRehearsal({ redirectUri, redirectHost }: Decided): Page {
  const target = { errorRedirect: redirectUri, errorRedirectHost: redirectHost };
  return {
    en: {
      title: 'A rehearsal with made-up people',
      content: html`<p>The app that sent you here is a sandbox app. It uses made-up people. Nothing of yours is shared.</p>
${redirectUri === '' ? html`<p>The app no longer has the address to return to.</p>` : wayBack(target, 'unknown', 'en')}`,
    },
    de: {
      title: 'Eine Probe mit erfundenen Personen',
      content: html`<p>Die App, von der Sie kommen, ist eine Sandbox-App. Sie verwendet erfundene Personen. Von Ihnen wird nichts geteilt.</p>
${redirectUri === '' ? html`<p>Die App hat die Adresse nicht mehr, zu der es zurückgehen sollte.</p>` : wayBack(target, 'unknown', 'de')}`,
    },
  };
}
