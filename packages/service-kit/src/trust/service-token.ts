import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { toCauseText } from '../telemetry/security-log.ts';
import { parseKeySet, parsePrivateKey, SIGNATURE_ALGORITHM } from './keys.ts';

/** Lifetime of a token; verifiers reject longer-lived ones. */
const LIFETIME_SECONDS = 300;
/** How far a caller's clock may be ahead of the verifier's. */
const ISSUED_AHEAD_SECONDS = 60;
const RENEW_BEFORE_SECONDS = 60;
const TOKEN_TYPE = 'service+jwt';
/** More than any name of a caller has, in characters. */
const LONGEST_CLAIM = 80;

/** Returns a token that proves to `audience` which service is calling. */
export type ServiceTokenSource = (audience: string) => Promise<string>;

/**
 * Creates this service's tokens: EdDSA, 5 minutes, one for each callee. A token is reused until a minute before it expires or until
 * the clock goes back.
 */
export function createServiceTokenSource(options: {
  readonly service: string;
  readonly privateKeyPem: string;
  readonly clock?: Clock;
}): ServiceTokenSource {
  const { service, clock = systemClock } = options;
  const key = parsePrivateKey(options.privateKeyPem);
  const cache = new Map<string, { token: Promise<string>; issuedAt: number; renewAt: number }>();
  return (audience) => {
    const now = Math.floor(clock.now().getTime() / 1000);
    const cached = cache.get(audience);
    // A token issued while the clock was ahead would be rejected as issued in the future.
    if (cached !== undefined && cached.issuedAt <= now && now < cached.renewAt) return cached.token;
    const token = key.then((privateKey) =>
      new SignJWT()
        .setProtectedHeader({ alg: SIGNATURE_ALGORITHM, typ: TOKEN_TYPE, kid: service })
        .setIssuer(service)
        .setSubject(service)
        .setAudience(audience)
        .setIssuedAt(now)
        .setExpirationTime(now + LIFETIME_SECONDS)
        .sign(privateKey),
    );
    cache.set(audience, { token, issuedAt: now, renewAt: now + LIFETIME_SECONDS - RENEW_BEFORE_SECONDS });
    return token;
  };
}

/** Returns the calling service's name, or throws `caller_not_admitted`. */
export type ServiceTokenVerifier = (token: string) => Promise<string>;

/**
 * Verifies tokens addressed to `service` that live at most 5 minutes and were not issued in the future. Verified tokens are cached
 * until they expire.
 */
export function createServiceTokenVerifier(options: {
  readonly service: string;
  readonly publicKeys: string;
  readonly clock?: Clock;
}): ServiceTokenVerifier {
  const { service, clock = systemClock } = options;
  const keys = parseKeySet(options.publicKeys);
  const verified = new LRUCache<string, { caller: string; expiresAt: number }>({ max: 1_000 });
  return async (token) => {
    const known = verified.get(token);
    if (known !== undefined && clock.now().getTime() < known.expiresAt) return known.caller;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        algorithms: [SIGNATURE_ALGORITHM],
        audience: service,
        typ: TOKEN_TYPE,
        requiredClaims: ['exp', 'iat', 'iss', 'sub'],
        clockTolerance: 5,
        currentDate: clock.now(),
      });
      const { exp = 0, iat = 0 } = payload;
      if (exp - iat > LIFETIME_SECONDS) throw new Error(`lives longer than ${LIFETIME_SECONDS} seconds`);
      if (iat > clock.now().getTime() / 1000 + ISSUED_AHEAD_SECONDS)
        throw new Error('"iat" is in the future');
      // The caller is identified by its key, so no service can impersonate another.
      const caller = protectedHeader.kid;
      if (caller === undefined || payload.iss !== caller || payload.sub !== caller)
        throw new Error('"kid", "iss" and "sub" must be the same name');
      verified.set(token, { caller, expiresAt: exp * 1000 });
      return caller;
    } catch (cause) {
      throw refusedToken(explain(cause, service), cause);
    }
  };
}

/** The error of a call whose service token is not accepted, with the reason for the caller. */
export function refusedToken(reason: string, cause?: unknown): AppError {
  return new AppError('caller_not_admitted', `service token refused: ${reason}`, { cause });
}

/** The caller that a token names, whether it is true or not; for the log. */
export function findClaimedCaller(token: string | null): string | undefined {
  try {
    return toCauseText(decodeProtectedHeader(token ?? '').kid, '').slice(0, LONGEST_CLAIM) || undefined;
  } catch {
    return undefined;
  }
}

/** What jose says, except where that does not say what to change. */
function explain(cause: unknown, service: string): string {
  if (cause instanceof errors.JWKSNoMatchingKey) return 'no key of this "kid" is known here';
  if (cause instanceof errors.JWKSMultipleMatchingKeys) return 'no key of this "kid" has signed it';
  if (cause instanceof errors.JWTClaimValidationFailed && cause.claim === 'aud')
    return `"aud" must be "${service}"`;
  return toCauseText(cause, 'not readable');
}
