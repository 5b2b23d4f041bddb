import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { sha256 } from '../secrets.ts';

// Proofs of possession (RFC 9449). With node:crypto, because a library imports the key for each proof, which takes twice as long as the
// check of the signature.

/** The algorithms of proofs and client assertions (FAPI 2.0 Security Profile, section 5.4.1). EdDSA and Ed25519 name the same one. */
export const POSSESSION_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'PS256'] as const;

/** How far `iat` may be behind and ahead of our clock, in seconds. */
const PROOF_AGE_SECONDS = 60;
const PROOF_AHEAD_SECONDS = 30;

/** For so long a used proof is remembered, in seconds: longer than it could be accepted again. */
export const PROOF_MEMORY_SECONDS = PROOF_AGE_SECONDS + PROOF_AHEAD_SECONDS + 5;

const MAX_PROOF_CHARACTERS = 4_096;
const MAX_JTI_CHARACTERS = 256;

/** What is wrong with a proof. */
class ProofFault extends Error {}

/** What a proof has to be about. */
interface ProofSubject {
  readonly method: string;
  /** The public URL of the request, without query and fragment. */
  readonly url: string;
  /** The access token of the request; null at an endpoint that issues tokens. */
  readonly accessToken: string | null;
  readonly now: Date;
}

/** A proof whose claims are right and whose signature has not been verified. */
export interface UnverifiedProof {
  /** Thumbprint of its key: SHA-256 in base64url (RFC 7638). */
  readonly jkt: string;
  /** Identifies the proof: SHA-256 of key and `jti`. */
  readonly id: Buffer;
  /** Whether the signature is that of the key. */
  isSigned(): boolean;
}

/**
 * Reads a proof and checks its form and its claims (RFC 9449 section 4.3, all but signature and replay). `fault` says what is wrong with it;
 * the sender may learn that under `/oauth` only.
 */
export function readProof(text: string, subject: ProofSubject): UnverifiedProof | { readonly fault: string } {
  try {
    return parseProof(text, subject);
  } catch (error) {
    if (error instanceof ProofFault) return { fault: error.message };
    throw error;
  }
}

function parseProof(text: string, subject: ProofSubject): UnverifiedProof {
  if (text.length > MAX_PROOF_CHARACTERS) throw new ProofFault('it is too long');
  const [head = '', body = '', signature = '', ...more] = text.split('.');
  if (more.length > 0 || !BASE64URL.test(signature)) throw new ProofFault('it is not a signed JWT');
  const key = keys.get(head) ?? readHeader(head);
  const jti = checkClaims(parseObject(body), subject);
  return {
    jkt: key.jkt,
    id: sha256(`${key.jkt}\0${jti}`),
    isSigned: () => {
      const isSigned = key.check(Buffer.from(`${head}.${body}`), Buffer.from(signature, 'base64url'));
      if (isSigned && head.length <= MAX_KEPT_HEADER_CHARACTERS) keys.set(head, key);
      return isSigned;
    },
  };
}

/** The key of a header. Proofs of one key have the same header, so the header of a proof that was signed is kept with its key. */
interface ProofKey {
  readonly jkt: string;
  check(data: Buffer, signature: Buffer): boolean;
}

const keys = new LRUCache<string, ProofKey>({ max: 10_000 });
/** Enough for RSA with 4096 bits. */
const MAX_KEPT_HEADER_CHARACTERS = 1_200;

function readHeader(head: string): ProofKey {
  const header = parseObject(head);
  if (header['typ'] !== 'dpop+jwt') throw new ProofFault('typ is not dpop+jwt');
  if ('crit' in header) throw new ProofFault('crit is not supported');
  const { jwk, check } = readKey(header['alg'], header['jwk']);
  let key: KeyObject | null | undefined;
  return {
    jkt: thumbprintOf(jwk),
    check: (data, signature) => {
      key ??= importKey(jwk);
      return key !== null && check(data, key, signature);
    },
  };
}

