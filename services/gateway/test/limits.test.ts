import { create, toBinary } from '@bufbuild/protobuf';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ClientCredentials } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { EvictionSchema } from '@phds/contracts/phds/events/v1/eviction_pb';
import { unauthorized } from '@phds/service-kit/errors';
import { openRedis, type RedisConnection } from '@phds/service-kit/redis';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { CLIENT_ASSERTION_TYPE } from '@phds/service-kit/trust/client-assertion';
import { eventually } from '@phds/test-kit/conditions';
import { createTestRedis, describeWithRedis } from '@phds/test-kit/redis';
import { scrape } from '@phds/test-kit/scrape';
import { Redis } from 'ioredis';
import { KnownClients, Limit } from '../src/limits/limits.ts';
import {
  bearer,
  documentOf,
  liveToken,
  repeatRequest,
  shareTestGateway,
  startTestGateway,
  type TestGateway,
  throwing,
} from './test-gateway.ts';

describe('a limit', () => {
  const silent = createLogger({ service: 'gateway', level: 'silent' });
  // With the default limit, a busy machine could make a limit count locally.
  const PATIENT = { commandTimeoutMs: 30_000 };

  async function countAllowed(limit: Limit, attempts: number, key = 'k'): Promise<number> {
    const taken = await Promise.all(Array.from({ length: attempts }, () => limit.take(key)));
    return taken.filter(({ allowed }) => allowed).length;
  }

  async function countCommands(client: RedisConnection['client']): Promise<number> {
    return Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
  }

  test.each([1, 3, 99, 255, 1_050])('allows exactly so many points: %i', async (perMinute) => {
    expect(await countAllowed(new Limit('l', perMinute, null), perMinute + 50)).toBe(perMinute);
  });

  test.each([100, 400])('of %i counts keys separately and reports what is left', async (perMinute) => {
    const limit = new Limit('l', perMinute, null);
    expect((await limit.take('one')).remaining).toBe(perMinute - 1);
    expect((await limit.take('one', 5)).remaining).toBe(perMinute - 6);
    const other = await limit.take('other');
    expect(other.remaining).toBe(perMinute - 1);
    expect(other.resetSeconds).toBeGreaterThan(0);
    expect(other.resetSeconds).toBeLessThanOrEqual(60);
  });

  test('knows a key that is used up without taking from it', async () => {
    const limit = new Limit('l', 2, null);
    await limit.take('one');
    expect(limit.findRefusal('one')).toBeNull();
    await limit.take('one');
    expect(limit.findRefusal('one')).toMatchObject({ allowed: false, remaining: 0 });
    expect(limit.findRefusal('other')).toBeNull();
  });

  describeWithRedis('of several gateways', () => {
    test('never allows more in total, and wastes at most one lease each', async () => {
      await using server = await createTestRedis();
      await using one = openRedis(server.url, silent, PATIENT);
      await using two = openRedis(server.url, silent, PATIENT);
      await eventually(() => one.isReady() && two.isReady());
      const limits = [one, two].map((redis) => new Limit('shared', 1_000, redis));
      const allowed = await Promise.all(limits.map((limit) => countAllowed(limit, 900)));
      const together = allowed.reduce((sum, count) => sum + count, 0);
      expect(together).toBeLessThanOrEqual(1_000);
      expect(together).toBeGreaterThanOrEqual(980);
    });

    test.each([3, 1_000])(
      'of %i refuses a key that is used up without a call to Redis',
      async (perMinute) => {
        await using server = await createTestRedis();
        await using redis = openRedis(server.url, silent, PATIENT);
        await eventually(() => redis.isReady());
        const limit = new Limit('l', perMinute, redis);
        expect(await countAllowed(limit, perMinute + 1)).toBe(perMinute);
        const before = await countCommands(redis.client);
        expect(await countAllowed(limit, 50)).toBe(0);
        // INFO itself counts as a command.
        expect(await countCommands(redis.client)).toBe(before + 1);
        // Other keys still need a call.
        expect((await limit.take('other')).allowed).toBe(true);
      },
    );
  });
});

