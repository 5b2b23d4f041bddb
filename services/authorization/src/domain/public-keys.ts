import { createPublicKey } from 'node:crypto';

/** A public key of an app (RFC 7517) with the members that count. */
export interface PublicKey {
  readonly kty: 'EC' | 'OKP' | 'RSA';
  readonly kid?: string;
  /** If present, the only algorithm that the key is for. */
  readonly alg?: string;
  readonly [member: string]: string | undefined;
}

const KEYS_MAX = 5;
const SET_MAX_CHARACTERS = 16_384;
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const KID = /^[\x21-\x7e]{1,128}$/;
/** Bits of an RSA modulus. */
const [MODULUS_MIN, MODULUS_MAX] = [2_048, 4_096];
const EXPONENT = 65_537n;

/** The accepted kinds of keys and their algorithms (FAPI 2.0 Security Profile, section 5.4.1). */
const KINDS = [
  { kty: 'EC', crv: 'P-256', algorithms: ['ES256'] },
  { kty: 'OKP', crv: 'Ed25519', algorithms: ['EdDSA', 'Ed25519'] },
  { kty: 'RSA', crv: undefined, algorithms: ['PS256'] },
] as const;

/** A set of keys as it is stored, or the reason why it is none. */
export type ParsedKeys = { readonly jwks: string } | { readonly fault: string };

/** Parses a JSON Web Key Set. Of each key only what is needed is kept. */
export function parsePublicKeys(text: string): ParsedKeys {
  if (text.length > SET_MAX_CHARACTERS)
    return { fault: `must have at most ${SET_MAX_CHARACTERS} characters` };
  const keys = findKeys(text);
  if (keys === null) return { fault: 'must be an object with a list `keys`' };
  if (keys.length === 0 || keys.length > KEYS_MAX) return { fault: `must have 1 to ${KEYS_MAX} keys` };
  const parsed: PublicKey[] = [];
  for (const [index, value] of keys.entries()) {
    const key = parseKey(value);
    if (typeof key === 'string') return { fault: `key ${index + 1} ${key}` };
    parsed.push(key);
  }
  const kids = parsed.flatMap(({ kid }) => kid ?? []);
  if (parsed.length > 1 && new Set(kids).size < parsed.length) {
    return { fault: 'must give each of several keys a `kid` of its own' };
  }
  return { jwks: JSON.stringify({ keys: parsed }) };
}

/** The keys of a stored set. */
export function readPublicKeys(jwks: string): readonly PublicKey[] {
  return jwks === '' ? [] : (JSON.parse(jwks) as { keys: PublicKey[] }).keys;
}

/** Whether a key is one for this algorithm. */
export function isKeyFor({ kty, alg }: PublicKey, algorithm: string): boolean {
  const algorithms: readonly string[] = KINDS.find((kind) => kind.kty === kty)?.algorithms ?? [];
  if (!algorithms.includes(algorithm)) return false;
  // EdDSA and Ed25519 name the same algorithm.
  return alg === undefined || alg === algorithm || kty === 'OKP';
}

function findKeys(text: string): readonly unknown[] | null {
  try {
    const value: unknown = JSON.parse(text);
    const keys = (value as { readonly keys?: unknown } | null)?.keys;
    return Array.isArray(keys) ? keys : null;
  } catch {
    return null;
  }
}

/** The key, or what is wrong with it. */
function parseKey(value: unknown): PublicKey | string {
  if (typeof value !== 'object' || value === null) return 'must be an object';
  const given: Readonly<Record<string, unknown>> = { ...value };
  if (PRIVATE_MEMBERS.some((name) => name in given)) {
    return 'has a private member; send the public key only, and replace this one, which is now known to others';
  }
  const kind = KINDS.find(({ kty, crv }) => kty === given['kty'] && crv === given['crv']);
  if (kind === undefined) return 'must be EC with P-256, OKP with Ed25519, or RSA';
  const fault = findUseFault(given, kind.algorithms);
  if (fault !== null) return fault;
  const material = readMaterial(given);
  if (typeof material === 'string') return material;
  const { kid, alg } = given as { readonly kid?: string; readonly alg?: string };
  return {
    kty: kind.kty,
    ...material,
    ...(kid !== undefined && { kid }),
    ...(alg !== undefined && { alg }),
  };
}

function findUseFault(
  { kid, alg, use, key_ops: operations }: Readonly<Record<string, unknown>>,
  algorithms: readonly string[],
): string | null {
  if (kid !== undefined && !(typeof kid === 'string' && KID.test(kid))) {
    return 'must have a `kid` of 1 to 128 visible ASCII characters';
  }
  if (alg !== undefined && !algorithms.some((name) => name === alg)) {
    return `must have an \`alg\` that fits the key: ${algorithms.join(' or ')}`;
  }
  const verifies = operations === undefined || (Array.isArray(operations) && operations.includes('verify'));
  return (use === undefined || use === 'sig') && verifies ? null : 'must be for signatures';
}

/** The members that are the key itself, or what is wrong with them. */
function readMaterial(jwk: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> | string {
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const { modulusLength = MODULUS_MIN, publicExponent = EXPONENT } = key.asymmetricKeyDetails ?? {};
    if (modulusLength < MODULUS_MIN || modulusLength > MODULUS_MAX) {
      return `must have ${MODULUS_MIN} to ${MODULUS_MAX} bits`;
    }
    if (publicExponent !== EXPONENT) return 'must have the exponent AQAB';
    return key.export({ format: 'jwk' }) as Readonly<Record<string, string>>;
  } catch {
    return 'is not a valid key';
  }
}
