import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import type { Principal } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { newSecret } from '@phds/service-kit/secrets';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { AccessTokens } from '../src/cache/access-tokens.ts';
import { liveToken } from './test-gateway.ts';

const TTL_MS = 50_000;

/** A cache in front of an authorization that knows every token, with these facts. */
function openCache({ maxTokens = 10, ttlMs = TTL_MS } = {}) {
  const clock = new FakeClock(new Date());
  const expiresAt = timestampFromMs(clock.now().getTime() + 86_400_000);
  let facts: Partial<Omit<Principal, 'grant'>> = {};
  const introspect = async () => liveToken({ principal: { expiresAt, ...facts } });
  const tokens = new AccessTokens({ tokens: { introspect }, maxTokens, ttlMs, clock });
  const isCached = async (token: string) => (await tokens.authenticate(token)).fromCache;
  const remember = async (principal: typeof facts = {}) => {
    facts = principal;
    const token = newSecret('access_token');
    await isCached(token);
    return token;
  };
  return { tokens, clock, remember, isCached };
}

test('facts that were cached together do not expire together', async () => {
  const { clock, remember, isCached } = openCache({ maxTokens: 1_000 });
  let cached = await Promise.all(Array.from({ length: 1_000 }, () => remember()));
  clock.advance(TTL_MS / 2);
  const expired: number[] = [];
  for (let second = 25; second <= 50; second += 1) {
    const found = await Promise.all(cached.map(isCached));
    expired.push(found.filter((isFound) => !isFound).length);
    cached = cached.filter((_, index) => found[index]);
    clock.advance(1_000);
  }
  expect(expired[0]).toBe(0);
  expect(cached).toEqual([]);
  // On average 40 of a thousand each second, over 25 seconds.
  expect(Math.max(...expired)).toBeLessThan(80);
});

test('a lifetime of zero caches nothing', async () => {
  const { remember, isCached } = openCache({ ttlMs: 0 });
  expect(await isCached(await remember())).toBe(false);
});

describe('an eviction', () => {
  test('of an app takes the same time however many tokens it has', async () => {
    const { tokens, remember, isCached } = openCache({ maxTokens: 20_000 });
    const remembered: string[] = [];
    for (let index = 0; index < 20_000; index += 1) remembered.push(await remember());
    const begin = performance.now();
    // A scan of all tokens for each of these would take seconds.
    for (let index = 0; index < 10_000; index += 1) tokens.evict(`grt_${index}`);
    tokens.evict('app_one');
    expect(performance.now() - begin).toBeLessThan(500);
    expect(await Promise.all(remembered.slice(0, 100).map(isCached))).not.toContain(true);
  });

  test.each(['fam_one', 'grt_one', 'app_one'])(
    'of %s removes the facts cached before it, and no others',
    async (id) => {
      const { tokens, remember, isCached } = openCache();
      const before = await remember();
      const other = await remember({ clientId: 'app_two', familyId: 'fam_two', grantId: 'grt_two' });
      tokens.evict(id);
      const after = await remember();
      expect([await isCached(other), await isCached(after)]).toEqual([true, true]);
      // Facts that were looked up since are still removed by the next eviction.
      tokens.evict('another');
      expect([await isCached(after), await isCached(before)]).toEqual([true, false]);
      tokens.evict(id);
      expect([await isCached(other), await isCached(after)]).toEqual([true, false]);
    },
  );

  test('takes effect even after more evictions than are stored', async () => {
    const { tokens, remember, isCached } = openCache();
    const before = await remember();
    tokens.evict('grt_one');
    for (let index = 0; index < 40_000; index += 1) tokens.evict(`grt_${index}`);
    expect(await isCached(before)).toBe(false);
    expect(await isCached(await remember())).toBe(true);
  });
});
