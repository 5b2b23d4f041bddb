import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import {
  isText,
  MAX_CLOCK_DIFFERENCE_SECONDS,
  SESSION_ALGORITHMS,
  toMediaType,
} from '@phds/service-kit/trust/session';
import type { SessionKeys } from '@phds/service-kit/trust/session-keys';
import { isUserId } from '@phds/service-kit/user-id';
import { type JWTPayload, jwtVerify } from 'jose';
import type { ProviderLogout } from './ended-sessions.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const TYPES: ReadonlySet<string> = new Set(['logout+jwt', 'jwt']);

/**
 * Verifies a logout token of the provider. Throws `invalid_request` with the reason for every invalid one, and `unavailable` when the
 * provider's keys cannot be fetched.
 */
export type LogoutTokenVerifier = (token: string) => Promise<ProviderLogout>;

export interface LogoutTokenOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly keys: SessionKeys;
  readonly clock: Clock;
}

/**
 * Creates a verifier of logout tokens (OpenID Connect Back-Channel Logout 1.0 section 2.6). A token may be sent again until it expires:
 * it only ends sessions that were issued until its `iat`.
 */
export function createLogoutTokenVerifier(options: LogoutTokenOptions): LogoutTokenVerifier {
  const { issuer, clientId, keys, clock } = options;
  return async (token) => {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys.find, {
        algorithms: [...SESSION_ALGORITHMS],
        issuer,
        audience: clientId,
        requiredClaims: ['iat', 'exp', 'jti'],
        clockTolerance: MAX_CLOCK_DIFFERENCE_SECONDS,
        currentDate: clock.now(),
      });
      requireLogout(protectedHeader.typ, payload, clock.now());
      return toLogout(payload);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw invalid(error instanceof Error ? error.message : 'is not a JWT');
    }
  };
}

/** Throws `invalid_request` for tokens of other kinds, which the same keys sign. */
function requireLogout(typ: string | undefined, { events, nonce, iat = 0 }: JWTPayload, now: Date): void {
  if (typ !== undefined && !TYPES.has(toMediaType(typ) ?? '')) {
    throw invalid('the typ is not that of a logout token');
  }
  if (nonce !== undefined) throw invalid('a logout token has no nonce');
  const event: unknown = isObject(events) ? events[EVENT] : undefined;
  if (!isObject(event)) throw invalid('the claim events lacks the logout event');
  if (iat > now.getTime() / 1000 + MAX_CLOCK_DIFFERENCE_SECONDS) throw invalid('was issued in the future');
}

function toLogout({ sid, sub, iat = 0 }: JWTPayload): ProviderLogout {
  if (sid === undefined && sub === undefined) throw invalid('sid or sub is required');
  // Ids that no session can have are refused, so that the provider does not take the logout for done.
  if (sid !== undefined && !isText(sid)) throw invalid('sid is not valid');
  if (sub !== undefined && !isUserId(sub)) throw invalid('sub is not valid');
  return { sid: sid ?? null, subject: sub ?? null, issuedAt: new Date(iat * 1000) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(reason: string): AppError {
  return invalidRequest('logout_token', reason);
}
