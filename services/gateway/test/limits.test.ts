import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { EvictionSchema } from '@phds/contracts/phds/events/v1/eviction_pb';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import { eventually } from '@phds/test-kit/conditions';
import { createTestRedis, describeWithRedis } from '@phds/test-kit/redis';
import { Redis } from 'ioredis';
import { toCacheKey } from '../src/cache/authenticator.ts';
import { bearer, documentOf, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

const HEART = '/api/v1/health-data/heart';
const token = newSecret('access_token');

function answer(gateway: TestGateway, users: Readonly<Record<string, string>> = {}): void {
  const byHash = new Map(Object.entries(users));
  gateway.backends.answer({
    introspect: ({ tokenHash }) => {
      const userId = byHash.get(Buffer.from(tokenHash).toString('hex')) ?? 'ada';
      return liveToken({ principal: { userId } });
    },
    read: () => documentOf({ data: [] }),
  });
}

const statuses = async (
  gateway: TestGateway,
  count: number,
  init: RequestInit = { headers: bearer(token) },
) => {
  const seen: number[] = [];
  for (let i = 0; i < count; i += 1) seen.push((await gateway.fetch(HEART, init)).status);
  return seen;
};

describe('requests of an app', () => {
  test('beyond the limit for one user are refused and told when to retry', async () => {
    await using gateway = await startTestGateway({ LIMIT_APP_USER_PER_MINUTE: '3' });
    answer(gateway);
    expect(await statuses(gateway, 4)).toEqual([200, 200, 200, 429]);
    const response = await gateway.fetch(HEART, { headers: bearer(token) });
    expect(await response.json()).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(response.headers.get('ratelimit-policy')).toBe('"app-user";q=3;w=60');
    expect(response.headers.get('ratelimit')).toMatch(/^"app-user";r=0;t=\d+$/);
    expect(response.headers.get('api-version')).toBe('1');
    // Version, route and method are checked before the limit.
    expect((await gateway.fetch('/api/v1/nothing', { headers: bearer(token) })).status).toBe(404);
  });

  test('beyond the limit of the app over all users are refused', async () => {
    await using gateway = await startTestGateway({ LIMIT_APP_PER_MINUTE: '2' });
    answer(gateway);
    expect(await statuses(gateway, 3)).toEqual([200, 200, 429]);
    const { headers } = await gateway.fetch(HEART, { headers: bearer(token) });
    expect(headers.get('ratelimit-policy')).toBe('"app";q=2;w=60');
  });

  test("for a user over its limit do not use up the app's limit for other users", async () => {
    await using gateway = await startTestGateway({
      LIMIT_APP_USER_PER_MINUTE: '2',
      LIMIT_APP_PER_MINUTE: '4',
    });
    const ofGrace = newSecret('access_token');
    answer(gateway, { [sha256(ofGrace).toString('hex')]: 'grace' });
    expect(await statuses(gateway, 20)).toEqual([200, 200, ...Array(18).fill(429)]);
    expect(await statuses(gateway, 2, { headers: bearer(ofGrace) })).toEqual([200, 200]);
  });
});

describe('requests of all apps for one person', () => {
  const ENV = {
    LIMIT_USER_ALL_APPS_PER_MINUTE: '3',
    LIMIT_APP_USER_PER_MINUTE: '2',
    LIMIT_APP_PER_MINUTE: '4',
  };

  /** Gives each app and user one token; the apps' own tokens have no user. */
  function connect(gateway: TestGateway) {
    const principals = new Map<string, { clientId: string; userId: string }>();
    gateway.backends.answer({
      introspect: ({ tokenHash }) =>
        liveToken({ principal: principals.get(Buffer.from(tokenHash).toString('hex')) ?? {} }),
      read: () => documentOf({ data: [] }),
    });
    return (clientId: string, userId: string) => {
      const issued = newSecret('access_token');
      principals.set(sha256(issued).toString('hex'), { clientId, userId });
      return { headers: bearer(issued) };
    };
  }

  test("are refused beyond a limit of their own, which the response names, and do not use up any app's limit", async () => {
    await using gateway = await startTestGateway(ENV);
    const tokenOf = connect(gateway);
    expect(await statuses(gateway, 3, tokenOf('app_1', 'ada'))).toEqual([200, 200, 429]);
    expect(await statuses(gateway, 1, tokenOf('app_2', 'ada'))).toEqual([200]);
    const refused = await gateway.fetch(HEART, tokenOf('app_3', 'ada'));
    expect(refused.status).toBe(429);
    expect(refused.headers.get('ratelimit-policy')).toBe('"user-all-apps";q=3;w=60');
    expect(refused.headers.get('ratelimit')).toMatch(/^"user-all-apps";r=0;t=\d+$/);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    for (const userId of ['grace', 'emmy']) {
      expect(await statuses(gateway, 2, tokenOf('app_3', userId))).toEqual([200, 200]);
    }
  });

  test("do not include an app's own requests, which have no user", async () => {
    await using gateway = await startTestGateway(ENV);
    const tokenOf = connect(gateway);
    for (const clientId of ['app_1', 'app_2']) {
      const seen = await statuses(gateway, 2, tokenOf(clientId, ''));
      expect(seen).not.toContain(429);
    }
  });
});

describeWithRedis('with Redis', () => {
  test('gateways share limits through Redis, and count separately when Redis is unavailable', async () => {
    await using redis = await createTestRedis();
    const env = { REDIS_URL: redis.url, LIMIT_APP_USER_PER_MINUTE: '4' };
    await using one = await startTestGateway(env);
    await using two = await startTestGateway(env);
    // Each token belongs to a user who has not been counted before.
    for (const gateway of [one, two]) {
      gateway.backends.answer({
        introspect: ({ tokenHash }) =>
          liveToken({ principal: { userId: Buffer.from(tokenHash).toString('hex') } }),
        read: () => documentOf({ data: [] }),
      });
    }
    const admin = new Redis(redis.url);
    // A gateway counts by itself until it is connected.
    for (const gateway of [one, two]) {
      await eventually(async () => {
        await admin.flushdb();
        await statuses(gateway, 1, { headers: bearer() });
        return (await admin.dbsize()) > 0;
      });
    }
    const init = { headers: bearer() };
    const seen = [...(await statuses(one, 2, init)), ...(await statuses(two, 3, init))];
    expect(seen).toEqual([200, 200, 200, 200, 429]);
    admin.disconnect();
    await redis.stop();
    await eventually(async () => expect(await statuses(two, 1)).toEqual([200]));
  });

  test('an eviction removes a cache entry, and a reconnection clears the cache', async () => {
    await using redis = await createTestRedis();
    await using gateway = await startTestGateway({ REDIS_URL: redis.url });
    answer(gateway);
    const admin = new Redis(redis.url);
    const isCached = () => gateway.service.cache.find(toCacheKey(sha256(token))) !== null;
    const eviction = create(EvictionSchema, { subject: { case: 'grantId', value: 'grt_one' } });
    await eventually(async () => {
      await statuses(gateway, 1);
      await admin.publish('phds.events.v1', Buffer.from(toBinary(EvictionSchema, eviction)));
      return eventually(() => !isCached(), { timeoutMs: 1_000 });
    });
    // An eviction of an earlier round may still arrive.
    await eventually(async () => {
      await statuses(gateway, 1);
      return isCached();
    });
    admin.disconnect();
    await redis.stop();
    await statuses(gateway, 1);
    expect(gateway.service.cache.size).toBe(1);
    await redis.start();
    await eventually(() => gateway.service.cache.size === 0);
  });
});
