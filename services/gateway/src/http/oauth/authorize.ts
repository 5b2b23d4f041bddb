import { AUTHORIZATION_ERRORS, type WayBack } from '@phds/catalog/page-messages';
import { PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import type { OpenAuthorizationResponse } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { type AppError, toAppError, unavailable } from '@phds/service-kit/errors';
import { z } from 'zod';
import { countFailure, rateLimited, toAddressKey } from '../../limits/limits.ts';
import { type Exchange, onBehalf, takeFromLimit, withdrawAllowance } from '../exchange.ts';
import { HttpError, meaningOf, OAUTH_HEADERS } from '../http-error.ts';
import { count, LIMITED, text } from '../openapi/fields.ts';
import type { Answer, MountedOperation } from '../operation.ts';
import { splitUrl } from '../query.ts';
import { redirect, sendJson } from '../respond.ts';
import { showMessage, wantsHtml } from '../web/web-page.ts';
import {
  ALWAYS,
  BOTH_TYPES,
  CREDENTIALS,
  callAsClient,
  clientOperation,
  findProof,
  type OauthParameters,
  PROOF_HEADERS,
  parseFormParameters,
  pick,
  readCredentials,
  readOauthParameters,
  smartScopes,
} from './client-operation.ts';

const AUTHORIZATION = {
  redirect_uri: text.meta({
    description: 'One of the registered redirect URIs of the app, character by character.',
  }),
  scope: smartScopes,
  aud: text.optional().meta({
    description: 'Address of the FHIR interface, `{base}/fhir/R4`; needed with words of SMART, like PKCE.',
  }),
  state: text.max(4096).optional().meta({ description: 'Returned unchanged.' }),
  response_type: z.literal('code').optional().meta({ description: '`code`, also if absent.' }),
  response_mode: z.literal('query').optional().meta({ description: '`query`, also if absent.' }),
  code_challenge: text.optional().meta({ description: 'PKCE (RFC 7636).' }),
  code_challenge_method: z
    .literal('S256')
    .optional()
    .meta({ description: '`S256`; needed with `code_challenge`.' }),
  dpop_jkt: text
    .optional()
    .meta({ description: 'Thumbprint of the key that the exchange of the code has to prove (RFC 9449 10).' }),
  purpose: text.optional().meta({
    description:
      'Why the app asks, for the approval screen. Kept only from an app that authenticates itself.',
  }),
  include_granted_scopes: z.enum(['true', 'false']).optional().meta({
    description:
      '`true`: the tokens get every scope that the person shares with the app, not only those of this approval.',
  }),
};

/** The query of `GET /oauth/authorize`. */
const authorizationQuery = {
  client_id: text.meta({ description: 'Client id of the app.' }),
  ...AUTHORIZATION,
  request_uri: text.meta({ description: 'From `POST /oauth/par`; then `client_id` is enough.' }),
};

/** `POST /oauth/authorize` and `POST /oauth/par`. */
const authorizationRequest = z
  .object({ ...CREDENTIALS, ...AUTHORIZATION })
  .meta({ id: 'AuthorizationRequest' });

/** `POST /oauth/authorize` and `POST /oauth/par` (RFC 9126 2.2, and what our approval screen needs). */
const pushedJson = z
  .object({
    request_uri: text,
    expires_in: count,
    approval_uri: text.meta({ format: 'uri' }),
    pending_id: text,
    status: z.literal('pending'),
  })
  .meta({ id: 'PushedAuthorization' });

const PUSHED = {
  description: 'The request waits for the person, whom the app sends to `approval_uri`.',
  body: pushedJson,
  headers: ['Location'] as const,
};

const PAGE: Pick<Answer, 'body' | 'type' | 'headers' | 'sometimes'> = {
  body: text,
  type: 'text/html',
  headers: ['Cache-Control'],
  // A request with a URL that is too long gets the error of a program, with its id.
  sometimes: ['Pragma', 'X-Request-Id', ...LIMITED],
};
const TRY_LATER: typeof PAGE = { ...PAGE, headers: ['Cache-Control', 'Retry-After'] };

/** How an app asks a person for approval. */
export const AUTHORIZE_OPERATIONS: readonly MountedOperation[] = [
  {
    tag: 'OAuth',
    errorFormat: 'oauth',
    method: 'GET',
    path: '/oauth/authorize',
    operationId: 'startAuthorization',
    summary: 'Send a person to the approval screen',
    description:
      'The address to which the app sends the browser (RFC 6749 4.1.1). A mistake in `client_id` or `redirect_uri` shows a page; other ' +
      'errors return to the app with `error`, `error_description`, `state` and `iss`, for people whom the app does not know through a ' +
      'link on a page. A client that prefers JSON gets an error in place of each page.',
    security: 'none',
    query: authorizationQuery,
    requiredQuery: ['client_id'],
    answers: {
      303: {
        description: 'To the approval screen, or back to the app with an error.',
        headers: [...ALWAYS, 'Location'],
        sometimes: LIMITED,
      },
      400: { description: 'A page about a mistake in the request.', ...PAGE },
      429: { description: 'A page: too many requests.', ...TRY_LATER },
      500: { description: 'A page: something failed here.', ...PAGE },
      503: { description: 'A page: try again.', ...TRY_LATER },
    },
    errors: ['INVALID_REQUEST', 'RATE_LIMITED', 'INTERNAL_ERROR'],
    handle: startAuthorization,
  },
  clientOperation({
    path: '/oauth/authorize',
    operationId: 'requestAuthorization',
    summary: 'Ask a person for approval',
    description: 'The secret is optional; without it the requests of an address are limited.',
    security: 'optional-client',
    body: { schema: authorizationRequest, types: BOTH_TYPES },
    answers: {
      201: PUSHED,
      303: { description: 'To the approval screen, for a browser.', headers: ['Location'] },
    },
    requestHeaders: PROOF_HEADERS,
    errors: ['INVALID_SCOPE', 'INVALID_DPOP_PROOF'],
    handle: (exchange) => pushAuthorization(exchange, false),
  }),
  clientOperation({
    path: '/oauth/par',
    operationId: 'pushAuthorization',
    summary: 'Ask a person for approval as the app (RFC 9126)',
    security: 'client',
    body: { schema: authorizationRequest, types: BOTH_TYPES },
    answers: { 201: PUSHED },
    requestHeaders: PROOF_HEADERS,
    errors: ['INVALID_SCOPE', 'INVALID_DPOP_PROOF'],
    handle: (exchange) => pushAuthorization(exchange, true),
  }),
];

/** URL of the approval screen of a pending approval. */
function toScreenUrl({ gateway }: Exchange, pendingId: string): string {
  return `${gateway.config.PUBLIC_URL}/approve/${pendingId}`;
}

/** At `/oauth/par` the app authenticates itself, unless it has no secret (RFC 9126). */
async function pushAuthorization(exchange: Exchange, requireAuthentication: boolean): Promise<void> {
  const { gateway, request, response } = exchange;
  const dpop = findProof(exchange);
  const parameters = await readOauthParameters(exchange);
  const client = readCredentials(exchange, parameters);
  const send = () =>
    gateway.backends.authorization.openAuthorization({
      ...pick(parameters, FIELDS),
      client,
      network: networkOf(exchange),
      requireAuthentication,
      ...(dpop !== undefined && { dpop }),
    });
  const hasCredential = client.clientSecret !== undefined || client.clientAssertion !== undefined;
  const isClient = requireAuthentication || hasCredential;
  if (!hasCredential) await limitAddress(exchange);
  if (!isClient) exchange.force?.();
  const opened = await (isClient ? callAsClient(exchange, { client, send }) : send());
  const { pendingId, requestUri, expiresInSeconds } = opened;
  const location = toScreenUrl(exchange, pendingId);
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
 * The address to which OAuth clients redirect the browser. A bad client or redirect URI shows one identical
 * message. Other errors are returned to the app: by redirect when the person shares data with it, otherwise through a link beside a
 * message.
 */
async function startAuthorization(exchange: Exchange): Promise<void> {
  let opened: Opened;
  try {
    const parameters = parseFormParameters(splitUrl(exchange.request.originalUrl).rawQuery);
    opened = await openFromBrowser(exchange, parameters);
  } catch (error) {
    return refuseBrowser(exchange, toAppError(error));
  }
  if (opened.errorRedirect !== '') return returnToApp(exchange, opened);
  redirect(exchange.response, toScreenUrl(exchange, opened.pendingId), OAUTH_HEADERS);
}

type Opened = Pick<OpenAuthorizationResponse, 'pendingId' | 'errorRedirect' | 'errorRedirectHost'>;

async function openFromBrowser(exchange: Exchange, parameters: OauthParameters): Promise<Opened> {
  const { authorization } = exchange.gateway.backends;
  const clientId = parameters.get('client_id') ?? '';
  exchange.presentedClientId = parameters.get('client_id');
  const requestUri = parameters.get('request_uri');
  // A pushed request; other parameters beside it are ignored (RFC 9101 section 6.3). Request objects are refused by authorization.
  if (requestUri?.startsWith('urn:') && !parameters.get('request')) {
    const { pendingId } = await authorization.resolveRequestUri({ clientId, requestUri });
    return { pendingId, errorRedirect: '', errorRedirectHost: '' };
  }
  await limitAddress(exchange);
  return authorization.openAuthorization({
    ...pick(parameters, FIELDS),
    client: clientId === '' ? {} : { clientId },
    network: networkOf(exchange),
    frontChannel: true,
  });
}

function limitAddress(exchange: Exchange): Promise<void> {
  return takeFromLimit(exchange, 'anonymous-authorizations', toAddressKey(exchange.request.ip ?? ''));
}

/** Consent shares the places of requests without a secret among networks. */
function networkOf({ gateway, request }: Exchange): string {
  return gateway.networkOf(request.ip ?? '');
}

/** Parameters of an authorization request, by their fields. Authorization refuses request objects. */
const FIELDS = {
  redirectUri: 'redirect_uri',
  scope: 'scope',
  aud: 'aud',
  state: 'state',
  responseType: 'response_type',
  responseMode: 'response_mode',
  codeChallenge: 'code_challenge',
  codeChallengeMethod: 'code_challenge_method',
  dpopJkt: 'dpop_jkt',
  purpose: 'purpose',
  includeGrantedScopes: 'include_granted_scopes',
  requestUri: 'request_uri',
  request: 'request',
} as const;

type ErrorRedirect = Pick<OpenAuthorizationResponse, 'errorRedirect' | 'errorRedirectHost'>;

/** Whether the person shares data with the app; `unknown` without a session or when consent cannot be reached. */
type Connection = 'connected' | 'not connected' | 'unknown';

/**
 * Returns a browser to its app with an error. Anybody can register an app and send people a link that ends in an error here (an
 * open redirector), so the browser is redirected automatically only to an app that the signed-in person shares data with. Otherwise
 * a message shows the host and a link (RFC 9700 section 4.11.2).
 */
async function returnToApp(exchange: Exchange, target: ErrorRedirect): Promise<void> {
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
async function refuseBrowser(exchange: Exchange, error: AppError): Promise<void> {
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
