import { randomBytes } from 'node:crypto';

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
  return `${prefix}_${base62(randomBytes(Math.ceil(bits / 8)))}`;
}

/** Whether a text has the shape of an id with this prefix; says nothing about whether it exists. */
export function isId(prefix: string, text: string): boolean {
  return text.length <= 64 && text.startsWith(`${prefix}_`) && /^[A-Za-z0-9_]+$/.test(text);
}
