import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { base62, findBase62Bytes } from '../src/ids.ts';

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
