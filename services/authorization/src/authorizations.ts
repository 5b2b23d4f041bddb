import type { MessageInitShape } from '@bufbuild/protobuf';
import { PENDING_APPROVAL_SECONDS } from '@phds/catalog/lifetimes';
import type {
  OpenAuthorizationRequest,
  OpenAuthorizationResponseSchema,
  ResolveRequestUriRequest,
} from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { AppProfileSchema } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { Clock } from '@phds/service-kit/clock';
import { type AppError, invalidRequest, unauthorized } from '@phds/service-kit/errors';
import { isId, newId } from '@phds/service-kit/ids';
import { translateDatabaseError } from '@phds/service-kit/postgres/errors';
import { toMessage } from '@phds/service-kit/rpc/messages';
import type { UnverifiedProof } from '@phds/service-kit/trust/dpop';
import type { App, AppStore } from './app.ts';
import {
  type AcceptedParameters,
  type AuthorizationStore,
  findSettingsFault,
  parseRequestParameters,
} from './authorization-request.ts';
import {
  type ClientAuthentication,
  inNameOf,
  type PresentedClient,
  refusalOf,
} from './client-authentication.ts';
import type { Consent } from './clients/consent.ts';
import type { Possession } from './possession.ts';
import { addQuery, isRegistered, toRedirectHost } from './redirect-uri.ts';
import { addSeconds } from './token.ts';

/** Prefix of every `request_uri` (RFC 9126 section 2.2). */
const REQUEST_URI_PREFIX = 'urn:ietf:params:oauth:request_uri:';

interface AuthorizationsDependencies {
  readonly clients: ClientAuthentication;
  readonly apps: AppStore;
  readonly authorizations: AuthorizationStore;
  readonly consent: Consent['consent'];
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  readonly possession: Possession;
  /** Public base URL of the service (RFC 9207). */
  readonly issuer: string;
  /** Address of the FHIR interface. */
  readonly fhirBase: string;
}

export function createAuthorizations(dependencies: AuthorizationsDependencies) {
  return {
    /** Opens a pending approval (POST and GET /oauth/authorize, POST /oauth/par). */
    async openAuthorization(request: OpenAuthorizationRequest): Promise<Opened> {
      const path = request.requireAuthentication ? '/oauth/par' : '/oauth/authorize';
      const proof = dependencies.possession.read(request.dpop, path);
      const client = await dependencies.clients.identify(request.client);
      const app = admitClient(client, request);
      return inNameOf(app, async () => ({
        clientId: app.clientId,
        ...(await openFor(dependencies, { app, client, proof, request })),
      }));
    },
    resolveRequestUri: (request: ResolveRequestUriRequest) => resolveRequestUri(dependencies, request),
  };
}

/** The opened pending approval, or an error to redirect the browser with. */
type Opened = MessageInitShape<typeof OpenAuthorizationResponseSchema>;

interface Identified {
  readonly app: App;
  readonly client: PresentedClient;
  readonly proof: UnverifiedProof | null;
  readonly request: OpenAuthorizationRequest;
}

async function openFor(
  dependencies: AuthorizationsDependencies,
  { app, client, proof, request }: Identified,
): Promise<Opened> {
  const redirectUri = admitRedirectUri(app, client, request);
  try {
    // Without authentication, anybody could have written it. It is not stored, so it is not validated.
    const { purpose: _purpose, ...unproven } = request;
    requirePushed(app, request);
    const accepted = bindTo(
      await dependencies.possession.confirm(proof),
      parseRequestParameters(client.authenticated ? request : unproven, app, dependencies.fhirBase),
    );
    const { network } = request;
    return await openPending(dependencies, { app, redirectUri, accepted, client, network });
  } catch (error) {
    const refusal = translateDatabaseError(error);
    if (refusal.reason === 'app_not_active') throw unauthorized(refusal);
    const fault = request.frontChannel ? toRedirectError(refusal, request) : null;
    if (fault === null) throw error;
    const { issuer: iss } = dependencies;
    const errorRedirect = addQuery(redirectUri, { ...fault, state: request.state || null, iss });
    return { errorRedirect, errorRedirectHost: toRedirectHost(redirectUri) };
  }
}

/** Anybody can write the parameters of a link (RFC 9126 section 6). */
function requirePushed(app: App, { frontChannel }: OpenAuthorizationRequest): void {
  if (frontChannel && app.requirePushedAuthorizationRequests) {
    throw invalidRequest('request_uri', 'is needed: this app pushes its requests to /oauth/par');
  }
}

/** Binds the code to the key of a proof. Throws `invalid_request` if the request names another key (RFC 9449 section 10.1). */
function bindTo(jkt: string | null, accepted: AcceptedParameters): AcceptedParameters {
  if (jkt !== null && accepted.dpopJkt !== null && accepted.dpopJkt !== jkt) {
    throw invalidRequest('dpop_jkt', 'differs from the key of the DPoP proof');
  }
  return { ...accepted, dpopJkt: accepted.dpopJkt ?? jkt };
}

