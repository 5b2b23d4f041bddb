import {
  type AuthorizationRequest,
  type Client,
  type ClientOptions,
  createClient,
  type KeptAuthorization,
  type PrivateJwk,
} from '@phds/sdk';
import { checkedFetch } from '@phds/test-kit/checked-answers';
import type { ProofKey } from '@phds/test-kit/dpop-proofs';
import { type Answer, type RequestOptions, send } from './request.ts';

/** The app's redirect URI: a loopback address where nothing listens. */
export const REDIRECT_URI = 'http://localhost:9999/callback';

export interface AppSettings {
  readonly name?: string;
  readonly redirectUris?: readonly string[];
  readonly scopes?: readonly string[];
  readonly requirePkce?: boolean;
  readonly applicationType?: 'public';
  readonly tokenEndpointAuthMethod?: 'private_key_jwt';
  readonly dpopBoundAccessTokens?: boolean;
  readonly requirePushedAuthorizationRequests?: boolean;
  readonly jwks?: { readonly keys: readonly object[] };
  readonly description?: string;
  readonly developerName?: string;
  readonly homepageUrl?: string;
  readonly privacyPolicyUrl?: string;
}

/** The user's decision. */
interface Approval {
  /** Omitted: all requested scopes. */
  readonly scopes?: readonly string[];
  readonly expiresInDays?: number;
  readonly keepExpiry?: boolean;
  readonly dataFrom?: string | null;
  /** As the approval screen showed it. */
  readonly revision?: string;
}

/** The result of an approval. */
interface ApprovedCode {
  readonly code: string;
  readonly grantId: string;
  readonly pendingId: string;
}

/** An approval that has not been exchanged. */
interface ApprovedRequest extends ApprovedCode {
  /** Where the browser is sent to. */
  readonly callbackUrl: string;
  /** What the app kept until the callback. */
  readonly kept: KeptAuthorization;
}

/** Tokens of one consent grant. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly grantId: string;
}

type Parameters = Readonly<Record<string, string>>;

interface AppCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri?: string;
  readonly issuer?: string;
  readonly proofKey?: ProofKey | undefined;
}

type OwnClientOptions = Partial<Omit<ClientOptions, 'clientId' | 'clientSecret'>>;

/**
 * A partner's app. It connects people with the SDK. Methods that return a response send plain HTTP, for tests of single requests;
 * `expect…`, `ask` and `connect` throw when the response is an error.
 */
export class PartnerApp {
  readonly gateway: string;
  /** The first gateway's public URL, which all gateways of a stack name. */
  readonly issuer: string;
  readonly clientId: string;
  /** Writable, for tests that rotate the secret. */
  clientSecret: string;
  readonly redirectUri: string;
  /** The key to which the tokens of people are bound; undefined for bearer tokens. */
  readonly proofKey: ProofKey | undefined;

  constructor(gateway: string, client: AppCredentials) {
    this.gateway = gateway;
    this.issuer = client.issuer ?? gateway;
    this.clientId = client.clientId;
    this.clientSecret = client.clientSecret;
    this.redirectUri = client.redirectUri ?? REDIRECT_URI;
    this.proofKey = client.proofKey;
  }

  /** The same app using another gateway. */
  at(gateway: string): PartnerApp {
    return new PartnerApp(gateway, this);
  }

  /** The same app, which binds the tokens of people to a key. */
  boundTo(proofKey: ProofKey): PartnerApp {
    return new PartnerApp(this.gateway, { ...this, proofKey });
  }

  get credentials() {
    return { client_id: this.clientId, client_secret: this.clientSecret };
  }

  /** `POST /oauth/authorize` for these scopes. */
  authorize(scopes: readonly string[], parameters: Parameters = {}): Promise<Answer> {
    return this.post('/oauth/authorize', {
      redirect_uri: this.redirectUri,
      scope: scopes.join(' '),
      ...parameters,
    });
  }

