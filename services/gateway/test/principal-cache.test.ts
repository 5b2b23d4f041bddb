import { describe, expect, test } from '@jest/globals';
import { sha256 } from '@phds/service-kit/secrets';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { toCacheKey } from '../src/cache/authenticator.ts';
import { PrincipalCache } from '../src/cache/principal-cache.ts';
import type { Principal } from '../src/domain/principal.ts';

const TTL_MS = 50_000;
const TOKENS = 1_000;
const KEYS = Array.from({ length: TOKENS }, (_, index) => toCacheKey(sha256(`token ${index}`)));

const PRINCIPAL: Principal = {
  clientId: 'app_one',
  userId: 'usr_one',
  grantId: 'grt_one',
  familyId: 'fam_one',
  scopes: new Set(['read:heart']),
  expiresAt: Number.MAX_SAFE_INTEGER,
  grant: null,
  ledgerChecked: true,
  assertion: '',
  jkt: '',
};

test('entries that were stored together do not expire together', () => {
  const clock = new FakeClock(new Date());
  const cache = new PrincipalCache({ maxTokens: TOKENS, ttlMs: TTL_MS, clock });
  const countKnown = () => KEYS.filter((key) => cache.find(key) !== null).length;
  for (const key of KEYS) cache.put(key, PRINCIPAL, clock.now().getTime(), cache.generation);

  clock.advance(TTL_MS / 2);
  const known = [countKnown()];
  for (let second = 26; second <= 50; second += 1) {
    clock.advance(1_000);
    known.push(countKnown());
  }

  expect(known.at(0)).toBe(TOKENS);
  expect(known.at(-1)).toBe(0);
  // On average 40 of a thousand each second, over 25 seconds.
  const forgotten = known.slice(1).map((count, index) => (known[index] as number) - count);
  expect(Math.max(...forgotten)).toBeLessThan(80);
});

describe('the principal cache', () => {
  const clock = new FakeClock(new Date());
  const remember = (cache: PrincipalCache, key: string, principal: Partial<Principal>) =>
    cache.put(key, { ...PRINCIPAL, ...principal }, clock.now().getTime(), cache.generation);

  test('a lifetime of zero caches nothing', () => {
    const cache = new PrincipalCache({ maxTokens: 10, ttlMs: 0, clock });
    remember(cache, 'token', {});
    expect(cache.find('token')).toBeNull();
  });

  test('evicting an app takes the same time however many tokens it has', () => {
    const tokens = 50_000;
    const cache = new PrincipalCache({ maxTokens: tokens, ttlMs: TTL_MS, clock });
    const keys = Array.from({ length: tokens }, (_, index) => `key ${index}`);
    // The shortest of several runs: a busy machine makes some of them longer.
    const milliseconds = Array.from({ length: 5 }, () => {
      for (const key of keys) remember(cache, key, {});
      const begin = performance.now();
      cache.evict({ kind: 'client', value: 'app_one' });
      return performance.now() - begin;
    });
    expect(keys.some((key) => cache.find(key) !== null)).toBe(false);
    expect(Math.min(...milliseconds)).toBeLessThan(2);
  });

  test.each([
    ['family', 'fam_one'],
    ['grant', 'grt_one'],
    ['client', 'app_one'],
  ] as const)('an eviction of a %s removes the entries stored before it, and no others', (kind, value) => {
    const cache = new PrincipalCache({ maxTokens: 10, ttlMs: TTL_MS, clock });
    remember(cache, 'before', {});
    remember(cache, 'other', { clientId: 'app_two', familyId: 'fam_two', grantId: 'grt_two' });
    cache.evict({ kind, value });
    remember(cache, 'after', {});
    expect(['before', 'other', 'after'].map((key) => cache.find(key) !== null)).toEqual([false, true, true]);
    // Entries that were looked up since are still removed by the next eviction.
    cache.evict({ kind, value: 'another' });
    expect(cache.find('after')).not.toBeNull();
    cache.evict({ kind, value });
    expect(['other', 'after'].map((key) => cache.find(key) !== null)).toEqual([true, false]);
  });

  test('an eviction takes effect even after more evictions than are stored', () => {
    const cache = new PrincipalCache({ maxTokens: 10, ttlMs: TTL_MS, clock });
    remember(cache, 'before', {});
    cache.evict({ kind: 'grant', value: 'grt_one' });
    for (let index = 0; index < 20_000; index += 1) cache.evict({ kind: 'grant', value: `grt_${index}` });
    expect(cache.find('before')).toBeNull();
    remember(cache, 'after', {});
    expect(cache.find('after')).not.toBeNull();
  });
});