/** Returns `jti`. */
function checkClaims(
  claims: Readonly<Record<string, unknown>>,
  { method, url, accessToken, now }: ProofSubject,
): string {
  const { jti, htm, htu, iat, ath } = claims;
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_JTI_CHARACTERS) {
    throw new ProofFault(`jti is not a text of 1 to ${MAX_JTI_CHARACTERS} characters`);
  }
  if (htm !== method) throw new ProofFault('htm is not the method of the request');
  if (typeof htu !== 'string' || (htu !== url && normalize(htu) !== normalize(url))) {
    throw new ProofFault('htu is not the public URL of the request');
  }
  const age = now.getTime() / 1000 - (typeof iat === 'number' ? iat : Number.NaN);
  if (!(age <= PROOF_AGE_SECONDS && age >= -PROOF_AHEAD_SECONDS)) {
    throw new ProofFault(
      `iat is not within ${PROOF_AGE_SECONDS} s before and ${PROOF_AHEAD_SECONDS} s after the time of the service`,
    );
  }
  if (accessToken !== null && ath !== sha256(accessToken).toString('base64url')) {
    throw new ProofFault('ath is not the hash of the access token');
  }
  return jti;
}

/** A URL without query and fragment, as RFC 3986 section 6.2 normalises it; the text itself if it is none. */
function normalize(text: string): string {
  if (!URL.canParse(text)) return text;
  const { origin, pathname } = new URL(text);
  return origin + pathname.replaceAll(/%[0-9a-f]{2}/gi, normalizeOctet);
}

function normalizeOctet(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
  return /[A-Za-z0-9._~-]/.test(character) ? character : octet.toUpperCase();
}

type SignatureCheck = (data: Buffer, key: KeyObject, signature: Buffer) => boolean;

/** A public key in a header: its members that count. */
interface ReadKey {
  readonly jwk: Readonly<Record<string, string>>;
  readonly check: SignatureCheck;
}

const COORDINATE = /^[A-Za-z0-9_-]{43}$/;
/** 2048 to 4096 bits. */
const MODULUS = /^[A-Za-z0-9_-]{342,683}$/;
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

const EDDSA: SignatureCheck = (data, key, signature) => verify(null, data, key, signature);
const ES256: SignatureCheck = (data, key, signature) =>
  verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, signature);
const PS256: SignatureCheck = (data, key, signature) =>
  verify(
    'sha256',
    data,
    { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
    signature,
  );

function readKey(alg: unknown, value: unknown): ReadKey {
  if (typeof value !== 'object' || value === null) throw new ProofFault('jwk is not a key');
  const key: Readonly<Record<string, unknown>> = { ...value };
  if (PRIVATE.some((name) => name in key)) throw new ProofFault('jwk is not a public key');
  const { kty, crv, x, y, n, e } = key;
  if (alg === 'ES256' && kty === 'EC' && crv === 'P-256' && isText(x, COORDINATE) && isText(y, COORDINATE)) {
    return { jwk: { crv, kty, x, y }, check: ES256 };
  }
  const isEdwards = alg === 'EdDSA' || alg === 'Ed25519';
  if (isEdwards && kty === 'OKP' && crv === 'Ed25519' && isText(x, COORDINATE)) {
    return { jwk: { crv, kty, x }, check: EDDSA };
  }
  if (alg === 'PS256' && kty === 'RSA' && e === 'AQAB' && isText(n, MODULUS)) {
    return { jwk: { e, kty, n }, check: PS256 };
  }
  throw new ProofFault(
    'alg is none of ES256, EdDSA, Ed25519 and PS256 with a key of at least 2048 bits for it',
  );
}

function isText(value: unknown, form: RegExp): value is string {
  return typeof value === 'string' && form.test(value);
}

/** Null for one that is none: a point beside the curve, or a short modulus with zeros before it. */
function importKey(jwk: Readonly<Record<string, string>>): KeyObject | null {
  try {
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    return (key.asymmetricKeyDetails?.modulusLength ?? 2_048) < 2_048 ? null : key;
  } catch {
    return null;
  }
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;

function parseObject(part: string): Readonly<Record<string, unknown>> {
  try {
    if (!BASE64URL.test(part)) throw new Error('not base64url');
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    if (typeof value === 'object' && value !== null) return { ...value };
  } catch {
    // Answered below.
  }
  throw new ProofFault('it is not a signed JWT');
}

/** The thumbprint of a public key: SHA-256 in base64url of its members in alphabetical order (RFC 7638 section 3). */
function thumbprintOf({ crv, e, kty, n, x, y }: Readonly<Record<string, unknown>>): string {
  return sha256(JSON.stringify({ crv, e, kty, n, x, y })).toString('base64url');
}

/** Whether a text can be the thumbprint of a key. */
export function isThumbprint(text: string): boolean {
  return COORDINATE.test(text);
}
