import { createPublicKey, type JsonWebKey } from 'node:crypto';

const KEYS_MAX = 5;
const SET_MAX_CHARACTERS = 16_384;
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const KID = /^[\x21-\x7e]{1,128}$/;
/** Bits of an RSA modulus. */
const [MODULUS_MIN, MODULUS_MAX] = [2_048, 4_096];

type Jwk = Readonly<Record<string, unknown>>;

const NO_KEY = 'is not a valid key';

/**
 * The accepted kinds of keys, the members of the key itself and their algorithms: those of the FAPI 2.0 Security Profile (section 5.4.1), and
 * ES384 and RS384, which SMART clients use (SMART App Launch 2, asymmetric client authentication).
 */
const KINDS = [
  { kty: 'EC', crv: 'P-256', members: ['crv', 'x', 'y'], algorithms: ['ES256'] },
  { kty: 'EC', crv: 'P-384', members: ['crv', 'x', 'y'], algorithms: ['ES384'] },
  { kty: 'OKP', crv: 'Ed25519', members: ['crv', 'x'], algorithms: ['EdDSA', 'Ed25519'] },
  { kty: 'RSA', crv: undefined, members: ['n', 'e'], algorithms: ['PS256', 'RS384'] },
] as const;

/** A set of keys as it is stored, or the reason why it is none. */
export type ParsedKeys = { readonly jwks: string } | { readonly fault: string };

/** Parses a registered JSON Web Key Set. Of each key only what is needed is kept. */
export function parsePublicKeys(text: string): ParsedKeys {
  if (text.length > SET_MAX_CHARACTERS)
    return { fault: `must have at most ${SET_MAX_CHARACTERS} characters` };
  return parseSet(text, false);
}

/** The same for a fetched one, which may have other keys beside those that are usable here (RFC 7517 section 5). */
export function parseFetchedKeys(text: string): ParsedKeys {
  return parseSet(text, true);
}

function parseSet(text: string, ignoresOthers: boolean): ParsedKeys {
  const keys = findKeys(text)?.map(parseKey);
  if (keys === undefined) return { fault: 'must be an object with a list `keys`' };
  const parsed = keys.filter((key) => typeof key !== 'string');
  const counted = ignoresOthers && parsed.length > 0 ? parsed : keys;
  if (counted.length === 0 || counted.length > KEYS_MAX) return { fault: `must have 1 to ${KEYS_MAX} keys` };
  const index = counted.findIndex((key) => typeof key === 'string');
  if (index !== -1) return { fault: `key ${index + 1} ${counted[index]}` };
  const kids = new Set(parsed.flatMap((key) => ('kid' in key ? [key.kid] : [])));
  if (parsed.length > 1 && kids.size < parsed.length) {
    return { fault: 'must give each of several keys a `kid` of its own' };
  }
  return { jwks: JSON.stringify({ keys: parsed }) };
}

/** The keys of a set as it is stored; none of an empty text. */
export function parseKeys(jwks: string): readonly Jwk[] {
  return jwks === '' ? [] : (JSON.parse(jwks) as { readonly keys: readonly Jwk[] }).keys;
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
function parseKey(value: unknown): object | string {
  if (typeof value !== 'object' || value === null) return 'must be an object';
  const given: Jwk = { ...value };
  if (PRIVATE_MEMBERS.some((name) => name in given)) {
    return 'has a private member; send the public key only, and replace this one, which is now known to others';
  }
  const kind = KINDS.find(({ kty, crv }) => kty === given['kty'] && crv === given['crv']);
  if (kind === undefined) return 'must be EC with P-256 or P-384, OKP with Ed25519, or RSA';
  const fault = findUseFault(given, kind.algorithms) ?? findKeyFault(given, kind.members);
  if (fault !== null) return fault;
  const kept = ['kty', ...kind.members, 'kid', 'alg'].filter((name) => name in given);
  return Object.fromEntries(kept.map((name) => [name, given[name]]));
}

function findUseFault(
  { kid, alg, use, key_ops: operations }: Jwk,
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

/** What is wrong with the key itself, or null. Its members have to be spelled as they are exported, because they name it (RFC 7638). */
function findKeyFault(given: Jwk, members: readonly string[]): string | null {
  let exported: Jwk;
  let bits: number | undefined;
  try {
    const key = createPublicKey({ key: given as JsonWebKey, format: 'jwk' });
    exported = { ...key.export({ format: 'jwk' }) };
    bits = key.asymmetricKeyDetails?.modulusLength;
  } catch {
    return NO_KEY;
  }
  if (members.some((name) => exported[name] !== given[name])) return NO_KEY;
  if (bits === undefined) return null;
  if (bits < MODULUS_MIN || bits > MODULUS_MAX) return `must have ${MODULUS_MIN} to ${MODULUS_MAX} bits`;
  return given['e'] === 'AQAB' ? null : 'must have the exponent AQAB';
}
