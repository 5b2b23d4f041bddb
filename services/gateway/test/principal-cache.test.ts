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

test('a token in steady use is asked about once in each lifetime, and tokens cached together keep their spread', () => {
  const clock = new FakeClock(new Date());
  const cache = new PrincipalCache({ maxTokens: TOKENS, ttlMs: TTL_MS, clock });
  const asked: number[] = [];
  for (let second = 0; second < 550; second += 1) {
    const missing = KEYS.filter((key) => cache.find(key) === null);
    for (const key of missing) cache.put(key, PRINCIPAL, clock.now().getTime(), cache.generation);
    asked.push(missing.length);
    clock.advance(1_000);
  }

  const [first, ...renewed] = asked;
  expect(first).toBe(TOKENS);
  expect(renewed.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(11 * TOKENS);
  expect(Math.max(...renewed)).toBeLessThan(80);
});

describe('an entry that is used in the last tenth of the longest lifetime', () => {
  const clock = new FakeClock(new Date());
  const [key = ''] = KEYS;
  const cache = new PrincipalCache({ maxTokens: TOKENS, ttlMs: TTL_MS, clock });
  const put = () => cache.put(key, PRINCIPAL, clock.now().getTime(), cache.generation);
  /** Uses the token each second until it is due, and returns the seconds that passed. */
  const useUntilDue = () => {
    for (let second = 0; second <= 50; second += 1) {
      expect(cache.find(key)).not.toBeNull();
      const due = cache.takeDue();
      if (due.length > 0) {
        expect(due).toEqual([key]);
        return second;
      }
      clock.advance(1_000);
    }
    throw new Error('the token was never due');
  };

  test('is due once, and after a renewal again, 45 seconds later each time', () => {
    put();
    const first = useUntilDue();
    expect(first).toBeGreaterThanOrEqual(20);
    expect(first).toBeLessThanOrEqual(45);
    expect([cache.find(key) !== null, cache.takeDue()]).toEqual([true, []]);
    for (let renewal = 0; renewal < 5; renewal += 1) {
      put();
      expect(useUntilDue()).toBe(45);
    }
  });
});

describe('the list of tokens that are due', () => {
  /** A cache whose entries have all been used, 4 seconds before their end. */
  const allDue = (count: number) => {
    const clock = new FakeClock('2026-03-01T12:00:00Z');
    const cache = new PrincipalCache({ maxTokens: count, ttlMs: TTL_MS, clock });
    // Entries of keys with the same first character end together.
    const keys = Array.from({ length: count }, (_, index) => `\0 ${index}`);
    const put = (key: string, familyId: string) =>
      cache.put(key, { ...PRINCIPAL, familyId }, clock.now().getTime(), cache.generation);
    for (const key of keys) put(key, `family of ${key}`);
    clock.advance(46_000);
    const useAll = () => expect(keys.every((key) => cache.find(key) !== null)).toBe(true);
    useAll();
    return { clock, cache, keys, put, useAll };
  };

  test('leaves out what was renewed, evicted or forgotten since, and what has ended', () => {
    const { clock, cache, keys, put } = allDue(6);
    const [renewed = '', evicted = '', forgotten = '', ...due] = keys;
    cache.evict({ kind: 'family', value: `family of ${evicted}` });
    cache.forget(forgotten);
    put(renewed, '');
    expect(cache.takeDue(2)).toEqual(due.slice(0, 2));
    clock.advance(9_000);
    expect(cache.takeDue()).toEqual([]);
  });

  test('is limited, and takes the others at their next use when there is room', () => {
    const { cache, useAll } = allDue(3_000);
    expect(cache.takeDue()).toHaveLength(2_500);
    useAll();
    expect(cache.takeDue()).toHaveLength(500);
  });
});

describe('the principal cache', () => {
  const clock = new FakeClock(new Date());
  const remember = (cache: PrincipalCache, key: string, principal: Partial<Principal>) =>
    cache.put(key, { ...PRINCIPAL, ...principal }, clock.now().getTime(), cache.generation);

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