  exchange(code: string, parameters: Parameters = {}): Promise<Answer> {
    return this.post('/oauth/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: this.redirectUri,
      ...parameters,
    });
  }

  refresh(refreshToken: string, parameters: Parameters = {}): Promise<Answer> {
    return this.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      ...parameters,
    });
  }

  revoke(token: string): Promise<Answer> {
    return this.post('/oauth/revoke', { token });
  }

  introspect(token: string): Promise<Answer> {
    return this.post('/oauth/introspect', { token });
  }

  /** Requests a userless token. Throws when it is refused. */
  async userlessToken(): Promise<string> {
    return expectStatus(200, await this.post('/oauth/token', { grant_type: 'client_credentials' })).body
      .access_token;
  }

  /** Reads `/api/v1/health-data/heart` and the like. */
  async read(accessToken: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const headers = { ...(await this.present(accessToken, path)), ...options.headers };
    return send(this.gateway + path, { ...options, headers });
  }

  /** The header fields of a GET with this access token. A bound token comes with a new proof. */
  async present(accessToken: string, path: string): Promise<Readonly<Record<string, string>>> {
    if (this.proofKey === undefined) return { Authorization: `Bearer ${accessToken}` };
    return {
      Authorization: `DPoP ${accessToken}`,
      DPoP: await this.#prove('GET', path, { accessToken }),
    };
  }

  async #prove(method: string, path: string, subject: object = {}): Promise<string> {
    const { proofKey, issuer } = this;
    if (proofKey === undefined) throw new Error('an app without a key');
    return proofKey.prove({ method, url: issuer + path, now: new Date(), ...subject });
  }

  /** Sends JSON with the app's credentials in the body. */
  async post(path: string, parameters: Parameters): Promise<Answer> {
    const json = { ...this.credentials, ...parameters };
    // The app's own tokens stay bearer tokens.
    const { grant_type: type = '' } = parameters;
    const isProved = this.proofKey !== undefined && ['authorization_code', 'refresh_token'].includes(type);
    const headers = isProved ? { DPoP: await this.#prove('POST', path) } : {};
    return send(this.gateway + path, { json, headers });
  }

  /** Requests the scopes and lets the user of the session approve them. Throws on an error. */
  async expectCode(
    session: string,
    scopes: readonly string[],
    approval: Approval = {},
  ): Promise<ApprovedCode> {
    const pendingId = expectStatus(201, await this.authorize(scopes)).body.pending_id;
    const { grantId, redirectUri } = expectStatus(200, await this.approveAs(session, pendingId, approval))
      .body.data;
    return { pendingId, grantId, code: new URL(redirectUri).searchParams.get('code') ?? '' };
  }

  /** `POST /partner/consent/pending/:id/approve` as the user behind the session. */
  approveAs(session: string, pendingId: string, approval: Approval = {}): Promise<Answer> {
    const url = `${this.gateway}/partner/consent/pending/${pendingId}/approve`;
    return send(url, { bearer: session, json: approval });
  }

  async expectTokens(code: string): Promise<Tokens> {
    return toTokens(expectStatus(200, await this.exchange(code)));
  }

  /**
   * The app's client of the SDK. Unlike the SDK by itself, it repeats nothing, so that a test sees each failure, and compares each
   * answer with the OpenAPI document.
   */
  client(options: OwnClientOptions = {}): Client {
    const { gateway: baseUrl, clientId, clientSecret, redirectUri, issuer, proofKey } = this;
    const dpop = proofKey && { dpop: proofKey.privateJwk as PrivateJwk };
    const own = { baseUrl, clientId, clientSecret, redirectUri, issuer, ...dpop };
    return createClient({ ...own, retryBudgetMs: 0, timeoutMs: 60_000, fetch: checkedFetch, ...options });
  }

  /** Starts an authorization with the SDK and lets the user of the session approve it. */
  async ask(
    session: string,
    request: AuthorizationRequest,
    approval: Approval = {},
    client: Client = this.client(),
  ): Promise<ApprovedRequest> {
    const { url, kept } = await client.authorize(request);
    const pendingId = new URL(url).pathname.split('/').at(-1) ?? '';
    const answer = expectStatus(200, await this.approveAs(session, pendingId, approval));
    const { grantId, redirectUri: callbackUrl } = answer.body.data;
    const code = new URL(callbackUrl).searchParams.get('code') ?? '';
    return { pendingId, grantId, code, callbackUrl, kept };
  }

  /** Finishes an authorization with the SDK. */
  async finish({ callbackUrl, kept }: ApprovedRequest, client: Client = this.client()): Promise<Tokens> {
    return (await client.exchange(callbackUrl, kept)).accessTokens();
  }

  /** The whole flow from authorization to tokens for this user, with the SDK. Throws on an error. */
  async connect(session: string, scopes: readonly string[], approval: Approval = {}): Promise<Tokens> {
    return this.finish(await this.ask(session, { scopes }, approval));
  }
}

/** Registers an app as the developer of the session, for all 22 scopes by default. Throws on an error. */
export async function registerApp(
  gateway: string,
  session: string,
  settings: AppSettings = {},
  issuer: string = gateway,
): Promise<PartnerApp> {
  const json = { name: 'Test app', redirectUris: [REDIRECT_URI], ...settings };
  const answer = await send(`${gateway}/developer/apps`, { bearer: session, json });
  const { clientId, clientSecret } = expectStatus(201, answer).body.data;
  return new PartnerApp(gateway, {
    clientId,
    clientSecret,
    redirectUri: json.redirectUris[0] ?? REDIRECT_URI,
    issuer,
  });
}

/** The tokens in an answer of `/oauth/token`. */
export function toTokens({ body }: Answer): Tokens {
  return { accessToken: body.access_token, refreshToken: body.refresh_token, grantId: body.grant_id };
}

/** Returns the response, or throws an error that describes it when its status differs. */
export function expectStatus(status: number, answer: Answer): Answer {
  if (answer.status === status) return answer;
  throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`);
}
