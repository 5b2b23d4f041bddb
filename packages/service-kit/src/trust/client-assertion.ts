import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose';
import type { Clock } from '../clock.ts';
import { POSSESSION_ALGORITHMS } from './dpop.ts';
import { toMediaType } from './session.ts';

// Client assertions (RFC 7523 section 3) by the rules of the FAPI 2.0 Security Profile, section 5.3.2.1.

/** Those of FAPI 2.0, and those of SMART App Launch 2 (asymmetric client authentication). */
export const ASSERTION_ALGORITHMS = [...POSSESSION_ALGORITHMS, 'ES384', 'RS384'] as const;

export const CLIENT_ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const MAX_CHARACTERS = 8_192;
const MAX_JTI_CHARACTERS = 256;
/** How far its end may be ahead, in seconds. */
const MAX_AHEAD_SECONDS = 300;
/** The clock of the app may differ from ours by so much. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** For so long after its end the use of an assertion is remembered, longer than it could be accepted anywhere. */
const MEMORY_SECONDS = 120;

const TYPES: readonly unknown[] = ['client-authentication+jwt', 'jwt'];

/** Who may have signed an assertion. */
export interface AssertionSigner {
  readonly clientId: string;
  /** Its public keys as a JSON Web Key Set; empty if there are none. */
  readonly jwks: string;
}

interface AcceptedAssertion {
  readonly jti: string;
  readonly memorableUntil: Date;
}

/**
 * A genuine assertion that may have been used, or why it is none and whether it named a key that is not in the set. `fault` is for logs and for
 * the developer of the app; it never quotes the assertion, which anybody can send.
 */
type JudgedAssertion = AcceptedAssertion | { readonly fault: string; readonly namesUnknownKey: boolean };

export type AssertionVerifier = (assertion: string, signer: AssertionSigner) => Promise<JudgedAssertion>;

/**
 * Verifies client assertions. Keys come from the registered set alone, never from a header. Without a key for an assertion it is verified
 * with another one, so that the duration does not tell whether there is a key.
 */
export function createAssertionVerifier(options: {
  /** The one accepted audience. */
  readonly issuer: string;
  readonly clock: Clock;
}): AssertionVerifier {
  const { issuer, clock } = options;
  const dummies = createDummyKeys();
  return async (assertion, { clientId, jwks }) => {
    let namesUnknownKey = false;
    let faultOfKey = 'its signature is not by the key of the app';
    try {
      if (assertion.length > MAX_CHARACTERS) throw new AssertionFault('it is too long');
      const header = decodeProtectedHeader(assertion);
      const alg = parseHeader(header);
      const key = findKey(jwks, header);
      namesUnknownKey = key === undefined && header.kid !== undefined;
      faultOfKey = key === undefined ? 'no key of the app fits its kid and alg' : faultOfKey;
      const now = clock.now();
      const jwk = key ?? dummies[KEY_TYPES[alg]];
      const { payload } = await jwtVerify(assertion, await importJWK(jwk, alg), {
        algorithms: [alg],
        issuer: clientId,
        subject: clientId,
        audience: issuer,
        requiredClaims: ['exp', 'jti'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: now,
      });
      return judgeClaims(payload, now.getTime() / 1000);
    } catch (error) {
      const isUnsigned = error instanceof errors.JWSSignatureVerificationFailed;
      return { fault: isUnsigned ? faultOfKey : toFault(error), namesUnknownKey };
    }
  };
}

class AssertionFault extends Error {}

/** By the claims that `jwtVerify` checks. */
const CLAIM_FAULTS: Readonly<Record<string, string>> = {
  iss: 'iss is not the client id',
  sub: 'sub is not the client id',
  aud: 'aud is not the issuer alone',
  exp: 'exp is missing or has passed',
  nbf: 'nbf is in the future',
  iat: 'iat is in the future',
  jti: 'jti is missing',
};

function toFault(error: unknown): string {
  if (error instanceof AssertionFault) return error.message;
  const isClaim = error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed;
  return (isClaim && CLAIM_FAULTS[error.claim]) || 'it is not a signed JWT';
}

/** The subject that an assertion names, not verified. */
export function readSubject(assertion: string): string | undefined {
  try {
    return assertion.length > MAX_CHARACTERS ? undefined : decodeJwt(assertion).sub;
  } catch {
    return undefined;
  }
}

type Algorithm = (typeof ASSERTION_ALGORITHMS)[number];

function parseHeader({ alg, typ, crit }: ProtectedHeaderParameters): Algorithm {
  const algorithm = ASSERTION_ALGORITHMS.find((name) => name === alg);
  if (algorithm === undefined) throw new AssertionFault(`alg is none of ${ASSERTION_ALGORITHMS.join(', ')}`);
  if (typ !== undefined && !TYPES.includes(toMediaType(typ)))
    throw new AssertionFault('typ is not that of an assertion');
  if (crit !== undefined) throw new AssertionFault('crit is not supported');
  return algorithm;
}

/** The curve, or the type of a key without one. */
const KEY_TYPES = {
  ES256: 'P-256',
  ES384: 'P-384',
  EdDSA: 'Ed25519',
  Ed25519: 'Ed25519',
  PS256: 'RSA',
  RS384: 'RSA',
} as const satisfies Record<Algorithm, string>;

/** The key that the header names, or the only key if it names none. */
function findKey(jwks: string, { alg, kid }: ProtectedHeaderParameters): JWK | undefined {
  const keys = jwks === '' ? [] : (JSON.parse(jwks) as { readonly keys: readonly JWK[] }).keys;
  const named = kid === undefined && keys.length === 1 ? keys[0] : keys.find((key) => key.kid === kid);
  if (named === undefined || (named.crv ?? named.kty) !== KEY_TYPES[alg as Algorithm]) return undefined;
  // EdDSA and Ed25519 name the same algorithm.
  const fits = named.alg === undefined || named.alg === alg || named.kty === 'OKP';
  return fits ? named : undefined;
}

function judgeClaims({ aud, exp = 0, iat, jti }: JWTPayload, now: number): AcceptedAssertion {
  if ([aud].flat().length !== 1) throw new AssertionFault('aud is not the issuer alone');
  if (exp > now + MAX_AHEAD_SECONDS)
    throw new AssertionFault(`exp is more than ${MAX_AHEAD_SECONDS} s ahead`);
  if (iat !== undefined && !(iat <= now + CLOCK_TOLERANCE_SECONDS))
    throw new AssertionFault('iat is in the future');
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_JTI_CHARACTERS) {
    throw new AssertionFault(`jti is not a text of 1 to ${MAX_JTI_CHARACTERS} characters`);
  }
  return { jti, memorableUntil: new Date((exp + MEMORY_SECONDS) * 1000) };
}

/** A key of each type that nobody can sign with. The modulus is a random number: it takes as long as a product of primes. */
function createDummyKeys(): Readonly<Record<(typeof KEY_TYPES)[Algorithm], JWK>> {
  const modulus = randomBytes(256);
  modulus[0] = 0x80 | (modulus[0] ?? 0);
  modulus[255] = 1 | (modulus[255] ?? 0);
  const point = (namedCurve: string) =>
    generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' }) as JWK;
  return {
    'P-256': point('P-256'),
    'P-384': point('P-384'),
    Ed25519: generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }) as JWK,
    RSA: { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' },
  };
}
