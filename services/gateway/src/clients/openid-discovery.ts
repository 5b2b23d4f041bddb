import type { Clock } from '@phds/service-kit/clock';
import { MAX_CLOCK_DIFFERENCE_SECONDS } from '@phds/service-kit/trust/session';
import * as client from 'openid-client';
import type { OpenidSettings } from '../config.ts';
import { SignInFailure, toSignInFailure } from './sign-in-failure.ts';

/** Before people are sent to the provider, it must have answered within this time. */
const REACHABLE_MS = 10_000;
const FRESH_MS = 10 * 60_000;

export interface DiscoveryOptions extends OpenidSettings {
  readonly deadlineMs: number;
  readonly clock: Clock;
}

/** The metadata of the provider with the gateway's client, fetched when it is needed. */
export class Discovery {
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
      throw new SignInFailure('unavailable', toSignInFailure(error).detail);
    });
  // The library ignores a slash at the end, but tokens are compared exactly.
  const named = config.serverMetadata().issuer;
  if (named !== issuer) throw new SignInFailure('unavailable', 'issuer_differs');
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
