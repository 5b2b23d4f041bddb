import { isSandboxApp } from '@phds/catalog/sandbox';
import type { OpenAuthorizationResponse } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { toAppError } from '@phds/service-kit/errors';
import type { z } from 'zod';
import { applyAllowance } from '../allowance.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { OAUTH_HEADERS } from '../oauth-error.ts';
import { sendErrorPage } from '../pages/error-page.ts';
import { splitUrl } from '../query.ts';
import { redirect, sendJson } from '../respond.ts';
import { wantsHtml } from '../wants-html.ts';
import type { pushedJson } from './answers.ts';
import { callAsClient, readCredentials } from './client-credentials.ts';
import { type OauthParameters, parseFormParameters, pick, readOauthParameters } from './parameters.ts';
import { returnToApp } from './return-to-app.ts';
import { approveInSandbox } from './sandbox-approval.ts';

/** URL of the approval screen of a pending approval. For a sandbox app, of the address that approves at once. */
function approvalUri(
  { config: { PUBLIC_URL } }: Gateway,
  { pendingId, requestUri, clientId = '' }: { pendingId: string; requestUri: string; clientId?: string },
): string {
  if (!isSandboxApp(clientId)) return `${PUBLIC_URL}/approve/${pendingId}`;
  return `${PUBLIC_URL}/oauth/authorize?${new URLSearchParams({ client_id: clientId, request_uri: requestUri })}`;
}

/** `POST /oauth/authorize`, and `POST /oauth/par` where the secret is required (RFC 9126). */
export async function pushAuthorization(
  gateway: Gateway,
  exchange: Exchange,
  requireAuthentication: boolean,
): Promise<void> {
  const { request, response } = exchange;
  const parameters = await readOauthParameters(request, gateway.config.MAX_BODY_BYTES);
  const client = readCredentials(exchange, parameters);
  const open = () =>
    gateway.backends.authorization.openAuthorization({
      ...toOpenRequest(parameters),
      ...toRequestObjects(parameters),
      client,
      network: networkOf(gateway, exchange),
      requireAuthentication,
    });
  const withSecret = requireAuthentication || client.clientSecret !== undefined;
  if (!withSecret) await limitAddress(gateway, exchange);
  const opened = await (withSecret ? callAsClient(gateway, exchange, client, open) : open());
  const { pendingId, requestUri, expiresInSeconds } = opened;
  const location = approvalUri(gateway, { pendingId, requestUri, ...client });
  if (!requireAuthentication && wantsHtml(request)) return redirect(response, location, OAUTH_HEADERS);
  const body: z.infer<typeof pushedJson> = {
    request_uri: requestUri,
    expires_in: expiresInSeconds,
    approval_uri: location,
    pending_id: pendingId,
    status: 'pending',
  };
  sendJson(response, 201, body, { ...OAUTH_HEADERS, Location: location });
}

/**
 * `GET /oauth/authorize`: the address to which OAuth clients redirect the browser. A bad client or redirect URI shows one identical
 * error page. Other errors are returned to the app: by redirect when the person shares data with it, otherwise through a link on a
 * page.
 */
export async function startAuthorization(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { response } = exchange;
  try {
    const parameters = parseFormParameters(splitUrl(exchange.request.originalUrl).rawQuery);
    const opened = await openFromBrowser(gateway, exchange, parameters);
    if (opened.errorRedirect !== '') await returnToApp(gateway, exchange, opened);
    else if (isSandboxApp(opened.clientId)) await approveInSandbox(gateway, exchange, opened);
    else redirect(response, approvalUri(gateway, opened), OAUTH_HEADERS);
  } catch (error) {
    await sendErrorPage(gateway, exchange, toAppError(error));
  }
}

type Opened = Pick<
  OpenAuthorizationResponse,
  'pendingId' | 'requestUri' | 'errorRedirect' | 'errorRedirectHost'
> & { readonly clientId: string };

async function openFromBrowser(
  gateway: Gateway,
  exchange: Exchange,
  parameters: OauthParameters,
): Promise<Opened> {
  const { authorization } = gateway.backends;
  const clientId = parameters.get('client_id') ?? '';
  exchange.presentedClientId = parameters.get('client_id');
  const requestUri = parameters.get('request_uri');
  // A pushed request; other parameters beside it are ignored (RFC 9101 section 6.3). Request objects are refused by authorization.
  if (requestUri?.startsWith('urn:') && !parameters.get('request')) {
    // Opening it makes data of a sandbox person.
    if (isSandboxApp(clientId)) await limitAddress(gateway, exchange);
    const { pendingId } = await authorization.resolveRequestUri({ clientId, requestUri });
    return { clientId, pendingId, requestUri, errorRedirect: '', errorRedirectHost: '' };
  }
  await limitAddress(gateway, exchange);
  const opened = await authorization.openAuthorization({
    ...toOpenRequest(parameters),
    ...toRequestObjects(parameters),
    client: clientId === '' ? {} : { clientId },
    network: networkOf(gateway, exchange),
    frontChannel: true,
  });
  return { ...opened, clientId };
}

async function limitAddress(gateway: Gateway, { request, response }: Exchange): Promise<void> {
  applyAllowance(response, await gateway.surfaceLimits.takeForAddress(request.ip ?? ''));
}

/** Consent shares the places of requests without a secret among networks. */
function networkOf(gateway: Gateway, { request }: Exchange): string {
  return gateway.networkOf(request.ip ?? '');
}

function toRequestObjects(parameters: OauthParameters) {
  return { ...pick(parameters, 'requestUri', 'request_uri'), ...pick(parameters, 'request', 'request') };
}

function toOpenRequest(parameters: OauthParameters) {
  return {
    ...pick(parameters, 'redirectUri', 'redirect_uri'),
    ...pick(parameters, 'scope', 'scope'),
    ...pick(parameters, 'state', 'state'),
    ...pick(parameters, 'responseType', 'response_type'),
    ...pick(parameters, 'codeChallenge', 'code_challenge'),
    ...pick(parameters, 'codeChallengeMethod', 'code_challenge_method'),
    ...pick(parameters, 'purpose', 'purpose'),
    ...pick(parameters, 'neededScope', 'needed_scope'),
    ...pick(parameters, 'loginHint', 'login_hint'),
    ...pick(parameters, 'includeGrantedScopes', 'include_granted_scopes'),
  };
}
