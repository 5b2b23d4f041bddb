import type { Clock } from '@phds/service-kit/clock';
import { MAX_CLOCK_DIFFERENCE_SECONDS } from '@phds/service-kit/trust/session';
import * as client from 'openid-client';
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import type { OpenidSettings } from '../config.ts';

/** What the provider is asked, and what its answer must match. */
interface SignInRequest {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Whether the provider must let the person choose an account, also if they are signed in there. */
  readonly switchAccount: boolean;
}

export type OpenidProvider = ReturnType<typeof openOpenidProvider>;

interface OpenidProviderOptions extends DiscoveryOptions {
  /** Public base URL of this service. */
  readonly publicUrl: string;
}

/**
 * Opens the provider named by the settings. It is not asked anything yet. All calls throw `SignInFailure`, whose text contains nothing
 * secret.
 */
export function openOpenidProvider(options: OpenidProviderOptions) {
  const { publicUrl, scope } = options;
  const discovery = new Discovery(options);
  return {
    /** Asks for the provider's metadata. Rejects unless it answers and names the issuer of the settings. */
    check: async () => void (await discover(options)),
    /** Address at which the person signs in. */
    findAuthorizationUrl: (request: SignInRequest): Promise<string> =>
      translateErrors(async () => {
        const { state, nonce, codeVerifier, switchAccount } = request;
        const config = await discovery.findReachable();
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: `${publicUrl}/sign-in/callback`,
          scope,
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
          ...(switchAccount ? { prompt: toPrompt(config.serverMetadata()) } : {}),
        });
        return url.href;
      }),

    /** Exchanges the code of a callback for an ID token. Its signature is not verified yet. */
    exchange: (callback: URL, { state, nonce, codeVerifier }: SignInRequest): Promise<string> =>
      translateErrors(async () => {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
        const config = await discovery.find();
        const tokens = await client.authorizationCodeGrant(config, callback, checks);
        // Never absent, because a nonce is expected.
        return tokens.id_token ?? '';
      }),

    /** Address at which the person signs out of the provider; null if the provider has none. */
    findEndSessionUrl: (idToken: string | null): Promise<string | null> =>
      translateErrors(async () => {
        const config = await discovery.findReachable();
        if (config.serverMetadata().end_session_endpoint === undefined) return null;
        const hint = idToken === null ? {} : { id_token_hint: idToken };
        const parameters = { post_logout_redirect_uri: `${publicUrl}/`, ...hint };
        return client.buildEndSessionUrl(config, parameters).href;
      }),
  };
}

/** The value of `prompt` (OpenID Connect Core section 3.1.2.1) with which the person chooses an account. */
function toPrompt({ prompt_values_supported: supported }: client.ServerMetadata): string {
  // Every provider has `login`, which asks for the account too. The page to choose one is optional.
  return Array.isArray(supported) && supported.includes('select_account') ? 'select_account' : 'login';
}

async function translateErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toSignInFailure(error);
  }
}

/** Before people are sent to the provider, it must have answered within this time. */
const REACHABLE_MS = 10_000;
const FRESH_MS = 10 * 60_000;

interface DiscoveryOptions extends OpenidSettings {
  readonly deadlineMs: number;
  readonly clock: Clock;
}

