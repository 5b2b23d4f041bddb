/** How requests carry an access token: alone, or with a proof of the key that it is bound to (RFC 9449). */
export type TokenType = 'Bearer' | 'DPoP';

/** The tokens of one connection. Plain JSON, so that a store can keep them as they are. */
export interface TokenSet {
  /** The id of the consent grant, which is the id of the connection. */
  readonly grantId: string;
  /** The person, under an id that only your app knows; null when the service names none. */
  readonly sub: string | null;
  readonly accessToken: string;
  readonly tokenType: TokenType;
  readonly refreshToken: string;
  /** What the access token can read. */
  readonly scopes: readonly string[];
  /** Milliseconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/**
 * Keeps the tokens of all connections. Tokens are secrets: encrypt them, or keep them where only your server reads.
 *
 * The store is read before every request, so several processes that share a store share its tokens.
 */
export interface TokenStore {
  /** The tokens of a connection, or null. */
  get(grantId: string): Promise<TokenSet | null>;
  /**
   * Stores `next` (null: removes the tokens) if the store still holds `previous` (null: none), in one atomic step. Tokens are the same
   * when their `refreshToken` is. Resolves to false, and changes nothing, when the store holds something else. Never called with null
   * for both.
   */
  replace(grantId: string, previous: TokenSet | null, next: TokenSet | null): Promise<boolean>;
  /**
   * Does the work while nobody else who shares the store does any for this connection. Without it, two processes may renew at the same
   * time, which is safe unless one pauses for a minute meanwhile.
   */
  lock?<Result>(grantId: string, work: () => Promise<Result>): Promise<Result>;
}

/** A store in the memory of this process: for tests, and for programs that run once. */
export function memoryTokenStore(): TokenStore {
  const kept = new Map<string, TokenSet>();
  return {
    get: async (grantId) => kept.get(grantId) ?? null,
    replace: async (grantId, previous, next) => {
      if (kept.get(grantId)?.refreshToken !== previous?.refreshToken) return false;
      if (next === null) kept.delete(grantId);
      else kept.set(grantId, next);
      return true;
    },
  };
}
