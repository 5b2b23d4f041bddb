import {
  type Authorization,
  type AuthorizationRequest,
  finishAuthorization,
  type KeptAuthorization,
  startAuthorization,
} from './authorization.ts';
import { type Clock, systemClock } from './clock.ts';
import { Connection, type ConnectionParts } from './connection.ts';
import { Credentials } from './credentials.ts';
import { type CallOptions, Http, type HttpRequest } from './http.ts';
import { List, type Page } from './list.ts';
import { AppToken, OauthEndpoints } from './oauth.ts';
import type { Grant, GrantQuery, Introspection } from './resources.ts';
import { type KeyStore, type PrivateKey, Signer } from './signer.ts';
import { memoryTokenStore, type TokenStore } from './token-store.ts';
import { Tokens } from './tokens.ts';

export interface ClientOptions {
  /** Where the service is: `https://health.example`. */
  readonly baseUrl: string;
  readonly clientId: string;
  /** Absent where a proxy of yours adds it, and for an app without a secret. Never ship it to browsers. */
  readonly clientSecret?: string;
  /** In place of the secret: the private key of one of the app's public keys, which signs an assertion for each request (RFC 7523). */
  readonly clientKey?: PrivateKey;
  /**
   * Binds tokens to a key, so that they are of no use without it (RFC 9449): to this one, to one that is made and kept in this store
   * (`browserStore()` for a page), or with `true` to `clientKey`. Without a `clientKey`, `true` makes a key that lives as long as this
   * client, which is for apps of one process.
   */
  readonly dpop?: boolean | PrivateKey | KeyStore;
  /** One of the redirect URIs of the app. */
  readonly redirectUri: string;
  /** Where tokens are kept. Default: in the memory of this process. */
  readonly store?: TokenStore;
  /** The issuer that callbacks name, if it differs from `baseUrl`. */
  readonly issuer?: string;
  /** The longest wait for one answer. Default 10 s; a refresh of tokens never waits longer. */
  readonly timeoutMs?: number;
  /** How long after the first attempt of a request another one may begin. Default 30 s; for a refresh of tokens always 45 s, unless this is 0. */
  readonly retryBudgetMs?: number;
  readonly fetch?: typeof globalThis.fetch;
  readonly clock?: Clock;
  readonly random?: () => number;
}

const TIMEOUT_MS = 10_000;
const RETRY_BUDGET_MS = 30_000;

/** Creates the client of one app. One for each process is enough. */
export function createClient(options: ClientOptions): Client {
  return new Client(options);
}

/** Your app, for all its people. */
export class Client {
  readonly #http: Http;
  readonly #parts: ConnectionParts;
  readonly #place: Parameters<typeof startAuthorization>[0];
  readonly #appToken: AppToken;

  constructor(options: ClientOptions) {
    const { clientId, redirectUri, store = memoryTokenStore(), clock = systemClock } = options;
    const baseUrl = new URL(options.baseUrl).href.replace(/\/$/, '');
    const retryBudgetMs = options.retryBudgetMs ?? RETRY_BUDGET_MS;
    this.#http = new Http({
      baseUrl,
      // Called as a function: browsers refuse a `fetch` with another `this`.
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      clock,
      random: options.random ?? Math.random,
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      retryBudgetMs,
    });
    const issuer = options.issuer ?? baseUrl;
    const credentials = new Credentials({ clientId, baseUrl, issuer, ...toKeys(options) });
    const oauth = new OauthEndpoints(this.#http, clock, credentials, retryBudgetMs);
    const tokens = new Tokens({ store, clock, refresh: (previous) => oauth.refresh(previous) });
    this.#parts = { http: this.#http, tokens, store, oauth, credentials };
    this.#place = { oauth, credentials, redirectUri, issuer };
    this.#appToken = new AppToken(oauth, credentials);
  }

  /** Starts an authorization: keep `kept` in the browser's session, and send the browser to `url`. */
  authorize(request: AuthorizationRequest): Promise<Authorization> {
    return startAuthorization(this.#place, request);
  }

  /**
   * Finishes an authorization at your redirect URI. Stores the tokens and returns the connection. A repeated approval by the same person
   * has the same connection id, and replaces its tokens.
   */
  async exchange(
    callbackUrl: string | URL,
    kept: KeptAuthorization,
    options: CallOptions = {},
  ): Promise<Connection> {
    const next = await finishAuthorization(this.#place, callbackUrl, kept, options);
    const { store } = this.#parts;
    let previous = await store.get(next.grantId);
    while (!(await store.replace(next.grantId, previous, next))) previous = await store.get(next.grantId);
    return this.connection(next.grantId);
  }

  /** The connection with this id, whose tokens the store has. */
  connection(grantId: string): Connection {
    return new Connection(grantId, this.#parts);
  }

  /** The consent grants of the app, newest first: who shares what, until when, and what has ended. */
  grants({ signal, retryBudgetMs, ...query }: GrantQuery & CallOptions = {}): List<Grant> {
    return new List(query, async (page, pageSize, pace) => {
      const place = { method: 'GET', path: '/oauth/grants', pace } as const;
      const request = { ...place, query: { ...query, page, pageSize } };
      return (await this.#sendAsApp({ ...request, signal, retryBudgetMs })) as Page<Grant>;
    });
  }

  /** One grant. */
  async grant(grantId: string, options: CallOptions = {}): Promise<Grant> {
    const path = `/oauth/grants/${encodeURIComponent(grantId)}`;
    return ((await this.#sendAsApp({ ...options, method: 'GET', path })) as { readonly data: Grant }).data;
  }

  /** Ends a grant for good, when the person leaves your app for example. Ending it again changes nothing. */
  async endGrant(grantId: string, options: CallOptions = {}): Promise<void> {
    await this.#sendAsApp({
      ...options,
      method: 'DELETE',
      path: `/oauth/grants/${encodeURIComponent(grantId)}`,
    });
    await this.#parts.tokens.forget(grantId);
  }

  /** The state of a token of this app. */
  introspect(token: string, options: CallOptions = {}): Promise<Introspection> {
    return this.#parts.oauth.post('/oauth/introspect', { token }, options) as Promise<Introspection>;
  }

  /** Revokes a token: a refresh token with everything that came from it, an access token alone. */
  async revoke(token: string, options: CallOptions = {}): Promise<void> {
    await this.#parts.oauth.post('/oauth/revoke', { token }, options);
  }

  #sendAsApp(request: HttpRequest): Promise<unknown> {
    return this.#appToken.use(
      (authentication) => this.#http.send({ ...request, ...authentication }),
      request.signal,
    );
  }
}

function toKeys({ clientSecret, clientKey, dpop = false }: ClientOptions) {
  if (clientSecret !== undefined && clientKey !== undefined) {
    throw new TypeError('The client has both a `clientSecret` and a `clientKey`: give one.');
  }
  const signer = clientKey === undefined ? undefined : new Signer(clientKey);
  if (dpop === false) return { clientSecret, clientKey: signer, dpop: undefined };
  return {
    clientSecret,
    clientKey: signer,
    dpop: dpop === true ? (signer ?? new Signer()) : new Signer(dpop),
  };
}
