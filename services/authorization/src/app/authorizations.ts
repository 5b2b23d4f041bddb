import { PENDING_APPROVAL_SECONDS } from '@phds/catalog/lifetimes';
import type { Clock } from '@phds/service-kit/clock';
import { type AppError, invalidRequest, toAppError, unauthorized } from '@phds/service-kit/errors';
import { isId, newId } from '@phds/service-kit/ids';
import type { App } from '../domain/app.ts';
import type { AcceptedParameters, RequestParameters } from '../domain/authorization-request.ts';
import { findSettingsFault, parseRequestParameters } from '../domain/authorization-request.ts';
import { addQuery, isRegistered, toRedirectHost } from '../domain/redirect-uri.ts';
import { addSeconds } from '../domain/token.ts';
import type { ClientAuthentication, ClientCredentials, PresentedClient } from './client-authentication.ts';
import type { AppStore, AuthorizationStore, ConsentApprovals } from './ports.ts';

/** What every `request_uri` begins with (RFC 9126 section 2.2). */
const REQUEST_URI_PREFIX = 'urn:ietf:params:oauth:request_uri:';

/** An authorization request as it came; absent means not sent. */
export interface OpenRequest extends RequestParameters {
  readonly client: ClientCredentials;
  readonly redirectUri?: string | undefined;
  /** Pushed requests (RFC 9126) need the secret. */
  readonly requireAuthentication: boolean;
  /** The request came with the user's browser: errors that may go there come back as a redirect. */
  readonly frontChannel: boolean;
}

/** A pending approval was opened, or the browser is to be sent back with an error. */
export type Opened =
  | {
      readonly pendingId: string;
      readonly requestUri: string;
      readonly expiresInSeconds: number;
    }
  | {
      readonly errorRedirect: string;
      /** Host of the redirect, for people to read. */
      readonly errorRedirectHost: string;
    };

export interface Authorizations {
  /** Opens a pending approval (contract section 3, POST and GET /oauth/authorize, POST /oauth/par). */
  open(request: OpenRequest): Promise<Opened>;
  /** The pending approval behind a `request_uri`; throws `unauthorized` unless it is this client's, still open and allowed by the app's settings. */
  resolve(clientId: string, requestUri: string): Promise<string>;
}

export interface AuthorizationsDependencies {
  readonly clients: ClientAuthentication;
  readonly apps: AppStore;
  readonly authorizations: AuthorizationStore;
  readonly approvals: ConsentApprovals;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  /** Public base URL of the service (RFC 9207). */
  readonly issuer: string;
}

export function createAuthorizations(dependencies: AuthorizationsDependencies): Authorizations {
  return {
    async open(request) {
      const client = await dependencies.clients.identify(request.client);
      const app = admitClient(client, request);
      const redirectUri = admitRedirectUri(app, client, request);
      try {
        // Anybody can send a purpose in the app's name. It is not kept, so nothing about it can be wrong.
        const parameters = client.authenticated ? request : { ...request, purpose: undefined };
        const accepted = parseRequestParameters(parameters, app);
        return await openPending(dependencies, { app, redirectUri, accepted, client });
      } catch (error) {
        const refusal = toAppError(error);
        if (refusal.reason === 'app_not_active') throw unauthorized(refusal);
        const fault = request.frontChannel ? toRedirectError(refusal, request) : null;
        if (fault === null) throw error;
        const { issuer: iss } = dependencies;
        const errorRedirect = addQuery(redirectUri, { ...fault, state: request.state || null, iss });
        return { errorRedirect, errorRedirectHost: toRedirectHost(redirectUri) };
      }
    },
    resolve: (clientId, requestUri) => resolveRequestUri(dependencies, clientId, requestUri),
  };
}

interface Admitted {
  readonly app: App;
  readonly redirectUri: string;
  readonly accepted: AcceptedParameters;
  readonly client: PresentedClient;
}

