import { ACCESS_ASSERTION_SECONDS } from '@phds/catalog/lifetimes';
import { errors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { isThumbprint } from './dpop.ts';
import { parseKeySet, parsePrivateKey, SIGNATURE_ALGORITHM } from './keys.ts';

const TOKEN_TYPE = 'access-assertion+jwt';
const ISSUER = 'authorization';
const AUDIENCE = 'health-data';

/** What authorization asserts about one access token (phantom token), so that a compromised gateway cannot invent users. */
export interface AccessAssertion {
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly familyId: string;
  readonly scopes: readonly string[];
  /** SHA-256 of the access token, base64url. */
  readonly tokenHash: string;
  /** Unix seconds. */
  readonly tokenExpiresAt: number;
  /** First day that the app may see (YYYY-MM-DD); null for no limit. */
  readonly dataFrom: string | null;
  /** Identifies the person to this app; null when the ledger did not answer. */
  readonly sub: string | null;
  /** Thumbprint of the key that the token is bound to (RFC 7638); null if it is not bound. */
  readonly jkt: string | null;
}

export type AssertionSigner = (assertion: AccessAssertion) => Promise<string>;

/** Creates a signer of assertions: EdDSA, valid for at most 60 s. */
export function createAssertionSigner(options: {
  readonly privateKeyPem: string;
  readonly clock?: Clock;
}): AssertionSigner {
  const { clock = systemClock } = options;
  const key = parsePrivateKey(options.privateKeyPem);
  return async (assertion) => {
    const { userId, clientId, grantId, familyId, scopes, tokenHash, tokenExpiresAt, dataFrom, sub, jkt } =
      assertion;
    const now = Math.floor(clock.now().getTime() / 1000);
    return new SignJWT({
      client_id: clientId,
      grant_id: grantId,
      family_id: familyId,
      scope: scopes.join(' '),
      token_hash: tokenHash,
      token_exp: tokenExpiresAt,
      ...(dataFrom === null ? {} : { data_from: dataFrom }),
      ...(sub === null ? {} : { app_sub: sub }),
      // RFC 7800
      ...(jkt === null ? {} : { cnf: { jkt } }),
    })
      .setProtectedHeader({ alg: SIGNATURE_ALGORITHM, typ: TOKEN_TYPE, kid: ISSUER })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject(userId)
      .setIssuedAt(now)
      .setExpirationTime(now + ACCESS_ASSERTION_SECONDS)
      .sign(await key);
  };
}

/**
 * Returns the content of an assertion. Throws `assertion_stale` after its 60 s. Throws `internal` for every other defect:
 * authorization issues assertions and the gateway sends them, so a bad one is a fault between services, not of the app.
 */
export type AssertionVerifier = (jwt: string) => AccessAssertion | Promise<AccessAssertion>;

/** Creates a verifier of assertions. It caches verified assertions, so a busy token costs one signature check a minute. */
export function createAssertionVerifier(options: {
  readonly publicKeys: string;
  readonly clock?: Clock;
}): AssertionVerifier {
  const { clock = systemClock } = options;
  const keys = parseKeySet(options.publicKeys);
  const verified = new LRUCache<string, { assertion: AccessAssertion; expiresAt: number }>({ max: 50_000 });
  return (jwt) => {
    const known = verified.get(jwt);
    if (known === undefined) return verify(jwt);
    if (clock.now().getTime() >= known.expiresAt) throw new AppError('assertion_stale');
    return known.assertion;
  };

  async function verify(jwt: string): Promise<AccessAssertion> {
    try {
      const { payload } = await jwtVerify(jwt, keys, {
        algorithms: [SIGNATURE_ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        typ: TOKEN_TYPE,
        requiredClaims: [
          'exp',
          'sub',
          'client_id',
          'grant_id',
          'family_id',
          'scope',
          'token_hash',
          'token_exp',
        ],
        currentDate: clock.now(),
      });
      const assertion: AccessAssertion = {
        userId: payload.sub ?? '',
        clientId: String(payload['client_id']),
        grantId: String(payload['grant_id']),
        familyId: String(payload['family_id']),
        scopes: String(payload['scope']).split(' '),
        tokenHash: String(payload['token_hash']),
        tokenExpiresAt: Number(payload['token_exp']),
        dataFrom: payload['data_from'] === undefined ? null : String(payload['data_from']),
        sub: payload['app_sub'] === undefined ? null : String(payload['app_sub']),
        jkt: toThumbprint(payload['cnf']),
      };
      verified.set(jwt, { assertion, expiresAt: (payload.exp ?? 0) * 1000 });
      return assertion;
    } catch (cause) {
      if (cause instanceof errors.JWTExpired) throw new AppError('assertion_stale');
      throw new AppError('internal', '', { cause });
    }
  }
}

/** Null without a confirmation. Throws for one that this version cannot check. */
function toThumbprint(confirmation: unknown): string | null {
  if (confirmation === undefined) return null;
  const { jkt } = confirmation as { readonly jkt?: unknown };
  if (typeof jkt !== 'string' || !isThumbprint(jkt)) throw new Error('cnf without a thumbprint');
  return jkt;
}