/** The metadata of the provider with the gateway's client, fetched when it is needed. */
class Discovery {
  readonly #options: DiscoveryOptions;
  #found: { readonly config: client.Configuration; readonly at: number } | null = null;
  #pending: Promise<client.Configuration> | null = null;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** For requests that follow an answer of the provider: at most ten minutes old, older if the provider does not answer. */
  async find(): Promise<client.Configuration> {
    try {
      return await this.#findSince(FRESH_MS);
    } catch (error) {
      if (this.#found === null) throw error;
      return this.#found.config;
    }
  }

  /** For people about to be sent to the provider: throws a `SignInFailure` unless it answered in the last ten seconds. */
  findReachable(): Promise<client.Configuration> {
    return this.#findSince(REACHABLE_MS);
  }

  async #findSince(maxAgeMs: number): Promise<client.Configuration> {
    const age = this.#options.clock.now().getTime() - (this.#found?.at ?? 0);
    if (this.#found !== null && age >= 0 && age < maxAgeMs) return this.#found.config;
    // Calls at the same time share one request.
    this.#pending ??= this.#fetch().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  async #fetch(): Promise<client.Configuration> {
    const config = await discover(this.#options);
    this.#found = { config, at: this.#options.clock.now().getTime() };
    return config;
  }
}

/** The detail of the failure when the metadata names another issuer than the settings. */
export const ISSUER_DIFFERS = 'issuer_differs';
/** The library's code for that. */
const COMPARISON_FAILED = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';

async function discover(options: DiscoveryOptions): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret, deadlineMs } = options;
  const config = await client
    .discovery(
      new URL(issuer),
      clientId,
      { client_secret: clientSecret, [client.clockTolerance]: MAX_CLOCK_DIFFERENCE_SECONDS },
      authenticateBySecret(clientSecret),
      {
        timeout: deadlineMs / 1000,
        // The settings allow http only for a provider on this machine.
        execute: issuer.startsWith('http:') ? [client.allowInsecureRequests] : [],
      },
    )
    .catch((error: unknown) => {
      const { detail } = toSignInFailure(error);
      throw new SignInFailure('unavailable', detail === COMPARISON_FAILED ? ISSUER_DIFFERS : detail);
    });
  // The library ignores a slash at the end, but tokens are compared exactly.
  const named = config.serverMetadata().issuer;
  if (named !== issuer) throw new SignInFailure('unavailable', ISSUER_DIFFERS);
  return config;
}

/** Sends the client secret in `Authorization`, the default of OpenID Connect, or in the body if the provider only supports that. */
function authenticateBySecret(clientSecret: string): client.ClientAuth {
  const basic = client.ClientSecretBasic(clientSecret);
  const post = client.ClientSecretPost(clientSecret);
  return (server, ...rest) => {
    const supported = server.token_endpoint_auth_methods_supported;
    const useBody = supported?.includes('client_secret_post') && !supported.includes('client_secret_basic');
    (useBody ? post : basic)(server, ...rest);
  };
}

/**
 * Why a sign-in failed: the provider refused it, the provider cannot be reached or cannot answer now, its answer is not
 * acceptable, or its ID token does not fit in a cookie.
 */
export type SignInFailureKind = 'refused' | 'unavailable' | 'invalid' | 'too_long';

/** Contains neither a token nor a code, so it may be logged. It has no cause: the library's errors contain whole answers. */
export class SignInFailure extends Error {
  readonly kind: SignInFailureKind;
  /** An error code of the provider or of the library, or the reason why the ID token is not a session. */
  readonly detail: string;

  constructor(kind: SignInFailureKind, detail: string) {
    super(`sign-in failed: ${kind} (${detail})`);
    this.name = 'SignInFailure';
    this.kind = kind;
    this.detail = detail;
  }
}

const TEMPORARY: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);
const NO_ANSWER: ReadonlySet<string> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);
const CODE = /^\w{1,64}$/;

/** Translates an error of `openid-client`. */
function toSignInFailure(caught: unknown): SignInFailure {
  if (caught instanceof SignInFailure) return caught;
  if (caught instanceof AuthorizationResponseError) {
    return new SignInFailure(TEMPORARY.has(caught.error) ? 'unavailable' : 'refused', toCode(caught.error));
  }
  if (caught instanceof ResponseBodyError) {
    return new SignInFailure(isTemporary(caught.status) ? 'unavailable' : 'invalid', toCode(caught.error));
  }
  // An error that the library does not know is one of the network.
  if (!(caught instanceof ClientError) || caught.code === undefined) return unreachable();
  const { code, cause } = caught;
  const status = cause instanceof Response ? cause.status : 0;
  if (NO_ANSWER.has(code) || isTemporary(status)) return new SignInFailure('unavailable', toCode(code));
  return new SignInFailure('invalid', toCode(code));
}

function unreachable(): SignInFailure {
  return new SignInFailure('unavailable', 'unreachable');
}

function isTemporary(status: number): boolean {
  return status >= 500 || status === 429;
}

/** The provider's codes come from a URL or a body, which may contain anything. */
function toCode(code: string): string {
  return CODE.test(code) ? code : 'other';
}