async function openPending(
  dependencies: AuthorizationsDependencies,
  { app, redirectUri, accepted, client }: Admitted,
): Promise<Opened> {
  const { authorizations, approvals, clock } = dependencies;
  const { state, codeChallenge, scopes, purpose } = accepted;
  const createdAt = clock.now();
  const pendingId = newId('apr', 160);
  // First here: a pending approval that a user can see always has its redirect.
  await authorizations.insertRequest({
    pendingId,
    clientId: app.clientId,
    appEpoch: app.epoch,
    redirectUri,
    state,
    codeChallenge,
    scopes,
    createdAt,
    expiresAt: addSeconds(createdAt, PENDING_APPROVAL_SECONDS),
  });
  try {
    const removedIds = await approvals.open({
      id: pendingId,
      app,
      appEpoch: app.epoch,
      redirectHost: toRedirectHost(redirectUri),
      scopes,
      purpose,
      clientAuthenticated: client.authenticated,
    });
    if (removedIds.length > 0) await removeRequests(dependencies, removedIds);
  } catch (error) {
    // Whoever knows a client id can be refused without end; no row must stay of it.
    if (isRefusal(error)) await removeRequests(dependencies, [pendingId]);
    throw error;
  }
  const requestUri = REQUEST_URI_PREFIX + pendingId;
  return { pendingId, requestUri, expiresInSeconds: PENDING_APPROVAL_SECONDS };
}

/** What consent has answered is not changed by a clean-up that fails: pruning deletes what is left once it is old enough. */
async function removeRequests(
  { authorizations, log }: AuthorizationsDependencies,
  pendingIds: readonly string[],
): Promise<void> {
  try {
    await authorizations.deleteRequests(pendingIds);
  } catch (err) {
    log.warn({ err, requests: pendingIds.length }, 'requests without an approval could not be deleted');
  }
}

/** Whether the consent service said no; otherwise it may have opened the approval all the same. */
function isRefusal(error: unknown): boolean {
  const { reason } = toAppError(error);
  return reason !== 'unavailable' && reason !== 'internal';
}

async function resolveRequestUri(
  { apps, authorizations, clock }: AuthorizationsDependencies,
  clientId: string,
  requestUri: string,
): Promise<string> {
  const pendingId = requestUri.startsWith(REQUEST_URI_PREFIX)
    ? requestUri.slice(REQUEST_URI_PREFIX.length)
    : '';
  const request = isId('apr', pendingId) ? await authorizations.findRequest(pendingId) : null;
  if (request === null || request.clientId !== clientId || request.expiresAt <= clock.now()) {
    throw unauthorized('request_uri');
  }
  const app = await apps.findApp(clientId);
  if (app?.status !== 'active' || app.epoch !== request.appEpoch) throw unauthorized('app not active');
  const fault = findSettingsFault(request, app);
  if (fault !== null) throw unauthorized(fault);
  return pendingId;
}

/** A secret that was sent has to be right; without one the app has to exist and be active, and that is all. */
function admitClient(client: PresentedClient, request: OpenRequest): App {
  const needed = request.requireAuthentication || client.secretSent;
  if (client.app?.status !== 'active' || (needed && !client.authenticated)) throw unauthorized('client');
  return client.app;
}

/** The redirect URI; to whoever did not prove to be the app an unregistered one looks like an unknown app. */
function admitRedirectUri(app: App, client: PresentedClient, request: OpenRequest): string {
  const { redirectUri } = request;
  if (redirectUri && isRegistered(app.redirectUris, redirectUri)) return redirectUri;
  if (request.frontChannel || !client.authenticated) throw unauthorized('redirect_uri');
  throw invalidRequest('redirect_uri', redirectUri ? 'is not registered for this app' : 'is required');
}

/** The error parameters of RFC 6749 section 4.1.2.1; null for faults that are ours to log. */
function toRedirectError(
  refusal: AppError,
  request: OpenRequest,
): { error: string; error_description: string } | null {
  switch (refusal.reason) {
    case 'invalid_request': {
      const type = request.responseType;
      const error = type && type !== 'code' ? 'unsupported_response_type' : 'invalid_request';
      return { error, error_description: refusal.message };
    }
    case 'invalid_scope':
      return { error: 'invalid_scope', error_description: refusal.message };
    case 'rate_limited':
    case 'unavailable':
      return { error: 'temporarily_unavailable', error_description: 'Try again later.' };
    default:
      return null;
  }
}
