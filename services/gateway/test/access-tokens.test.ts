import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import {
  type IntrospectResponse,
  type Principal,
  TokenStatus,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { EvictionSchema } from '@phds/contracts/phds/events/v1/eviction_pb';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { AccessTokens, applyEviction } from '../src/cache/access-tokens.ts';
import { liveToken } from './test-gateway.ts';

const TTL_MS = 50_000;
const silent = createLogger({ service: 'gateway', level: 'silent' });

/** A cache in front of an authorization that knows every token, with these facts, or answers what the test says. */
function openCache({ maxTokens = 10, ttlMs = TTL_MS } = {}) {
  const clock = new FakeClock(new Date());
  const after = (ms: number) => timestampFromMs(clock.now().getTime() + ms);
  const expiresAt = after(86_400_000);
  let facts: Partial<Omit<Principal, 'grant'>> = {};
  const authorization = {
    asked: [] as Uint8Array[],
    answer: async () => liveToken({ principal: { expiresAt, ...facts } }),
  };
  const introspect = async ({ request }: { request: { tokenHash?: Uint8Array } }) => {
    authorization.asked.push(request.tokenHash ?? new Uint8Array());
    return authorization.answer();
  };
  const tokens = new AccessTokens({ tokens: { introspect }, maxTokens, ttlMs, clock });
  const isCached = async (token: string) => (await tokens.authenticate(token)).fromCache;
  const remember = async (principal: typeof facts = {}) => {
    facts = principal;
    const token = newSecret('access_token');
    await isCached(token);
    return token;
  };
  return { tokens, clock, after, authorization, remember, isCached };
}

describe('facts', () => {
  test("are asked for by the token's hash, once for requests at the same time", async () => {
    const { authorization, isCached } = openCache();
    const token = newSecret('access_token');
    expect(await Promise.all(Array.from({ length: 20 }, () => isCached(token)))).not.toContain(true);
    expect(await isCached(token)).toBe(true);
    expect(authorization.asked).toEqual([sha256(token)]);
  });

  test('that were cached together do not expire together', async () => {
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

  test('expire with their token', async () => {
    const { clock, after, remember, isCached } = openCache();
    const token = await remember({ expiresAt: after(10_000) });
    expect(await isCached(token)).toBe(true);
    clock.advance(10_000);
    expect(await isCached(token)).toBe(false);
  });

  test('are not cached with a lifetime of zero', async () => {
    const { remember, isCached } = openCache({ ttlMs: 0 });
    expect(await isCached(await remember())).toBe(false);
  });

  test.each([TokenStatus.DEAD, TokenStatus.EXPIRED, TokenStatus.UNSPECIFIED])(
    'are not cached for status %i: each request asks again',
    async (status) => {
      const { authorization, tokens } = openCache();
      authorization.answer = async () => ({ ...liveToken(), status });
      const token = newSecret('access_token');
      for (let request = 1; request <= 2; request += 1) {
        await expect(tokens.authenticate(token)).rejects.toThrow();
        expect(authorization.asked).toHaveLength(request);
      }
    },
  );
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

  test.each<[string, (token: string) => Parameters<typeof create<typeof EvictionSchema>>[1], boolean]>([
    ['its token', (token) => ({ subject: { case: 'tokenHash', value: sha256(token) } }), false],
    ['its grant', () => ({ subject: { case: 'grantId', value: 'grt_one' } }), false],
    ['another token', () => ({ subject: { case: 'tokenHash', value: sha256('x') } }), true],
    ['nothing at all', () => ({}), false],
  ])('that is published, of %s', async (_, toSubject, isKept) => {
    const { tokens, remember, isCached } = openCache();
    const token = await remember();
    applyEviction(toBinary(EvictionSchema, create(EvictionSchema, toSubject(token))), tokens, silent);
    expect(await isCached(token)).toBe(isKept);
  });

  test('that is unreadable clears the whole cache', async () => {
    const { tokens, remember } = openCache();
    await remember();
    applyEviction(Buffer.from([0xff, 0xff, 0xff]), tokens, silent);
    expect(tokens.size).toBe(0);
  });

  test('during a call to authorization keeps that answer out of the cache and away from later requests', async () => {
    const { authorization, tokens } = openCache();
    const slow = Promise.withResolvers<IntrospectResponse>();
    authorization.answer = () => slow.promise;
    const token = newSecret('access_token');
    const first = tokens.authenticate(token);
    tokens.evict('grt_one');
    authorization.answer = async () => liveToken({ principal: { grantId: 'grt_later' } });
    expect((await tokens.authenticate(token)).principal.grantId).toBe('grt_later');
    tokens.clear();
    slow.resolve(liveToken());
    expect((await first).principal.grantId).toBe('grt_one');
    expect(tokens.size).toBe(0);
  });
});
