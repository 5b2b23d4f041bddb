import { randomFillSync } from 'node:crypto';
import { invalidRequest } from './errors.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BITS_PER_DIGIT = Math.log2(ALPHABET.length);

/** The most digits whose value is an exact number. */
const PART_DIGITS = 8;
const PART = BigInt(ALPHABET.length) ** BigInt(PART_DIGITS);

function toWidth(bytes: number): number {
  return Math.ceil((bytes * 8) / BITS_PER_DIGIT);
}

/** Encodes the bytes as one big-endian base62 number. The width depends only on the number of bytes. */
export function base62(bytes: Uint8Array): string {
  const width = toWidth(bytes.length);
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let digits = '';
  while (digits.length < width) {
    // Dividing a bigint for each digit would take twice as long.
    let part = Number(value % PART);
    value /= PART;
    for (let i = 0; i < PART_DIGITS && digits.length < width; i += 1) {
      digits = ALPHABET[part % ALPHABET.length] + digits;
      part = Math.floor(part / ALPHABET.length);
    }
  }
  return digits;
}

/** The bytes that base62 encodes as this text; null when no `count` bytes have this encoding. */
export function findBase62Bytes(text: string, count: number): Uint8Array | null {
  if (text.length !== toWidth(count) || !/^[0-9A-Za-z]*$/.test(text)) return null;
  let value = 0n;
  for (const digit of text) value = value * 62n + BigInt(ALPHABET.indexOf(digit));
  const hex = value.toString(16).padStart(count * 2, '0');
  return hex.length > count * 2 ? null : Buffer.from(hex, 'hex');
}

/** A new opaque id `prefix_…` of `[A-Za-z0-9_]` with the given number of random bits. */
export function newId(prefix: string, bits = 128): string {
  return `${prefix}_${randomDigits(Math.ceil(bits / BITS_PER_DIGIT))}`;
}

// Random bytes are generated in blocks: a system call for each id would cost more than the id.
const pool = Buffer.alloc(4_096);
let used = pool.length;

/** Uniformly distributed digits: bytes that would bias the result are discarded. */
function randomDigits(count: number): string {
  const fair = 256 - (256 % ALPHABET.length);
  let digits = '';
  while (digits.length < count) {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const byte = pool[used] as number;
    used += 1;
    if (byte < fair) digits += ALPHABET[byte % ALPHABET.length];
  }
  return digits;
}

/** Whether a text has the form of an id with this prefix; the id may not exist. */
export function isId(prefix: string, text: string): boolean {
  return text.length <= 64 && text.startsWith(`${prefix}_`) && /^[A-Za-z0-9_]+$/.test(text);
}

/** Maximum length of a subject (OpenID Connect Core 1.0 section 2), in UTF-16 code units. */
const MAX_USER_ID_LENGTH = 255;
const CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * Whether a value is a valid user id (the subject of a session): a well-formed string of 1 to 255 characters without control
 * characters.
 */
export function isUserId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_USER_ID_LENGTH &&
    !CONTROL_CHARACTER.test(value) &&
    value.isWellFormed()
  );
}

/** Validates a user id. Throws `invalid_request` naming `parameter` when it is invalid. */
export function parseUserId(text: string, parameter = 'userId'): string {
  if (isUserId(text)) return text;
  throw invalidRequest(parameter, `must be 1 to ${MAX_USER_ID_LENGTH} characters without control characters`);
}
