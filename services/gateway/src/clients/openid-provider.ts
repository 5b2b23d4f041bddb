import * as client from 'openid-client';
import { Discovery, type DiscoveryOptions } from './openid-discovery.ts';
import { toSignInFailure } from './sign-in-failure.ts';

/** What the provider is asked, and what its answer must match. */
export interface SignInRequest {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Whether the provider must not ask the person anything. */
  readonly silent: boolean;
  /** Whether the provider must let the person choose an account, also if they are signed in there. Ignored when silent. */
  readonly switchAccount: boolean;
  /** Longest time since the person last proved who they are; null for any. */
  readonly maxAgeSeconds: number | null;
  /** Ways of signing in that are asked for, in order of preference. */
  readonly acrValues: readonly string[];
}

/** The OpenID provider. All calls throw `SignInFailure`, whose text contains nothing secret. */
export interface OpenidProvider {
  /** Address at which the person signs in. */
  findAuthorizationUrl(request: SignInRequest): Promise<string>;
  /** Exchanges the code of a callback for an ID token. Its signature is not verified yet. */
  exchange(callback: URL, request: SignInRequest): Promise<string>;
  /** Address at which the person signs out of the provider; null if the provider has none. */
  findEndSessionUrl(idToken: string | null): Promise<string | null>;
}

export interface OpenidProviderOptions extends DiscoveryOptions {
  /** Public base URL of this service. */
  readonly publicUrl: string;
}

/** Opens the provider named by the settings. It is not asked anything yet, so it may be away at start-up. */
export function openOpenidProvider(options: OpenidProviderOptions): OpenidProvider {
  const { publicUrl, scope } = options;
  const discovery = new Discovery(options);
  return {
    findAuthorizationUrl: (request) =>
      translateErrors(async () => {
        const { state, nonce, codeVerifier, maxAgeSeconds, acrValues } = request;
        const config = await discovery.findReachable();
        const prompt = toPrompt(request, config.serverMetadata());
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: `${publicUrl}/sign-in/callback`,
          scope,
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
          ...(prompt === null ? {} : { prompt }),
          ...(maxAgeSeconds === null ? {} : { max_age: String(maxAgeSeconds) }),
          ...(acrValues.length === 0 ? {} : { acr_values: acrValues.join(' ') }),
        });
        return url.href;
      }),

    exchange: (callback, { state, nonce, codeVerifier, maxAgeSeconds }) =>
      translateErrors(async () => {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
        const maxAge = maxAgeSeconds === null ? {} : { maxAge: maxAgeSeconds };
        const config = await discovery.find();
        const tokens = await client.authorizationCodeGrant(config, callback, { ...checks, ...maxAge });
        // Never absent, because a nonce is expected.
        return tokens.id_token ?? '';
      }),

    findEndSessionUrl: (idToken) =>
      translateErrors(async () => {
        const config = await discovery.findReachable();
        if (config.serverMetadata().end_session_endpoint === undefined) return null;
        const hint = idToken === null ? {} : { id_token_hint: idToken };
        const parameters = { post_logout_redirect_uri: `${publicUrl}/`, ...hint };
        return client.buildEndSessionUrl(config, parameters).href;
      }),
  };
}

/** The value of `prompt` (OpenID Connect Core section 3.1.2.1); null to let the provider decide. */
function toPrompt(
  { silent, switchAccount }: SignInRequest,
  { prompt_values_supported: supported }: client.ServerMetadata,
): string | null {
  if (silent) return 'none';
  if (!switchAccount) return null;
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
