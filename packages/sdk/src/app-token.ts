import { isPhdsError } from './errors.ts';
import type { OauthEndpoints } from './oauth.ts';

/** The app's own access token (client credentials), requested once for all calls that need it. */
export class AppToken {
  readonly #oauth: OauthEndpoints;
  #held: Promise<string> | null = null;

  constructor(oauth: OauthEndpoints) {
    this.#oauth = oauth;
  }

  /** Calls with the token, and once more with a new one when it is refused: it may have expired. */
  async use<Result>(call: (authorization: string) => Promise<Result>): Promise<Result> {
    const first = this.#current();
    try {
      return await call(`Bearer ${await first}`);
    } catch (error) {
      if (this.#held === first) this.#held = null;
      if (!isPhdsError(error, 'TOKEN_EXPIRED', 'UNAUTHORIZED')) throw error;
      return call(`Bearer ${await this.#current()}`);
    }
  }

  #current(): Promise<string> {
    this.#held ??= this.#request();
    return this.#held;
  }

  async #request(): Promise<string> {
    const answer = await this.#oauth.post('/oauth/token', { grant_type: 'client_credentials' });
    return (answer as { readonly access_token: string }).access_token;
  }
}
