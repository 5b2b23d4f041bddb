import { createHmac, hash, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62 } from './ids.ts';

/** Prefixes of the four kinds of secret, by which scanners recognise leaked ones. */
const PREFIX = {
  client_secret: 'phds_cs_',
  authorization_code: 'phds_ac_',
  access_token: 'phds_at_',
  refresh_token: 'phds_rt_',
} as const;

type SecretKind = keyof typeof PREFIX;

const ENTROPY_BYTES = 32;
const ENTROPY_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
const BODY = new RegExp(`^[0-9A-Za-z]{${ENTROPY_DIGITS + CHECKSUM_DIGITS}}$`);

/** Generates a secret: prefix, 256 random bits in base62, and a 6-digit CRC-32 of these. */
export function newSecret(kind: SecretKind): string {
  return formatSecret(kind, randomBytes(ENTROPY_BYTES));
}

/** Formats 32 given bytes as a secret. */
export function formatSecret(kind: SecretKind, entropy: Uint8Array): string {
  if (entropy.length !== ENTROPY_BYTES) throw new RangeError(`a secret takes ${ENTROPY_BYTES} bytes`);
  const head = PREFIX[kind] + base62(entropy);
  return head + checksum(head);
}

/**
 * Derives a secret from a key and an input, so that repeating a request yields the same one (HMAC-SHA-256, RFC 2104). The key is
 * imported already, because that takes five times as long as the derivation.
 */
export function deriveSecret(kind: SecretKind, key: KeyObject, label: string, input: string): string {
  return formatSecret(kind, createHmac('sha256', key).update(`${label}\0${input}`).digest());
}

/** Whether a text is a well-formed secret of this kind. Rejects typos and other kinds without a look-up. */
export function isSecret(kind: SecretKind, text: string): boolean {
  const prefix = PREFIX[kind];
  if (!text.startsWith(prefix) || !BODY.test(text.slice(prefix.length))) return false;
  const head = text.slice(0, -CHECKSUM_DIGITS);
  return text.slice(-CHECKSUM_DIGITS) === checksum(head);
}

/** SHA-256 of the UTF-8 text. Only this hash of a secret is ever stored. */
export function sha256(text: string): Buffer<ArrayBuffer> {
  return hash('sha256', text, 'buffer');
}

/** Compares two hashes in constant time. */
export function equalHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function checksum(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return base62(bytes);
}