describe('limits of data requests', () => {
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

  const statuses = (gateway: TestGateway, count: number, init: RequestInit = { headers: bearer(token) }) =>
    repeatRequest(gateway, HEART, count, init);

  describe('requests of an app', () => {
    test('beyond the limit for one user are refused and told when to retry', async () => {
      await using gateway = await startTestGateway({ LIMITS: 'app-user=3' });
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
      await using gateway = await startTestGateway({ LIMITS: 'app=2' });
      answer(gateway);
      expect(await statuses(gateway, 3)).toEqual([200, 200, 429]);
      const { headers } = await gateway.fetch(HEART, { headers: bearer(token) });
      expect(headers.get('ratelimit-policy')).toBe('"app";q=2;w=60');
    });

    test("for a user over its limit do not use up the app's limit for other users", async () => {
      await using gateway = await startTestGateway({
        LIMITS: 'app-user=2,app=4',
      });
      const ofGrace = newSecret('access_token');
      answer(gateway, { [sha256(ofGrace).toString('hex')]: 'grace' });
      expect(await statuses(gateway, 20)).toEqual([200, 200, ...Array(18).fill(429)]);
      expect(await statuses(gateway, 2, { headers: bearer(ofGrace) })).toEqual([200, 200]);
    });
  });

  describe('requests of all apps for one person', () => {
    const ENV = {
      LIMITS: 'user-all-apps=3,app-user=2,app=4',
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
    test('gateways share limits through Redis, count separately while it is away, and share again', async () => {
      await using redis = await createTestRedis();
      const env = { REDIS_URL: redis.url, LIMITS: 'app-user=4' };
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
      await eventually(async () => {
        const alone = { headers: bearer() };
        expect(await statuses(one, 5, alone)).toEqual([200, 200, 200, 200, 429]);
        expect(await statuses(two, 1, alone)).toEqual([200]);
      });
      await redis.start();
      await eventually(async () => {
        const again = { headers: bearer() };
        const shared = [...(await statuses(one, 2, again)), ...(await statuses(two, 3, again))];
        expect(shared).toEqual([200, 200, 200, 200, 429]);
      });
    });

    test('an eviction arrives, and a reconnection clears the cache', async () => {
      await using redis = await createTestRedis();
      await using gateway = await startTestGateway({ REDIS_URL: redis.url });
      answer(gateway);
      const admin = new Redis(redis.url);
      const eviction = create(EvictionSchema, { subject: { case: 'grantId', value: 'grt_one' } });
      // The gateway may not have subscribed yet.
      await eventually(async () => {
        await admin.publish('phds.events.v1', Buffer.from(toBinary(EvictionSchema, eviction)));
        return eventually(() => gateway.service.accessTokens.counts.evictions > 0, { timeoutMs: 1_000 });
      });
      admin.disconnect();
      await redis.stop();
      await statuses(gateway, 1);
      expect(gateway.service.accessTokens.size).toBe(1);
      await redis.start();
      await eventually(() => gateway.service.accessTokens.size === 0);
    });
  });
});

describe('known clients', () => {
  const gateway = shareTestGateway({ LIMITS: 'client=5' });
  /** The secret that authorization accepts. */
  let secret: string;

  beforeEach(() => {
    secret = 'first';
    const judge = (client: ClientCredentials | undefined) => {
      if (client?.clientSecret !== secret) throw unauthorized();
      return { clientId: client.clientId ?? '' };
    };
    gateway.backends.answer({
      authenticateClient: ({ client }) => judge(client),
    });
  });

  function send(clientId: string, clientSecret: string, path = 'token'): Promise<Response> {
    const body = new URLSearchParams({ client_id: clientId, client_secret: clientSecret });
    return gateway.fetch(`/oauth/${path}`, { method: 'POST', body });
  }

  const remaining = (answer: Response) => /r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1];

  test('credentials are authenticated once a request', async () => {
    const answers = [await send('app_1', 'first'), await send('app_1', 'first', 'introspect')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map(remaining)).toEqual(['4', '3']);
    expect(gateway.backends.callsOf('authenticateClient')).toEqual([]);
  });

  test.each(['token', 'introspect', 'par'])(
    'a replaced secret gets the uniform 401 at /oauth/%s, and takes at most one request from the limit of its app',
    async (path) => {
      const app = `app_of_${path}`;
      expect(remaining(await send(app, 'first'))).toBe('4');
      secret = 'second';
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const refused = await send(app, 'first', path);
        expect(refused.status).toBe(401);
        expect([...refused.headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
      }
      expect(remaining(await send(app, 'second'))).toBe('2');
    },
  );

  test('are remembered for the client id that they came with, and for no other that an answer names', async () => {
    gateway.backends.answer({ authenticateClient: () => ({ clientId: 'app_6' }) });
    await send('app_5', 'first');
    gateway.backends.answer({ authenticateClient: () => ({ clientId: 'app_5' }) });
    expect(remaining(await send('app_5', 'first'))).toBe('4');
  });

  test('are not forgotten for any number of addresses that name apps without a secret', () => {
    const clients = new KnownClients();
    clients.add({ clientId: 'app_1', clientSecret: 's' }, 'app_1');
    for (let i = 0; i <= 10_000; i += 1) clients.add({ clientId: 'app_2', address: `${i}` }, 'app_2');
    expect(clients.find({ clientId: 'app_1', clientSecret: 's' })).toBe('app_1');
    expect(clients.find({ clientId: 'app_2', address: '10000' })).toBe('app_2');
  });

  test('an app with a key is refused beyond its limit, by a used-up assertion without any effect', async () => {
    gateway.backends.answer({ authenticateClient: ({ client }) => ({ clientId: client?.clientId ?? '' }) });
    const subject = Buffer.from('{"sub":"app_4"}').toString('base64url');
    const assert = () => {
      const body = { client_assertion: `e30.${subject}.x`, client_assertion_type: CLIENT_ASSERTION_TYPE };
      return gateway.fetch('/oauth/token', { method: 'POST', body: new URLSearchParams(body) });
    };
    const answers: Response[] = [];
    for (let i = 0; i < 6; i += 1) answers.push(await assert());
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(answers.map(remaining)).toEqual(['4', '3', '2', '1', '0', '0']);
    expect(Number(answers[5]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(gateway.backends.callsOf('issueToken')).toHaveLength(5);
    const countRefused = async () =>
      (await scrape(`http://127.0.0.1:${gateway.service.probePort}`)).sum('phds_rate_limited_total', {
        limit: 'client',
      });
    const refused = await countRefused();
    gateway.backends.answer({ authenticateClient: throwing(unauthorized()) });
    const forged = await assert();
    expect([forged.status, forged.headers.get('ratelimit')]).toEqual([401, null]);
    expect([refused, await countRefused()]).toEqual([1, 1]);
  });
});
