import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { type Clock, systemClock } from './clock.ts';
import { unauthorized, unavailable } from './errors.ts';
import { parseKeySet } from './keys.ts';
import { isUserId } from './user-id.ts';

/** `typ` of a session JWT, which prevents other tokens from being accepted as sessions. */
export const SESSION_TOKEN_TYPE = 'session+jwt';

const ALGORITHMS = ['EdDSA', 'ES256', 'RS256', 'PS256'] as const;

const MAX_LENGTH = 4_096;

/** A person's session at the host application. */
export interface Session {
  readonly userId: string;
  readonly expiresAt: Date;
}

export interface SessionVerifierOptions {
  readonly issuer: string;
  readonly audience: string;
  /** URL of the JWKS, or the JWKS itself. */
  readonly jwks: string;
  readonly clock?: Clock;
}

/** Verifies a session JWT. Throws `unauthorized` for every invalid session, and `unavailable` when the keys cannot be fetched. */
export type SessionVerifier = (jwt: string) => Promise<Session>;

/**
 * Creates a verifier of the identity provider's sessions (contract section 5): issuer, audience, `typ`, algorithm, expiry,
 * subject.
 */
export function createSessionVerifier(options: SessionVerifierOptions): SessionVerifier {
  const { issuer, audience, clock = systemClock } = options;
  const keys = keySource(options.jwks);
  return async (jwt) => {
    if (jwt.length > MAX_LENGTH) throw unauthorized('session too long');
    try {
      const { payload } = await jwtVerify(jwt, keys, {
        algorithms: [...ALGORITHMS],
        issuer,
        audience,
        typ: SESSION_TOKEN_TYPE,
        requiredClaims: ['exp', 'sub'],
        currentDate: clock.now(),
      });
      // jose only checks that a subject exists.
      const userId: unknown = payload.sub;
      if (!isUserId(userId)) throw unauthorized('the subject is not a valid user id');
      return { userId, expiresAt: new Date((payload.exp ?? 0) * 1000) };
    } catch (error) {
      if (isKeySourceFailure(error)) throw unavailable(error);
      throw unauthorized(error);
    }
  };
}

function keySource(jwks: string): JWTVerifyGetKey {
  if (jwks.startsWith('{')) return parseKeySet(jwks);
  return createRemoteJWKSet(new URL(jwks), { timeoutDuration: 2_000, cooldownDuration: 5_000 });
}

/** jose reports an unreachable JWKS as a timeout, as its generic error, or as the error of fetch. */
function isKeySourceFailure(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout) return true;
  if (error instanceof errors.JOSEError) return error.code === 'ERR_JOSE_GENERIC';
  return error instanceof TypeError && error.message === 'fetch failed';
}
