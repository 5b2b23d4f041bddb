import { type Answer, type RequestOptions, send } from './request.ts';

/** The app's redirect URI: a loopback address where nothing listens. */
export const REDIRECT_URI = 'http://localhost:9999/callback';

export interface AppSettings {
  readonly name?: string;
  readonly redirectUris?: readonly string[];
  readonly scopes?: readonly string[];
  readonly requirePkce?: boolean;
  readonly description?: string;
  readonly developerName?: string;
  readonly homepageUrl?: string;
  readonly privacyPolicyUrl?: string;
}

/** The user's decision. */
export interface Approval {
  /** Omitted: all requested scopes. */
  readonly scopes?: readonly string[];
  readonly expiresInDays?: number;
  readonly keepExpiry?: boolean;
  readonly dataFrom?: string | null;
  /** As the approval screen showed it. */
  readonly revision?: string;
}

/** The result of an approval. */
export interface ApprovedCode {
  readonly code: string;
  readonly grantId: string;
  readonly pendingId: string;
}

/** Tokens of one consent grant. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly grantId: string;
}

type Parameters = Readonly<Record<string, string>>;

/** A partner's app that uses plain HTTP. Methods return the response; `expect…` and `connect` throw when it is an error. */
export class PartnerApp {
  readonly gateway: string;
  readonly clientId: string;
  /** Writable, for tests that rotate the secret. */
  clientSecret: string;
  readonly redirectUri: string;

  constructor(gateway: string, client: { clientId: string; clientSecret: string; redirectUri?: string }) {
    this.gateway = gateway;
    this.clientId = client.clientId;
    this.clientSecret = client.clientSecret;
    this.redirectUri = client.redirectUri ?? REDIRECT_URI;
  }

  /** The same app using another gateway. */
  at(gateway: string): PartnerApp {
    return new PartnerApp(gateway, this);
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
  read(accessToken: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    return send(this.gateway + path, { bearer: accessToken, ...options });
  }

  /** Sends JSON with the app's credentials in the body. */
  post(path: string, parameters: Parameters): Promise<Answer> {
    return send(this.gateway + path, { json: { ...this.credentials, ...parameters } });
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

  /** The whole flow from authorization to tokens for this user. Throws on an error. */
  async connect(session: string, scopes: readonly string[], approval: Approval = {}): Promise<Tokens> {
    const { code } = await this.expectCode(session, scopes, approval);
    return this.expectTokens(code);
  }
}

/** Registers an app as the developer of the session, for all 22 scopes by default. Throws on an error. */
export async function registerApp(
  gateway: string,
  session: string,
  settings: AppSettings = {},
): Promise<PartnerApp> {
  const json = { name: 'Test app', redirectUris: [REDIRECT_URI], ...settings };
  const answer = await send(`${gateway}/developer/apps`, { bearer: session, json });
  const { clientId, clientSecret } = expectStatus(201, answer).body.data;
  return new PartnerApp(gateway, {
    clientId,
    clientSecret,
    redirectUri: json.redirectUris[0] ?? REDIRECT_URI,
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
