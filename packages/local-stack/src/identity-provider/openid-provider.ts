import { createPrivateKey } from 'node:crypto';
import { SIGNATURE_ALGORITHM } from '@phds/service-kit/trust/keys';
import {
  type ClientMetadata,
  type Configuration,
  type Grant,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider';
import { renderErrorPage, renderSignedOutPage, renderSignOutPage } from './pages.ts';
import { SESSION_SECONDS, type UserDirectory } from './users.ts';

/** The service as a client of the provider. */
interface OpenIdClient {
  readonly secret: string;
  /** Base URLs of the gateways, at which people sign in and to which they return. */
  readonly gatewayUrls: readonly string[];
  /** Where the provider reports that a person signed out, as the provider reaches it. */
  readonly backchannelLogoutUrl: string;
}

export interface OpenIdProviderOptions {
  /** `iss` of ID tokens and sessions: the provider's own public URL. */
  readonly issuer: string;
  /** Also `aud` of ID tokens and sessions. */
  readonly clientId: string;
  readonly client: OpenIdClient;
  readonly privateKeyPem: string;
  readonly users: UserDirectory;
  /** Lifetime of ID tokens. Default: that of sessions. */
  readonly idTokenSeconds?: number;
}

const MINUTE = 60;
/** Time limit of a request to a gateway, in milliseconds. */
const REQUEST_MS = 30_000;
const WEEK_SECONDS = 7 * 24 * 60 * MINUTE;

/**
 * Creates an OpenID provider with one client, which needs no consent. Its interaction, i.e. who the person is, is at
 * `/interaction/:uid`. People stay signed in for a week, longer than an ID token lasts, so that the next sign-in asks nothing. The
 * package keeps one or two thousand items of state in memory, so people are also signed out when the provider restarts, and after a few
 * hundred sign-ins of others.
 */
export function createOpenIdProvider(options: OpenIdProviderOptions): Provider {
  const provider = new Provider(options.issuer, toConfiguration(options));
  provider.use(async (context, next) => {
    await next();
    if (context.status !== 404 || context.body !== undefined) return;
    context.body = renderErrorPage('There is no such page.');
    context.status = 404;
  });
  provider.on('server_error', ({ method, path }, error) =>
    console.error(`${method} ${path}: ${error.stack ?? error.message}`),
  );
  provider.on('grant.error', (_context, { message, error_detail }) =>
    console.error(`The token request was refused: ${message} (${error_detail ?? 'no detail'})`),
  );
  provider.on('backchannel.error', (_context, error, client) =>
    console.error(`Back-channel logout at ${client.backchannelLogoutUri} failed: ${error.message}`),
  );
  return provider;
}

function toConfiguration(options: OpenIdProviderOptions): Configuration {
  const { privateKeyPem, users, idTokenSeconds = SESSION_SECONDS } = options;
  const key = createPrivateKey(privateKeyPem).export({ format: 'jwk' });
  return {
    clients: [toClient(options)],
    // Without a `kid`, the package uses the thumbprint, as the session issuer does.
    jwks: { keys: [{ ...key, alg: SIGNATURE_ALGORITHM, use: 'sig' } as never] },
    scopes: ['openid', 'profile'],
    claims: { openid: ['sub'], profile: ['name'] },
    // ID tokens contain the claims of the requested scopes, because the gateway does not ask for them elsewhere.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    // The package does not publish this by itself.
    discovery: { prompt_values_supported: ['none', 'login', 'select_account'] },
    routes: { jwks: '/.well-known/jwks.json' },
    interactions: { policy: createPolicy(), url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: users.nameOf(id) }),
    }),
    loadExistingGrant: grantEverything,
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: askToSignOut,
        postLogoutSuccessSource: (context) => {
          context.body = renderSignedOutPage();
        },
      },
    },
    renderError: (context, { error, error_description }) => {
      context.type = 'html';
      context.body = renderErrorPage(`${error_description ?? error}.`);
    },
    // The package blocks requests to this machine and to private networks, where everything of the local stack is, and ends each
    // after 2.5 s. A logout is sent only once, and its answer may take a busy machine longer.
    fetch: (
      url,
      { dispatcher: _guard, signal: _limit, ...request }: RequestInit & { dispatcher?: unknown } = {},
    ) => fetch(url, { ...request, signal: AbortSignal.timeout(REQUEST_MS) }),
    ttl: {
      AccessToken: 10 * MINUTE,
      AuthorizationCode: MINUTE,
      Grant: WEEK_SECONDS,
      IdToken: idTokenSeconds,
      Interaction: 60 * MINUTE,
      Session: WEEK_SECONDS,
    },
  };
}

function toClient({ clientId, client }: OpenIdProviderOptions): ClientMetadata {
  const { secret, gatewayUrls, backchannelLogoutUrl } = client;
  return {
    client_id: clientId,
    client_secret: secret,
    redirect_uris: gatewayUrls.map((url) => `${url}/sign-in/callback`),
    post_logout_redirect_uris: gatewayUrls.map((url) => `${url}/`),
    backchannel_logout_uri: backchannelLogoutUrl,
    // Also adds `sid` to the ID tokens.
    backchannel_logout_session_required: true,
    id_token_signed_response_alg: SIGNATURE_ALGORITHM,
  };
}

/** Asks who the person is when nobody is signed in, and when the client requests that the person chooses an account. */
function createPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy.remove('consent');
  policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }));
  return policy;
}

/** The only client belongs to the same people as the provider, so it gets every scope without asking. */
async function grantEverything({ oidc }: KoaContextWithOIDC): Promise<Grant> {
  const { provider, client, account, session, params } = oidc;
  const clientId = client?.clientId ?? '';
  const known = await provider.Grant.find(session?.authorizations?.[clientId]?.grantId ?? '');
  const grant = known ?? new provider.Grant({ clientId, accountId: account?.accountId ?? '' });
  grant.addOIDCScope(String(params?.['scope'] ?? ''));
  await grant.save();
  return grant;
}

/** Signs out at once if the client proves by an ID token that it is about this person, else after a question (CSRF). */
function askToSignOut(context: KoaContextWithOIDC, form: string): void {
  const { IdTokenHint } = context.oidc.entities;
  const isOwn = IdTokenHint?.payload['sub'] === context.oidc.session?.accountId;
  context.body = renderSignOutPage(form, isOwn);
}
