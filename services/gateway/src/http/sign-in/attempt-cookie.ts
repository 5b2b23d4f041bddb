import { hkdfSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '@phds/service-kit/clock';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { z } from 'zod';
import { findCookie, toClearCookie, toCookieName, toSetCookie } from '../credentials.ts';

const LIFE_SECONDS = 10 * 60;

const ALGORITHM = 'dir';
const ENCRYPTION = 'A256GCM';

const attemptShape = z.object({
  /** With `nonce` and `codeVerifier`, random values that tie the provider's answer to this attempt. */
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  /** Path of the page to return to. */
  returnTo: z.string(),
  /** Whether the provider must let the person choose an account. */
  switchAccount: z.boolean(),
});

/** The sign-in that was begun in a browser and has not come back yet. */
export type SignInAttempt = Readonly<z.infer<typeof attemptShape>>;

export type AttemptCookie = ReturnType<typeof createAttemptCookie>;

interface AttemptCookieOptions {
  readonly key: Uint8Array;
  readonly publicUrl: string;
  readonly clock: Clock;
}

/**
 * The sign-in in progress, kept in the browser, so that any gateway with the key can finish it: encrypted and authenticated in one
 * cookie. A new sign-in replaces it, also one that was begun in another tab.
 */
export function createAttemptCookie({ key, publicUrl, clock }: AttemptCookieOptions) {
  const secret = new Uint8Array(hkdfSync('sha256', key, '', 'sign-in in progress', 32));
  const name = toCookieName(publicUrl, 'sign-in');

  return {
    /** The `Set-Cookie` value that keeps this attempt. */
    async keep(attempt: SignInAttempt): Promise<string> {
      const begunAt = Math.floor(clock.now().getTime() / 1000);
      const sealed = await new EncryptJWT({ ...attempt })
        .setProtectedHeader({ alg: ALGORITHM, enc: ENCRYPTION })
        .setIssuedAt(begunAt)
        .setExpirationTime(begunAt + LIFE_SECONDS)
        .encrypt(secret);
      return toSetCookie(name, sealed, LIFE_SECONDS);
    },

    /** The attempt of this browser if it has this state and began in the last ten minutes, else null. */
    async find(request: IncomingMessage, state: string): Promise<SignInAttempt | null> {
      const value = findCookie(request, name);
      const attempt = value === null ? null : await open(value);
      return attempt !== null && attempt.state === state ? attempt : null;
    },

    /** The `Set-Cookie` value that removes the attempt. */
    removal: toClearCookie(name),
  };

  async function open(value: string): Promise<SignInAttempt | null> {
    try {
      const { payload } = await jwtDecrypt(value, secret, {
        keyManagementAlgorithms: [ALGORITHM],
        contentEncryptionAlgorithms: [ENCRYPTION],
        requiredClaims: ['iat', 'exp'],
        currentDate: clock.now(),
      });
      return attemptShape.parse(payload);
    } catch {
      // Too old, of another key, or changed: there is no such attempt.
      return null;
    }
  }
}