interface Admitted {
  readonly app: App;
  readonly redirectUri: string;
  readonly accepted: AcceptedParameters;
  readonly client: PresentedClient;
  readonly network: string;
}

async function openPending(
  dependencies: AuthorizationsDependencies,
  { app, redirectUri, accepted, client, network }: Admitted,
): Promise<Opened> {
  const { authorizations, consent, clock } = dependencies;
  const { purpose, ...kept } = accepted;
  const { scopes } = kept;
  const createdAt = clock.now();
  const pendingId = newId('apr', 160);
  // Inserted first, so that every visible pending approval has its redirect.
  await authorizations.insertRequest({
    pendingId,
    clientId: app.clientId,
    appEpoch: app.epoch,
    redirectUri,
    ...kept,
    createdAt,
    expiresAt: addSeconds(createdAt, PENDING_APPROVAL_SECONDS),
  });
  try {
    const { removedIds } = await consent.openPendingApproval({
      id: pendingId,
      app: toMessage(AppProfileSchema, app),
      appEpoch: app.epoch,
      redirectHost: toRedirectHost(redirectUri),
      scopes: [...scopes],
      purpose,
      clientAuthenticated: client.authenticated,
      network,
    });
    if (removedIds.length > 0) await removeRequests(dependencies, removedIds);
  } catch (error) {
    // Anybody who knows a client id can cause refusals, so no row may remain of them.
    if (isRefusal(error)) await removeRequests(dependencies, [pendingId]);
    throw error;
  }
  const requestUri = REQUEST_URI_PREFIX + pendingId;
  return { pendingId, requestUri, expiresInSeconds: PENDING_APPROVAL_SECONDS };
}

/** A failed clean-up does not change consent's response; pruning deletes the rows later. */
async function removeRequests(
  { authorizations, log }: AuthorizationsDependencies,
  pendingIds: readonly string[],
): Promise<void> {
  try {
    await authorizations.deleteRequests(pendingIds);
  } catch (err) {
    log.warn({ err, requests: pendingIds.length }, 'deleting requests without an approval failed');
  }
}

/** Whether consent refused the request. After any other error, it may have opened the approval. */
function isRefusal(error: unknown): boolean {
  const { reason } = translateDatabaseError(error);
  return reason !== 'unavailable' && reason !== 'internal';
}

/**
 * The pending approval of a `request_uri`. Throws `unauthorized` unless it belongs to this client, is still open, and is allowed
 * by the app's settings.
 */
async function resolveRequestUri(
  { apps, authorizations, clock }: AuthorizationsDependencies,
  { clientId, requestUri }: ResolveRequestUriRequest,
) {
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
  return { pendingId };
}

/** If a secret or an assertion was sent, it must be right, and the requests of some apps have to be pushed. Otherwise the app only has to exist and be active. */
function admitClient(client: PresentedClient, request: OpenAuthorizationRequest): App {
  const isPushed = request.requireAuthentication || client.app?.requirePushedAuthorizationRequests === true;
  const needed = (isPushed && !request.frontChannel) || client.credentialSent;
  if (client.app?.status !== 'active' || (needed && !client.authenticated && !client.isNamed))
    throw unauthorized(refusalOf(client));
  return client.app;
}

/** Validates the redirect URI. For an unauthenticated client, an unregistered one gets the same error as an unknown app. */
function admitRedirectUri(app: App, client: PresentedClient, request: OpenAuthorizationRequest): string {
  const { redirectUri } = request;
  if (redirectUri && isRegistered(app, redirectUri)) return redirectUri;
  if (request.frontChannel || !client.authenticated) throw unauthorized('redirect_uri');
  throw invalidRequest('redirect_uri', redirectUri ? 'is not registered for this app' : 'is required');
}

/** The error parameters of RFC 6749 section 4.1.2.1; null for internal errors, which are logged. */
function toRedirectError(
  refusal: AppError,
  request: OpenAuthorizationRequest,
): { error: string; error_description: string } | null {
  switch (refusal.reason) {
    case 'invalid_request': {
      return { error: nameInvalidRequest(request), error_description: refusal.message };
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

/** OpenID Connect Core 3.1.2.6 names what is not supported; RFC 9101 section 5 forbids both in one request. */
function nameInvalidRequest({ responseType, request, requestUri }: OpenAuthorizationRequest): string {
  if (request && requestUri) return 'invalid_request';
  if (request) return 'request_not_supported';
  if (requestUri) return 'request_uri_not_supported';
  return responseType && responseType !== 'code' ? 'unsupported_response_type' : 'invalid_request';
}
