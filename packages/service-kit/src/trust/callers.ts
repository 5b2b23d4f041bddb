import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { toCauseText } from '../telemetry/log.ts';
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

/** What operators may do. `operator` includes `support`, and every role includes `viewer` (docs/operations/people.md#operators). */
export const OPERATOR_ROLES = ['viewer', 'support', 'operator', 'auditor'] as const;

/** What other services of the deployment may do (docs/internal-services.md). */
export const SERVICE_ROLES = [
  'token-introspection',
  'consent-reader',
  'consent-ender',
  'record-writer',
  'ingest',
] as const;

type OperatorRole = (typeof OPERATOR_ROLES)[number];
type ServiceRole = (typeof SERVICE_ROLES)[number];
type Role = OperatorRole | ServiceRole;

const OPERATOR = 'operator:';
const SERVICE = 'service:';
/** The callers that have roles, by the prefix of their names. */
const ROLES: Readonly<Record<string, readonly Role[]>> = {
  [OPERATOR]: OPERATOR_ROLES,
  [SERVICE]: SERVICE_ROLES,
};
/** Names after the prefix: 1 to 64 lower case letters, digits, dots, hyphens and underscores. */
export const CALLER_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const ROLE = 'role:';

// The entries of `Admitted` that stand for roles.
const admitting = (...roles: readonly Role[]) => roles.map((role) => `${ROLE}${role}`);

/** May list apps, webhooks, developers and restores. */
export const VIEWERS = admitting('viewer', 'support', 'operator', 'auditor');
/** May read what a person shares, and end grants and sessions. */
export const SUPPORTERS = admitting('support', 'operator');
/** May change everything that operators can change. */
export const OPERATORS = admitting('operator');
/** May read the operators' record. */
export const AUDITORS = admitting('auditor');
/** May ask whether a token is alive, whose it is and for which scopes. */
export const TOKEN_INTROSPECTORS = admitting('token-introspection');
/** May ask what a person shares with whom. */
export const CONSENT_READERS = admitting('consent-reader');
/** May end a grant. Their calls are recorded as those of operators. */
export const CONSENT_ENDERS = admitting('consent-ender');
/** May record accesses and have them judged. */
export const RECORD_WRITERS = admitting('record-writer');
/** May store and delete health data. */
export const INGESTERS = admitting('ingest');

/** Name of an operator as a caller, which is the `kid` of the key. */
export function toOperatorCaller(name: string): string {
  return `${OPERATOR}${name}`;
}

/** Name of another service of the deployment as a caller, which is the `kid` of the key. */
export function toServiceCaller(name: string): string {
  return `${SERVICE}${name}`;
}

/** Name of the operator who calls; null when the caller is a service. */
export function findOperator(caller: string): string | null {
  return caller.startsWith(OPERATOR) ? caller.slice(OPERATOR.length) : null;
}

/** Whether another service of the deployment calls: not one of the four services, and no operator. */
export function isOtherService(caller: string): boolean {
  return caller.startsWith(SERVICE);
}

/** The roles of each operator and service, by the caller. */
export type RolesOf = (caller: string) => readonly Role[];

/**
 * The roles in a key set of callers: member `roles` of the keys whose `kid` is `operator:` or `service:` and a name. Throws an Error for
 * another name, for no known role, and for keys of one caller with different roles.
 */
export function parseRoles(jwks: string): RolesOf {
  const roles = new Map<string, readonly Role[]>();
  const { keys } = JSON.parse(jwks) as {
    keys: readonly { readonly kid?: string; readonly roles?: unknown }[];
  };
  for (const { kid = '', roles: given } of keys) {
    if (kid.startsWith(ROLE)) throw new Error(`"${kid}" is not the name of a caller`);
    const prefix = findPrefix(kid);
    if (prefix === undefined) continue;
    if (!CALLER_NAME.test(kid.slice(prefix.length)))
      throw new Error(`"${kid}" is not ${prefix} and a name in lower case`);
    const found = toRoles(kid, given, ROLES[prefix] ?? []);
    const known = roles.get(kid) ?? found;
    if (known.join() !== found.join()) throw new Error(`keys of "${kid}" have different roles`);
    roles.set(kid, found);
  }
  return (caller) => roles.get(caller) ?? [];
}

function findPrefix(caller: string): string | undefined {
  return Object.keys(ROLES).find((prefix) => caller.startsWith(prefix));
}

function toRoles(kid: string, given: unknown, known: readonly Role[]): Role[] {
  const found = known.filter((role) => Array.isArray(given) && given.includes(role));
  if (Array.isArray(given) && found.length > 0 && found.length === given.length) return found;
  throw new Error(`"roles" of the key of "${kid}" must list some of ${known.join(', ')}`);
}

/** Whether an rpc that admits these callers admits this one. */
export function isAdmitted(admitted: readonly string[], caller: string, rolesOf: RolesOf): boolean {
  return admitted.includes(caller) || rolesOf(caller).some((role) => admitted.includes(`${ROLE}${role}`));
}

/** Why an rpc does not admit a caller whose token is valid: what it would need, or who may call. */
export function explainRefusal(rpc: string, admitted: readonly string[], caller: string): string {
  const prefix = findPrefix(caller) ?? '';
  const needed = (ROLES[prefix] ?? []).filter((role) => admitted.includes(`${ROLE}${role}`));
  const refusal = `${caller.slice(prefix.length)} may not call ${rpc}`;
  if (needed.length > 0) return `${refusal}; it needs ${needed.join(' or ')}`;
  const others = admitted.map((entry) =>
    entry.startsWith(ROLE) ? `the role ${entry.slice(ROLE.length)}` : entry,
  );
  return `${refusal}; only ${others.join(' or ')} may`;
}
