import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type FlattenedJWSInput,
  flattenedVerify,
  importPKCS8,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';
import { startPeriodic } from '../background.ts';
import { unavailable } from '../errors.ts';

/** The algorithm of all our signatures: Ed25519 (RFC 8037). */
export const SIGNATURE_ALGORITHM = 'EdDSA';

/** Parses a PKCS #8 PEM of an Ed25519 key. */
export function parsePrivateKey(pem: string) {
  return importPKCS8(pem, SIGNATURE_ALGORITHM);
}

/**
 * Parses a JWKS (RFC 7517 section 5) into a key look-up for jose. Several keys may share a `kid`: during a rotation the set
 * contains the old and the new key of their owner.
 */
export function parseKeySet(text: string): JWTVerifyGetKey {
  return findingSigner(createLocalJWKSet(JSON.parse(text) as JSONWebKeySet));
}

/** A look-up that picks the key that signed the token when several keys match its header. */
function findingSigner(findKey: JWTVerifyGetKey): JWTVerifyGetKey {
  return async (header, token) => {
    try {
      return await findKey(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return findSigner(error, token);
      throw error;
    }
  };
}

async function findSigner(candidates: errors.JWKSMultipleMatchingKeys, token: FlattenedJWSInput) {
  for await (const key of candidates) {
    const signed = await flattenedVerify(token, key).then(
      () => true,
      () => false,
    );
    if (signed) return key;
  }
  throw candidates;
}

/** Interval of the fetches in the background. A key that the provider removed verifies sessions this long at most. */
const REFRESH_MS = 10 * 60_000;
/** Pause after a fetch, so that sessions with invented key ids do not load the provider. */
const PAUSE_MS = 5_000;
/** Pause after a failed fetch. */
const FAILURE_PAUSE_MS = 1_000;

/** The keys that sign sessions and logout tokens. */
export interface SessionKeys extends AsyncDisposable {
  /** For jose. Throws `unavailable` when the keys cannot be fetched. */
  readonly find: JWTVerifyGetKey;
}

interface SessionKeysOptions {
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number;
  /** Receives the error of a failed fetch in the background. */
  readonly onFailure: (error: unknown) => void;
  /** Maximum wait for the key set, in milliseconds. */
  readonly timeoutMs: number;
  /** Milliseconds between two fetches in the background. */
  readonly refreshMs?: number;
}

/**
 * Opens the keys of the identity provider: a JWKS, or the URL of one. A URL is fetched at once, then periodically, and when a session
 * names an unknown key. While the provider is unavailable, the fetched keys stay valid, without a time limit.
 */
export function openSessionKeys(jwks: string, options: SessionKeysOptions): SessionKeys {
  if (jwks.startsWith('{')) return { find: parseKeySet(jwks), [Symbol.asyncDispose]: async () => undefined };
  const { now = () => performance.now(), onFailure, timeoutMs, refreshMs = REFRESH_MS } = options;
  const keys = new RemoteKeys(new URL(jwks), timeoutMs, now);
  const refreshing = startPeriodic(() => keys.fetch(), {
    intervalMs: refreshMs,
    atOnce: true,
    onFailure,
  });
  return { find: keys.find, [Symbol.asyncDispose]: () => refreshing[Symbol.asyncDispose]() };
}

/** When a fetch ended, and its error; null after a success. */
interface Outcome {
  readonly at: number;
  readonly error: unknown;
}

class RemoteKeys {
  readonly #set: ReturnType<typeof createRemoteJWKSet>;
  readonly #look: JWTVerifyGetKey;
  readonly #now: () => number;
  #pending: Promise<void> | null = null;
  #last: Outcome | null = null;

  constructor(url: URL, timeoutMs: number, now: () => number) {
    // jose would fetch by the system clock, without a pause after a failure. Here it fetches only when `reload` is called.
    const never = Number.POSITIVE_INFINITY;
    this.#set = createRemoteJWKSet(url, {
      timeoutDuration: timeoutMs,
      cacheMaxAge: never,
      cooldownDuration: never,
    });
    this.#look = findingSigner(this.#set);
    this.#now = now;
  }

  readonly find: JWTVerifyGetKey = async (header, token) => {
    // Without a maximum age, `fresh` says whether the set was ever fetched.
    if (!this.#set.fresh) await this.#fetchUnlessPaused();
    try {
      return await this.#look(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#fetchUnlessPaused();
      return this.#look(header, token);
    }
  };

  /** Fetches the set. Callers at the same time share one request. */
  fetch(): Promise<void> {
    this.#pending ??= this.#reload().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  async #reload(): Promise<void> {
    try {
      await this.#set.reload();
      this.#last = { at: this.#now(), error: null };
    } catch (error) {
      this.#last = { at: this.#now(), error };
      throw error;
    }
  }

  /** Throws `unavailable` when the fetch fails, or the last one failed a moment ago. */
  async #fetchUnlessPaused(): Promise<void> {
    const last = this.#last;
    if (this.#pending === null && last !== null && this.#isRecent(last)) {
      if (last.error === null) return;
      throw unavailable(last.error);
    }
    await this.fetch().catch((error: unknown) => {
      throw unavailable(error);
    });
  }

  #isRecent({ at, error }: Outcome): boolean {
    return this.#now() - at < (error === null ? PAUSE_MS : FAILURE_PAUSE_MS);
  }
}
