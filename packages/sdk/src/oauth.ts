import { type Clock, untilAborted } from './clock.ts';
import type { Authentication, Credentials } from './credentials.ts';
import { isPhdsError, PhdsError } from './errors.ts';
import type { CallOptions, Http, HttpRequest } from './http.ts';
import type { TokenSet, TokenType } from './token-store.ts';

/** An answer of `/oauth/token` for a connection. */
interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
  readonly grant_id: string;
  readonly sub?: string;
}

/**
 * The service answers a refresh token with the same pair for 60 s, and takes a later use as the use of a stolen token, which ends the
 * tokens. So the last attempt begins after 45 s, and none takes so long that there is only one.
 */
const REFRESH_BUDGET_MS = 45_000;
const REFRESH_TIMEOUT_MS = 10_000;

type Form = Readonly<Record<string, string | undefined>>;

type PostOptions = CallOptions & Pick<HttpRequest, 'timeoutMs'>;

/** The endpoints below `/oauth`, called as the app. */
export class OauthEndpoints {
  readonly #http: Http;
  readonly #clock: Clock;
  readonly #credentials: Credentials;
  readonly #retryBudgetMs: number;

  constructor(http: Http, clock: Clock, credentials: Credentials, retryBudgetMs: number) {
    this.#http = http;
    this.#clock = clock;
    this.#credentials = credentials;
    this.#retryBudgetMs = retryBudgetMs;
  }

  /** Posts a form as the app. */
  post(path: string, form: Form, options: PostOptions = {}): Promise<unknown> {
    const authentication = this.#credentials.ofApp(path);
    // HTTP Basic names the app already.
    const named =
      'authorization' in authentication ? form : { client_id: this.#credentials.clientId, ...form };
    return this.#http.send({ ...options, method: 'POST', path, form: named, ...authentication });
  }

  /** Exchanges a code or a refresh token. */
  async requestTokens(form: Form, options: PostOptions = {}): Promise<TokenSet> {
    // The life of the tokens is counted from before the request, so that they never seem to live longer than they do.
    const issuedAt = this.#clock.now();
    return toTokenSet((await this.post('/oauth/token', form, options)) as TokenAnswer, issuedAt);
  }

  /**
   * The next tokens. The service answers the same refresh token with the same pair for 60 s, so a lost answer is fetched by repeating
   * the request. A smaller budget of the client would lose the connection with the answer; 0 is for processes that end.
   */
  refresh({ refreshToken }: TokenSet): Promise<TokenSet> {
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    const retryBudgetMs = this.#retryBudgetMs === 0 ? 0 : REFRESH_BUDGET_MS;
    return this.requestTokens(form, { retryBudgetMs, timeoutMs: REFRESH_TIMEOUT_MS });
  }
}

/** How requests carry an access token, by the `token_type` of the answer. */
function toTokenType(name: string | undefined): TokenType {
  return name?.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer';
}

/** What an answer of the token endpoint says. */
function toTokenSet(answer: TokenAnswer, issuedAt: number): TokenSet {
  const { access_token, refresh_token, expires_in, scope, grant_id, sub } = answer;
  if (typeof access_token !== 'string' || typeof refresh_token !== 'string' || typeof grant_id !== 'string') {
    throw new PhdsError(
      'UNEXPECTED_ANSWER',
      'The token endpoint answered without the tokens of a connection.',
    );
  }
  return {
    grantId: grant_id,
    sub: sub ?? null,
    accessToken: access_token,
    tokenType: toTokenType(answer.token_type),
    refreshToken: refresh_token,
    scopes: scope.split(' '),
    issuedAt,
    expiresAt: issuedAt + expires_in * 1_000,
  };
}

/** The app's own access token (client credentials), requested once for all calls that need it. */
export class AppToken {
  readonly #oauth: OauthEndpoints;
  readonly #credentials: Credentials;
  #held: Promise<Authentication> | null = null;

  constructor(oauth: OauthEndpoints, credentials: Credentials) {
    this.#oauth = oauth;
    this.#credentials = credentials;
  }

  /** Calls with the token, and once more with a new one when it is refused: it may have expired. */
  async use<Result>(
    call: (authentication: Authentication) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const first = this.#current();
    const authentication = await untilAborted(first, signal);
    try {
      return await call(authentication);
    } catch (error) {
      if (!isPhdsError(error, 'TOKEN_EXPIRED', 'UNAUTHORIZED')) throw error;
      this.#drop(first);
      return call(await untilAborted(this.#current(), signal));
    }
  }

  #current(): Promise<Authentication> {
    if (this.#held !== null) return this.#held;
    const request = this.#request();
    request.catch(() => this.#drop(request));
    this.#held = request;
    return request;
  }

  /** A newer token that another call has requested meanwhile is kept. */
  #drop(token: Promise<Authentication>): void {
    if (this.#held === token) this.#held = null;
  }

  async #request(): Promise<Authentication> {
    const answer = await this.#oauth.post('/oauth/token', { grant_type: 'client_credentials' });
    const { token_type, access_token } = answer as TokenAnswer;
    return this.#credentials.ofToken(toTokenType(token_type), access_token);
  }
}
