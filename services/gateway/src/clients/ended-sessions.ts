import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { SessionService } from '@phds/contracts/phds/consent/v1/sessions_pb';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { isUserId } from '@phds/service-kit/ids';
import { sha256 } from '@phds/service-kit/secrets';
import type { SessionKeys } from '@phds/service-kit/trust/keys';
import {
  isText,
  MAX_CLOCK_DIFFERENCE_SECONDS,
  SESSION_ALGORITHMS,
  type Session,
  toMediaType,
} from '@phds/service-kit/trust/session';
import { type JWTPayload, jwtVerify } from 'jose';

export type EndedSessions = ReturnType<typeof createEndedSessions>;

/** A verified logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4). At least one of `sid` and `subject` is not null. */
interface ProviderLogout {
  readonly sid: string | null;
  readonly subject: string | null;
  readonly issuedAt: Date;
}

/** Sessions that ended before they expire, which consent stores. Every method throws `unavailable` when consent does not answer. */
export function createEndedSessions(
  sessions: Pick<Client<typeof SessionService>, 'checkSession' | 'endSessions'>,
) {
  return {
    async isEnded({ sid, subject, issuedAt }: Session, jwt: string): Promise<boolean> {
      const { ended } = await sessions.checkSession({
        tokenHash: toTokenHash(jwt),
        sid: sid ?? '',
        subject,
        issuedAt: timestampFromDate(issuedAt),
      });
      return ended;
    },
    /** Ends this session, and the others of its `sid` that were issued until now. In effect at every gateway when it resolves. */
    async end({ sid, issuedAt }: Session, jwt: string, now: Date): Promise<void> {
      const endedAt = timestampFromMs(Math.max(now.getTime(), issuedAt.getTime()));
      await sessions.endSessions({ tokenHash: toTokenHash(jwt), sid: sid ?? '', endedAt });
    },
    /** Ends the sessions that a logout token names. In effect at every gateway when it resolves. */
    async endByLogout({ sid, subject, issuedAt }: ProviderLogout): Promise<void> {
      await sessions.endSessions({
        sid: sid ?? '',
        subject: subject ?? '',
        endedAt: timestampFromDate(issuedAt),
      });
    },
  };
}

/**
 * SHA-256 of what the signature covers. The signature is left out because it can be written in several ways: its last base64url
 * character has unused bits, and an ECDSA signature has a second form.
 */
function toTokenHash(jwt: string): Buffer {
  return sha256(jwt.slice(0, jwt.lastIndexOf('.')));
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const TYPES: ReadonlySet<string> = new Set(['logout+jwt', 'jwt']);

/**
 * Verifies a logout token of the provider. Throws `invalid_request` with the reason for every invalid one, and `unavailable` when the
 * provider's keys cannot be fetched.
 */
export type LogoutTokenVerifier = (token: string) => Promise<ProviderLogout>;

interface LogoutTokenOptions {
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
