import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BITS_PER_DIGIT = Math.log2(ALPHABET.length);

/** Base62 digits of the bytes read as one big-endian number; always the same width for the same number of bytes. */
export function base62(bytes: Uint8Array): string {
  const width = Math.ceil((bytes.length * 8) / BITS_PER_DIGIT);
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let digits = '';
  for (let i = 0; i < width; i += 1) {
    digits = ALPHABET[Number(value % 62n)] + digits;
    value /= 62n;
  }
  return digits;
}

/** A new opaque id `prefix_…` of `[A-Za-z0-9_]` with the given number of random bits (contract section 1). */
export function newId(prefix: string, bits = 128): string {
  return `${prefix}_${randomDigits(Math.ceil(bits / BITS_PER_DIGIT))}`;
}

// Filled in one go: a call into the system's generator for each id costs more than the id.
const pool = Buffer.alloc(4_096);
let used = pool.length;

/** Uniform digits: bytes that would favour the first ones of the alphabet are thrown away. */
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

/** Whether a text has the shape of an id with this prefix; says nothing about whether it exists. */
export function isId(prefix: string, text: string): boolean {
  return text.length <= 64 && text.startsWith(`${prefix}_`) && /^[A-Za-z0-9_]+$/.test(text);
}
