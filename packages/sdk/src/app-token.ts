import { untilAborted } from './abort.ts';
import type { Authentication, Credentials } from './credentials.ts';
import { isPhdsError } from './errors.ts';
import { type OauthEndpoints, type TokenAnswer, toTokenType } from './oauth.ts';

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
