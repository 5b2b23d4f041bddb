import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { type Clock, systemClock } from './clock.ts';
import { unauthorized, unavailable } from './errors.ts';
import { parseKeySet } from './keys.ts';
import { isUserId } from './user-id.ts';

/** `typ` of a session JWT; no other token of ours or of the identity provider passes as one. */
export const SESSION_TOKEN_TYPE = 'session+jwt';

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

/** Verifies a session JWT; throws `unauthorized` for every cause, `unavailable` when the keys cannot be fetched. */
export type SessionVerifier = (jwt: string) => Promise<Session>;

/** Verifies sessions of the identity provider (contract section 5): issuer, audience, `typ`, ES256 or EdDSA, expiry, subject. */
export function createSessionVerifier(options: SessionVerifierOptions): SessionVerifier {
  const { issuer, audience, clock = systemClock } = options;
  const keys = keySource(options.jwks);
  return async (jwt) => {
    if (jwt.length > MAX_LENGTH) throw unauthorized('session too long');
    try {
      const { payload } = await jwtVerify(jwt, keys, {
        algorithms: ['EdDSA', 'ES256'],
        issuer,
        audience,
        typ: SESSION_TOKEN_TYPE,
        requiredClaims: ['exp', 'sub'],
        currentDate: clock.now(),
      });
      // The library checks that there is a subject, not what it is.
      const userId: unknown = payload.sub;
      if (!isUserId(userId)) throw unauthorized('the subject cannot be a user id');
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

/** jose reports an unreachable JWKS as a timeout, its generic error, or whatever fetch threw. */
function isKeySourceFailure(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout) return true;
  if (error instanceof errors.JOSEError) return error.code === 'ERR_JOSE_GENERIC';
  return error instanceof TypeError && error.message === 'fetch failed';
}
