import { createSecretKey, randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { sha256 } from '@phds/service-kit/secrets';
import { derivePair, findClaimed, newRefreshToken, verifyClaimed } from '../src/refresh-tokens.ts';
import type { TokenFamily } from '../src/token.ts';

const newKey = () => createSecretKey(randomBytes(32));
const key = newKey();
const first = newRefreshToken(key);
const next = derivePair(key, first, null).refresh;

/** The family after its first refresh. */
const family = {
  id: next.familyId,
  generation: 1,
  refreshHash: sha256(next.text),
  previousHash: sha256(first.text),
  rotatedForMs: 5,
} as unknown as TokenFamily;

const verify = (text: string, using = key) => {
  const claimed = findClaimed(text);
  return claimed && verifyClaimed(using, claimed, family);
};

test('a used token is recognised without a row of its own', () => {
  expect(verify(next.text)).toMatchObject({ familyId: family.id, usedForMs: null });
  expect(verify(first.text)).toMatchObject({ familyId: family.id, usedForMs: 5 });
  expect(verifyClaimed(key, first, { ...family, generation: 2 })?.usedForMs).toBe(Number.POSITIVE_INFINITY);
});

test('a change of the key leaves the current token and the one before it known, and no others', () => {
  expect(verify(next.text, newKey())?.usedForMs).toBeNull();
  expect(verify(first.text, newKey())?.usedForMs).toBe(5);
  expect(verifyClaimed(newKey(), first, { ...family, generation: 2 })).toBeNull();
});

test('a token that the family does not have yet is unknown', () => {
  expect(verify(derivePair(key, next, null).refresh.text)).toBeNull();
});

test('any single changed character makes a token unknown', () => {
  for (let i = 0; i < first.text.length; i += 1) {
    const other = first.text[i] === '1' ? '2' : '1';
    expect(verify(first.text.slice(0, i) + other + first.text.slice(i + 1))).toBeNull();
  }
});

test.each([
  '',
  `${first.text}x`,
  first.text.replace('_0_', '_00_'),
  first.text.replace('_0_', '_9999999999_'),
])('%j is no refresh token', (text) => expect(findClaimed(text)).toBeNull());
