import type { Clock } from './clock.ts';
import { PhdsError } from './errors.ts';
import type { TokenSet, TokenStore } from './token-store.ts';

/** What tokens need: where they are kept, and how they are renewed. */
interface TokenSource {
  readonly store: TokenStore;
  readonly clock: Clock;
  /** Exchanges a refresh token for the next token set. */
  refresh(previous: TokenSet): Promise<TokenSet>;
}

/** Renew this long before the expiry, or after nine tenths of a short life. */
const EARLY_MS = 30_000;

/** Provides access tokens, and renews each once, however many calls need it. */
export class Tokens {
  readonly #source: TokenSource;
  readonly #renewals = new Map<string, Promise<TokenSet>>();

  constructor(source: TokenSource) {
    this.#source = source;
  }

  /** Tokens of the connection that have not expired. */
  async current(grantId: string): Promise<TokenSet> {
    const tokens = await this.stored(grantId);
    return this.#isFresh(tokens) ? tokens : this.#renewOnce(grantId, null);
  }

  /** Other tokens than those with this access token, which the service refused. */
  async after(grantId: string, refused: string): Promise<TokenSet> {
    const tokens = await this.#renewOnce(grantId, refused);
    // The renewal under way may have begun before this token was refused.
    return tokens.accessToken === refused ? this.#renewOnce(grantId, refused) : tokens;
  }

  /** Throws NOT_CONNECTED when the store has none. */
  async stored(grantId: string): Promise<TokenSet> {
    const tokens = await this.#source.store.get(grantId);
    if (tokens !== null) return tokens;
    throw new PhdsError('NOT_CONNECTED', `The token store has no tokens of the connection ${grantId}.`);
  }

  /** Removes the tokens from the store, after `end` with each that it holds: tokens that were renewed meanwhile are removed too. */
  async forget(
    grantId: string,
    end: (held: TokenSet) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<void> {
    const { store } = this.#source;
    for (let held = await store.get(grantId); held !== null; held = await store.get(grantId)) {
      await end(held);
      if (await store.replace(grantId, held, null)) return;
    }
  }

  #isFresh({ issuedAt, expiresAt }: TokenSet): boolean {
    return this.#source.clock.now() < expiresAt - Math.min(EARLY_MS, (expiresAt - issuedAt) / 10);
  }

  #renewOnce(grantId: string, refused: string | null): Promise<TokenSet> {
    const underWay = this.#renewals.get(grantId);
    if (underWay !== undefined) return underWay;
    const renew = () => this.#renew(grantId, refused);
    const renewal = (this.#source.store.lock?.(grantId, renew) ?? renew()).finally(() =>
      this.#renewals.delete(grantId),
    );
    this.#renewals.set(grantId, renewal);
    return renewal;
  }

  async #renew(grantId: string, refused: string | null): Promise<TokenSet> {
    const { store, refresh } = this.#source;
    // Read again: another process may have renewed them. An older refresh token must not be used, because that ends the connection.
    const previous = await this.stored(grantId);
    if (previous.accessToken !== refused && this.#isFresh(previous)) return previous;
    const next = await refresh(previous);
    if (await store.replace(grantId, previous, next)) return next;
    // Another process was faster. If it refreshed with the same token, it got the same pair.
    return this.stored(grantId);
  }
}
