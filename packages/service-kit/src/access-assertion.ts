import { ACCESS_ASSERTION_SECONDS } from '@phds/catalog/lifetimes';
import { errors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from './clock.ts';
import { AppError } from './errors.ts';
import { parseKeySet, parsePrivateKey, SIGNATURE_ALGORITHM } from './keys.ts';

const TOKEN_TYPE = 'access-assertion+jwt';
const ISSUER = 'authorization';
const AUDIENCE = 'health-data';

/** What authorization vouches for about one access token, so that a gateway cannot invent users (phantom token). */
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
  /** How far back the app sees (YYYY-MM-DD); null is everything. */
  readonly dataFrom: string | null;
}

export type AssertionSigner = (assertion: AccessAssertion) => Promise<string>;

/** Signs assertions: EdDSA, at most 60 s. */
export function createAssertionSigner(options: {
  readonly privateKeyPem: string;
  readonly clock?: Clock;
}): AssertionSigner {
  const { clock = systemClock } = options;
  const key = parsePrivateKey(options.privateKeyPem);
  return async (assertion) => {
    const { userId, clientId, grantId, familyId, scopes, tokenHash, tokenExpiresAt, dataFrom } = assertion;
    const now = Math.floor(clock.now().getTime() / 1000);
    return new SignJWT({
      client_id: clientId,
      grant_id: grantId,
      family_id: familyId,
      scope: scopes.join(' '),
      token_hash: tokenHash,
      token_exp: tokenExpiresAt,
      ...(dataFrom === null ? {} : { data_from: dataFrom }),
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
 * Answers what an assertion says; throws `assertion_stale` past its 60 s and `internal` for anything else: assertions are made
 * by authorization and sent by the gateway, so one that cannot be verified is a fault between services, not of the app.
 */
export type AssertionVerifier = (jwt: string) => AccessAssertion | Promise<AccessAssertion>;

/** Verifies assertions; one that was verified is remembered, so a hot token costs one signature check a minute. */
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
      };
      verified.set(jwt, { assertion, expiresAt: (payload.exp ?? 0) * 1000 });
      return assertion;
    } catch (cause) {
      if (cause instanceof errors.JWTExpired) throw new AppError('assertion_stale');
      throw new AppError('internal', '', { cause });
    }
  }
}
