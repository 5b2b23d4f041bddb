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

/** The keys that sign sessions and logout tokens. */
export interface SessionKeys extends AsyncDisposable {
  /** For jose. Throws `unavailable` when the keys cannot be fetched. */
  readonly find: JWTVerifyGetKey;
}

interface SessionKeysOptions {
  /** Receives the error of a failed fetch in the background. */
  readonly onFailure: (error: unknown) => void;
  /** Maximum wait for the key set, in milliseconds. */
  readonly timeoutMs: number;
  /** Milliseconds between two fetches in the background. */
  readonly refreshMs?: number;
}

/**
 * Opens the keys of the identity provider: a JWKS, or the URL of one. A URL is fetched at once, then periodically, and when a session
 * names an unknown key; sessions at the same time share a request. While the provider is unavailable, the fetched keys stay valid, without
 * a time limit.
 */
export function openSessionKeys(jwks: string, options: SessionKeysOptions): SessionKeys {
  if (jwks.startsWith('{')) return { find: parseKeySet(jwks), [Symbol.asyncDispose]: async () => undefined };
  const { onFailure, timeoutMs, refreshMs = REFRESH_MS } = options;
  const set = createRemoteJWKSet(new URL(jwks), {
    timeoutDuration: timeoutMs,
    cooldownDuration: PAUSE_MS,
    cacheMaxAge: Number.POSITIVE_INFINITY,
  });
  const findKey = findingSigner(set);
  const refreshing = startPeriodic(() => set.reload(), {
    intervalMs: refreshMs,
    atOnce: true,
    onFailure,
  });
  return {
    async find(header, token) {
      try {
        return await findKey(header, token);
      } catch (error) {
        throw isAboutToken(error) ? error : unavailable(error);
      }
    },
    [Symbol.asyncDispose]: () => refreshing[Symbol.asyncDispose](),
  };
}

/** Whether the keys were there, and none of them is that of the token. */
function isAboutToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}
