import { hkdfSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '@phds/service-kit/clock';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { z } from 'zod';
import type { SignInAttempt } from '../../domain/sign-in-attempt.ts';
import { findCookie, listCookies, toClearCookie, toCookieName, toSetCookie } from '../credentials.ts';

const LIFE_SECONDS = 10 * 60;
const MOST_AT_ONCE = 3;
/** Decrypting a cookie and removing it cost much more than sending it. Browsers send the newest last. */
const MOST_READ = 8;
const STATE_CHARACTERS_IN_NAME = 16;
const STATE = /^[\w-]{43}$/;

const ALGORITHM = 'dir';
const ENCRYPTION = 'A256GCM';

const attemptShape = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string(),
  silent: z.boolean(),
  stepUp: z.boolean(),
  switchAccount: z.boolean(),
});

/**
 * Sign-ins in progress, kept in the browser, so that any gateway with the key can finish them. Each is encrypted and authenticated
 * in a cookie of its own, named after its state, so that sign-ins in several tabs do not replace each other.
 */
export interface AttemptCookies {
  /** `Set-Cookie` values that keep this attempt and remove those beyond the newest three. At most eight are read. */
  keep(request: IncomingMessage, attempt: SignInAttempt): Promise<string[]>;
  /** The attempt with this state, begun in this browser in the last ten minutes, else null. */
  find(request: IncomingMessage, state: string): Promise<SignInAttempt | null>;
  /** A `Set-Cookie` value that removes an attempt. */
  remove(attempt: SignInAttempt): string;
}

interface AttemptCookiesOptions {
  readonly key: Uint8Array;
  readonly publicUrl: string;
  readonly clock: Clock;
}

export function createAttemptCookies({ key, publicUrl, clock }: AttemptCookiesOptions): AttemptCookies {
  const secret = new Uint8Array(hkdfSync('sha256', key, '', 'sign-in in progress', 32));
  const prefix = toCookieName(publicUrl, 'sign-in-');
  const nameOf = (state: string) => prefix + state.slice(0, STATE_CHARACTERS_IN_NAME);

  return {
    async keep(request, attempt) {
      const kept = await Promise.all(
        listCookies(request, prefix)
          .slice(-MOST_READ)
          .map(async ({ name, value }) => ({ name, opened: await open(value) })),
      );
      const newestFirst = kept.sort((a, b) => (b.opened?.begunAt ?? 0) - (a.opened?.begunAt ?? 0));
      const surplus = newestFirst.filter(({ opened }, index) => opened === null || index >= MOST_AT_ONCE - 1);
      const own = toSetCookie(nameOf(attempt.state), await seal(attempt), LIFE_SECONDS);
      return [...surplus.map(({ name }) => toClearCookie(name)), own];
    },

    async find(request, state) {
      if (!STATE.test(state)) return null;
      const value = findCookie(request, nameOf(state));
      const opened = value === null ? null : await open(value);
      return opened?.attempt.state === state ? opened.attempt : null;
    },

    remove: ({ state }) => toClearCookie(nameOf(state)),
  };

  function seal(attempt: SignInAttempt): Promise<string> {
    const begunAt = Math.floor(clock.now().getTime() / 1000);
    return new EncryptJWT({ ...attempt })
      .setProtectedHeader({ alg: ALGORITHM, enc: ENCRYPTION })
      .setIssuedAt(begunAt)
      .setExpirationTime(begunAt + LIFE_SECONDS)
      .encrypt(secret);
  }

  async function open(value: string): Promise<{ attempt: SignInAttempt; begunAt: number } | null> {
    try {
      const { payload } = await jwtDecrypt(value, secret, {
        keyManagementAlgorithms: [ALGORITHM],
        contentEncryptionAlgorithms: [ENCRYPTION],
        requiredClaims: ['iat', 'exp'],
        currentDate: clock.now(),
      });
      return { attempt: attemptShape.parse(payload), begunAt: payload.iat ?? 0 };
    } catch {
      // Too old, of another key, or changed: there is no such attempt.
      return null;
    }
  }
}
