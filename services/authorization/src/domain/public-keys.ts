const KEYS_MAX = 5;
const SET_MAX_CHARACTERS = 16_384;
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const KID = /^[\x21-\x7e]{1,128}$/;
/** Bits of an RSA modulus. */
const [MODULUS_MIN, MODULUS_MAX] = [2_048, 4_096];

type Jwk = Readonly<Record<string, unknown>>;

const NO_KEY = 'is not a valid key';

/** The accepted kinds of keys, their algorithms (FAPI 2.0 Security Profile, section 5.4.1) and the members of the key itself. */
const KINDS = [
  { kty: 'EC', crv: 'P-256', algorithms: ['ES256'], members: ['crv', 'x', 'y'], findFault: findPointFault },
  {
    kty: 'OKP',
    crv: 'Ed25519',
    algorithms: ['EdDSA', 'Ed25519'],
    members: ['crv', 'x'],
    findFault: ({ x }: Jwk) => (readNumber(x, 32) === null ? NO_KEY : null),
  },
  { kty: 'RSA', crv: undefined, algorithms: ['PS256'], members: ['n', 'e'], findFault: findRsaFault },
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
  if (kind === undefined) return 'must be EC with P-256, OKP with Ed25519, or RSA';
  const fault = findUseFault(given, kind.algorithms) ?? kind.findFault(given);
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

/** What is wrong with an RSA key, or null. */
function findRsaFault({ n, e }: Jwk): string | null {
  const modulus = readNumber(n);
  if (modulus === null || modulus % 2n === 0n) return NO_KEY;
  const bits = modulus.toString(2).length;
  if (bits < MODULUS_MIN || bits > MODULUS_MAX) return `must have ${MODULUS_MIN} to ${MODULUS_MAX} bits`;
  return e === 'AQAB' ? null : 'must have the exponent AQAB';
}

// The curve P-256 (FIPS 186-5): y² = x³ - 3x + b modulo p.
const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

function findPointFault(key: Jwk): string | null {
  const [x, y] = [readNumber(key['x'], 32), readNumber(key['y'], 32)];
  if (x === null || y === null || x >= P || y >= P) return NO_KEY;
  return (y * y - (x * x * x - 3n * x + B)) % P === 0n ? null : NO_KEY;
}

/** The number that base64url encodes, in so many bytes if that matters. Null for another text. */
function readNumber(value: unknown, bytes?: number): bigint | null {
  if (typeof value !== 'string' || value === '') return null;
  const decoded = Buffer.from(value, 'base64url');
  if (decoded.toString('base64url') !== value || decoded.length !== (bytes ?? decoded.length)) return null;
  return BigInt(`0x${decoded.toString('hex')}`);
}
