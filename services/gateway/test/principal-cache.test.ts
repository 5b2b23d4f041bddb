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
};

test('facts that were asked for together are not forgotten together', () => {
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
  // Of a thousand in 25 seconds, 40 each.
  const forgotten = known.slice(1).map((count, index) => (known[index] as number) - count);
  expect(Math.max(...forgotten)).toBeLessThan(80);
});

describe('an eviction', () => {
  const clock = new FakeClock(new Date());
  const remember = (cache: PrincipalCache, key: string, principal: Partial<Principal>) =>
    cache.put(key, { ...PRINCIPAL, ...principal }, clock.now().getTime(), cache.generation);

  test('of an app costs the same however many tokens it has', () => {
    const tokens = 50_000;
    const cache = new PrincipalCache({ maxTokens: tokens, ttlMs: TTL_MS, clock });
    const keys = Array.from({ length: tokens }, (_, index) => `key ${index}`);
    // The shortest of several: a busy machine makes some of them longer.
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
  ] as const)('of a %s ends what was remembered before it, and nothing else', (kind, value) => {
    const cache = new PrincipalCache({ maxTokens: 10, ttlMs: TTL_MS, clock });
    remember(cache, 'before', {});
    remember(cache, 'other', { clientId: 'app_two', familyId: 'fam_two', grantId: 'grt_two' });
    cache.evict({ kind, value });
    remember(cache, 'after', {});
    expect(['before', 'other', 'after'].map((key) => cache.find(key) !== null)).toEqual([false, true, true]);
    // Those that were looked up meanwhile are ended by the next one all the same.
    cache.evict({ kind, value: 'another' });
    expect(cache.find('after')).not.toBeNull();
    cache.evict({ kind, value });
    expect(['other', 'after'].map((key) => cache.find(key) !== null)).toEqual([true, false]);
  });

  test('holds also after more evictions than are written down', () => {
    const cache = new PrincipalCache({ maxTokens: 10, ttlMs: TTL_MS, clock });
    remember(cache, 'before', {});
    cache.evict({ kind: 'grant', value: 'grt_one' });
    for (let index = 0; index < 20_000; index += 1) cache.evict({ kind: 'grant', value: `grt_${index}` });
    expect(cache.find('before')).toBeNull();
    remember(cache, 'after', {});
    expect(cache.find('after')).not.toBeNull();
  });
});
