import type { Clock } from '@phds/service-kit/clock';
import { parsePrivateKey, SIGNATURE_ALGORITHM } from '@phds/service-kit/trust/keys';
import { SESSION_TOKEN_TYPE } from '@phds/service-kit/trust/session';
import { SignJWT } from 'jose';
import { findThumbprint } from '../key-files.ts';

/** Lifetime of a session of the local stack. */
export const SESSION_SECONDS = 12 * 3600;

/** A session token with its expiry. */
export interface IssuedSession {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Signs a session JWT for a user. */
export type SessionIssuer = (user: { readonly id: string; readonly name: string }) => Promise<IssuedSession>;

/** Creates an issuer of sessions: EdDSA, `typ` session+jwt, twelve hours. */
export function createSessionIssuer(options: {
  readonly issuer: string;
  readonly audience: string;
  readonly privateKeyPem: string;
  readonly clock: Clock;
}): SessionIssuer {
  const key = parsePrivateKey(options.privateKeyPem);
  const kid = findThumbprint(options.privateKeyPem);
  return async ({ id, name }) => {
    const now = Math.floor(options.clock.now().getTime() / 1000);
    const expires = now + SESSION_SECONDS;
    const token = await new SignJWT({ name })
      .setProtectedHeader({
        alg: SIGNATURE_ALGORITHM,
        typ: SESSION_TOKEN_TYPE,
        kid: await kid,
      })
      .setIssuer(options.issuer)
      .setAudience(options.audience)
      .setSubject(id)
      .setIssuedAt(now)
      .setExpirationTime(expires)
      .sign(await key);
    return { token, expiresAt: new Date(expires * 1000) };
  };
}
