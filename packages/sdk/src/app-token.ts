import { untilAborted } from './abort.ts';
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
  async use<Result>(call: (authorization: string) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const first = this.#current();
    const token = await untilAborted(first, signal);
    try {
      return await call(`Bearer ${token}`);
    } catch (error) {
      if (!isPhdsError(error, 'TOKEN_EXPIRED', 'UNAUTHORIZED')) throw error;
      this.#drop(first);
      return call(`Bearer ${await untilAborted(this.#current(), signal)}`);
    }
  }

  #current(): Promise<string> {
    if (this.#held !== null) return this.#held;
    const request = this.#request();
    request.catch(() => this.#drop(request));
    this.#held = request;
    return request;
  }

  /** A newer token that another call has requested meanwhile is kept. */
  #drop(token: Promise<string>): void {
    if (this.#held === token) this.#held = null;
  }

  async #request(): Promise<string> {
    const answer = await this.#oauth.post('/oauth/token', { grant_type: 'client_credentials' });
    return (answer as { readonly access_token: string }).access_token;
  }
}
