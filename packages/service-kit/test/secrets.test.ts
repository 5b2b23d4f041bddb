import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { base62, findBase62Bytes, isId, newId } from '../src/ids.ts';
import { deriveSecret, equalHash, formatSecret, isSecret, newSecret, sha256 } from '../src/secrets.ts';

const KINDS = ['client_secret', 'authorization_code', 'access_token', 'refresh_token'] as const;

describe('secrets', () => {
  test.each(KINDS)('a new %s is well-formed for its own kind only', (kind) => {
    const secret = newSecret(kind);
    for (const other of KINDS) expect(isSecret(other, secret)).toBe(other === kind);
  });

  test('have 256 bits in 43 digits and a checksum in 6', () => {
    expect(newSecret('access_token')).toMatch(/^phds_at_[0-9A-Za-z]{49}$/);
  });

  test('32 bytes always give the same secret; 31 or 33 bytes are refused', () => {
    const bytes = Buffer.alloc(32, 7);
    expect(formatSecret('access_token', bytes)).toBe(formatSecret('access_token', bytes));
    expect(() => formatSecret('access_token', Buffer.alloc(31))).toThrow(RangeError);
    expect(() => formatSecret('access_token', Buffer.alloc(33))).toThrow(RangeError);
  });

  test('any single changed character breaks the checksum', () => {
    const secret = newSecret('refresh_token');
    for (let i = 0; i < secret.length; i += 1) {
      const other = secret[i] === 'a' ? 'b' : 'a';
      expect(isSecret('refresh_token', secret.slice(0, i) + other + secret.slice(i + 1))).toBe(false);
    }
  });

  test.each(['', 'phds_at_', 'phds_at_x', `phds_at_${'0'.repeat(10_000)}`, 'ph\0ds'])(
    '%j is not a secret',
    (text) => {
      expect(isSecret('access_token', text)).toBe(false);
    },
  );

  test('a derived secret depends on key, label and input only', () => {
    const key = createSecretKey(Buffer.alloc(32, 1));
    const one = deriveSecret('authorization_code', key, 'code', 'apr_1');
    expect(isSecret('authorization_code', one)).toBe(true);
    expect(deriveSecret('authorization_code', key, 'code', 'apr_1')).toBe(one);
    // Replicas of other releases derive the same.
    expect(one).toBe('phds_ac_jMkHKzfSUP7CfpchOSTPCe1nMoMCX7ZVGGwgOLCT2aY4YbAbu');
    expect(deriveSecret('authorization_code', key, 'code', 'apr_2')).not.toBe(one);
    expect(deriveSecret('authorization_code', key, 'other', 'apr_1')).not.toBe(one);
    expect(
      deriveSecret('authorization_code', createSecretKey(Buffer.alloc(32, 2)), 'code', 'apr_1'),
    ).not.toBe(one);
  });

  test('hashes are compared by content and length', () => {
    expect(equalHash(sha256('a'), sha256('a'))).toBe(true);
    expect(equalHash(sha256('a'), sha256('b'))).toBe(false);
    expect(equalHash(sha256('a'), sha256('a').subarray(1))).toBe(false);
    // FIPS 180-2, appendix B.1
    expect(sha256('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});

describe('ids', () => {
  test('are prefixed, opaque and unique', () => {
    const ids = new Set(Array.from({ length: 1_000 }, () => newId('apr')));
    expect(ids.size).toBe(1_000);
    for (const id of ids) expect(isId('apr', id)).toBe(true);
  });

  test('have the promised number of bits, with every digit equally frequent', () => {
    const text = Array.from({ length: 3_000 }, () => newId('x', 128).slice(2)).join('');
    // 128 bits take 22 digits of 5.95 bits.
    expect(text).toHaveLength(3_000 * 22);
    const counts = new Map<string, number>();
    for (const digit of text) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 66,000 digits: 1,065 of each are expected; 194 is six standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - 1_065)).toBeLessThan(194);
  });

  test.each(['apr', 'apr-1', 'app_1', 'apr_é', `apr_${'a'.repeat(61)}`, ''])(
    '%j is not a pending id',
    (text) => {
      expect(isId('apr', text)).toBe(false);
    },
  );
});

test('a base62 text of bytes gives the same bytes back', () => {
  const samples = [
    Buffer.alloc(16),
    Buffer.alloc(16, 0xff),
    ...Array.from({ length: 50 }, () => randomBytes(16)),
  ];
  for (const bytes of samples) expect(findBase62Bytes(base62(bytes), 16)).toEqual(bytes);
});

test.each([
  ['too short', 'A'.repeat(21)],
  ['too long', 'A'.repeat(23)],
  ['with a foreign character', `${'A'.repeat(21)}_`],
  ['larger than the bytes can be', 'z'.repeat(22)],
  ['empty', ''],
])('a text that is %s encodes no 16 bytes', (_, text) => {
  expect(findBase62Bytes(text, 16)).toBeNull();
});
