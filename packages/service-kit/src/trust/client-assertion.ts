import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose';
import type { Clock } from '../clock.ts';
import { POSSESSION_ALGORITHMS, thumbprintOf } from './dpop.ts';
import { toMediaType } from './session.ts';

// Client assertions (RFC 7523 section 3) by the rules of the FAPI 2.0 Security Profile, section 5.3.2.1.

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

/** A genuine assertion that may have been used, or why it is none, for logs only, and whether it named a key that is not in the set. */
export type JudgedAssertion =
  | (AcceptedAssertion & { readonly jkt: string })
  | { readonly fault: string; readonly namesUnknownKey: boolean };

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
    try {
      if (assertion.length > MAX_CHARACTERS) throw new Error('the assertion is too long');
      const header = decodeProtectedHeader(assertion);
      const alg = parseHeader(header);
      const key = findKey(jwks, header);
      namesUnknownKey = key === undefined && header.kid !== undefined;
      const now = clock.now();
      const jwk = key ?? dummies[toKeyType(alg)];
      const { payload } = await jwtVerify(assertion, await importJWK(jwk, alg), {
        algorithms: [alg],
        issuer: clientId,
        subject: clientId,
        audience: issuer,
        requiredClaims: ['exp', 'jti'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: now,
      });
      return { jkt: thumbprintOf({ ...jwk }), ...judgeClaims(payload, now.getTime() / 1000) };
    } catch (error) {
      return { fault: error instanceof Error ? error.message : 'unreadable', namesUnknownKey };
    }
  };
}

/** The subject that an assertion names, not verified. */
export function readSubject(assertion: string): string | undefined {
  try {
    return assertion.length > MAX_CHARACTERS ? undefined : decodeJwt(assertion).sub;
  } catch {
    return undefined;
  }
}

type Algorithm = (typeof POSSESSION_ALGORITHMS)[number];

function parseHeader({ alg, typ, crit }: ProtectedHeaderParameters): Algorithm {
  const algorithm = POSSESSION_ALGORITHMS.find((name) => name === alg);
  if (algorithm === undefined) throw new Error(`alg is none of ${POSSESSION_ALGORITHMS.join(', ')}`);
  if (typ !== undefined && !TYPES.includes(toMediaType(typ)))
    throw new Error('typ is not that of an assertion');
  if (crit !== undefined) throw new Error('crit is not supported');
  return algorithm;
}

function toKeyType(alg: Algorithm): 'EC' | 'OKP' | 'RSA' {
  if (alg === 'ES256') return 'EC';
  return alg === 'PS256' ? 'RSA' : 'OKP';
}

/** The key that the header names, or the only key if it names none. */
function findKey(jwks: string, { alg, kid }: ProtectedHeaderParameters): JWK | undefined {
  const keys = jwks === '' ? [] : (JSON.parse(jwks) as { readonly keys: readonly JWK[] }).keys;
  const named = kid === undefined && keys.length === 1 ? keys[0] : keys.find((key) => key.kid === kid);
  if (named?.kty !== toKeyType(alg as Algorithm)) return undefined;
  // EdDSA and Ed25519 name the same algorithm.
  const fits = named.alg === undefined || named.alg === alg || named.kty === 'OKP';
  return fits ? named : undefined;
}

function judgeClaims({ aud, exp = 0, iat, jti }: JWTPayload, now: number): AcceptedAssertion {
  if ([aud].flat().length !== 1) throw new Error('aud is not the issuer alone');
  if (exp > now + MAX_AHEAD_SECONDS) throw new Error(`exp is more than ${MAX_AHEAD_SECONDS} s ahead`);
  if (iat !== undefined && !(iat <= now + CLOCK_TOLERANCE_SECONDS)) throw new Error('iat is in the future');
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_JTI_CHARACTERS) {
    throw new Error(`jti is not a text of 1 to ${MAX_JTI_CHARACTERS} characters`);
  }
  return { jti, memorableUntil: new Date((exp + MEMORY_SECONDS) * 1000) };
}

/** A key of each type that nobody can sign with. The modulus is a random number: it takes as long as a product of primes. */
function createDummyKeys(): Readonly<Record<'EC' | 'OKP' | 'RSA', JWK>> {
  const modulus = randomBytes(256);
  modulus[0] = 0x80 | (modulus[0] ?? 0);
  modulus[255] = 1 | (modulus[255] ?? 0);
  const { publicKey: point } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { publicKey: edwards } = generateKeyPairSync('ed25519');
  return {
    EC: point.export({ format: 'jwk' }) as JWK,
    OKP: edwards.export({ format: 'jwk' }) as JWK,
    RSA: { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' },
  };
}
