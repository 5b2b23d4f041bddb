import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AppError, unauthorized } from '@phds/service-kit/errors';
import { newSecret } from '@phds/service-kit/secrets';
import { CLIENT_ASSERTION_TYPE } from '@phds/service-kit/trust/client-assertion';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createTestRedis, describeWithRedis } from '@phds/test-kit/redis';
import { Redis } from 'ioredis';
import { type LoggedRequest, RequestLog, type SharedRequestLog } from '../src/usage/request-log.ts';
import type { Answers } from './fake-backends.ts';
import {
  bearer,
  documentOf,
  liveToken,
  startTestGateway,
  type TestGateway,
  throwing,
} from './test-gateway.ts';

describe('the request log', () => {
  const HOUR_MS = 3_600_000;

  const clock = new FakeClock(new Date('2026-03-01T10:00:00Z'));
  let number = 0;

  function request(changes: Partial<LoggedRequest> = {}): LoggedRequest {
    number += 1;
    const at = clock.now().getTime() + number;
    const endpoint = '/api/v1/mood';
    return {
      requestId: `req_${number}`,
      at,
      method: 'GET',
      endpoint,
      status: 200,
      code: null,
      ms: 3,
      ...changes,
    };
  }

  /** Stands for Redis: what every gateway stores in it is in one list, unless it is down. */
  class FakeSharedLog implements SharedRequestLog {
    readonly stored = new Map<string, LoggedRequest[]>();
    down = false;
    /** Whether Redis stores the requests and its answer is lost. */
    losesAnswers = false;

    async append(requests: ReadonlyMap<string, readonly LoggedRequest[]>): Promise<void> {
      if (this.down) throw new Error('down');
      for (const [app, added] of requests) this.stored.set(app, [...(this.stored.get(app) ?? []), ...added]);
      if (this.losesAnswers) throw new Error('timeout');
    }

    async find(clientId: string): Promise<LoggedRequest[] | null> {
      return this.down ? null : (this.stored.get(clientId) ?? []);
    }
  }

  let shared: FakeSharedLog;
  let log: RequestLog;
  beforeEach(() => {
    shared = new FakeSharedLog();
    log = new RequestLog({ shared, clock });
  });
  afterEach(() => {
    number = 0;
  });

  const idsOf = async (from: RequestLog, clientId = 'app_1') =>
    (await from.find(clientId)).requests.map(({ requestId }) => requestId);

  test('keeps the requests of an app when others, who only know its id, send more than are kept', async () => {
    log.add('app_1', request());
    for (let i = 0; i < 300; i += 1) log.add('app_1', request({ status: 400 }), false);
    await log.handOver();
    const ids = await idsOf(log);
    expect([ids.length, ids.at(-1), ids[0], ids.at(-2)]).toEqual([51, 'req_1', 'req_301', 'req_252']);
    for (let i = 0; i < 300; i += 1) log.add('app_1', request());
    expect(await idsOf(log)).toHaveLength(200);
  });

  test('keeps requests while Redis is down, says that it is not complete, and moves them when Redis is back', async () => {
    shared.down = true;
    log.add('app_1', request());
    await expect(log.handOver()).rejects.toThrow('down');
    log.add('app_1', request());
    await expect(log.handOver()).rejects.toThrow('down');
    expect((await log.find('app_1')).complete).toBe(false);
    expect(await idsOf(log)).toEqual(['req_2', 'req_1']);
    shared.down = false;
    await log.handOver();
    expect(shared.stored.get('app_1')?.map(({ requestId }) => requestId)).toEqual(['req_1', 'req_2']);
    expect(await log.find('app_1')).toMatchObject({ complete: true });
  });

  test('shows a request once when Redis stored it and the answer was lost', async () => {
    shared.losesAnswers = true;
    log.add('app_1', request());
    await expect(log.handOver()).rejects.toThrow('timeout');
    shared.losesAnswers = false;
    await log.handOver();
    expect(shared.stored.get('app_1')).toHaveLength(2);
    expect(await idsOf(log)).toEqual(['req_1']);
  });

  test('keeps the latest 200 requests of an app, and of at most 1,000 apps in memory', async () => {
    log = new RequestLog({ shared: null, clock });
    for (let i = 0; i < 150; i += 1) log.add('app_1', request());
    await log.handOver();
    for (let i = 0; i < 150; i += 1) log.add('app_1', request());
    const ids = await idsOf(log);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([200, 'req_300', 'req_101']);
    for (let i = 0; i < 1_000; i += 1) {
      log.add(`app_other_${i}`, request());
      await log.handOver();
    }
    expect(await idsOf(log)).toEqual([]);
    expect(await idsOf(log, 'app_other_0')).toHaveLength(1);
  });

  test('forgets a request after 24 hours', async () => {
    log.add('app_1', request({ at: clock.now().getTime() }));
    await log.handOver();
    clock.advance(24 * HOUR_MS);
    expect(await idsOf(log)).toHaveLength(1);
    clock.advance(1);
    expect(await idsOf(log)).toEqual([]);
  });
});

describe('the list of requests', () => {
  interface List {
    readonly data: (Omit<LoggedRequest, 'at'> & { readonly at: string })[];
    readonly pagination: unknown;
    readonly complete: boolean;
  }

  const token = newSecret('access_token');
  /** The app of the test gateway's tokens. */
  const REQUESTS = '/developer/apps/app_one/requests';

  const live: Answers = {
    introspect: () => liveToken({ principal: { scopes: ['read:mood', 'read:medications'] } }),
    read: () => documentOf({ data: [{ value: 'glum' }] }),
  };

  async function list(gateway: TestGateway, query = ''): Promise<Response> {
    const session = await gateway.sessions.issueSession('dev');
    return gateway.fetch(REQUESTS + query, { headers: { authorization: `Bearer ${session}` } });
  }

  async function find(gateway: TestGateway, query = ''): Promise<List> {
    const response = await list(gateway, query);
    expect(response.status).toBe(200);
    return (await response.json()) as List;
  }

  const short = ({ data }: List) =>
    data.map(({ method, endpoint, status, code }) => `${method} ${endpoint} ${status} ${code ?? ''}`.trim());

  describe('the requests of an app', () => {
    let gateway: TestGateway;
    beforeAll(async () => {
      gateway = await startTestGateway();
    });
    afterAll(async () => gateway[Symbol.asyncDispose]());

    const read = async (path: string, init: RequestInit = {}) => {
      // The list is sorted by arrival: the clock minus the real duration. A minute exceeds every duration, also under load.
      gateway.clock.advance(60_000);
      return gateway.fetch(path, { headers: bearer(token), ...init });
    };

    const form = (parameters: Record<string, string>): RequestInit => ({
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_id: 'app_one', client_secret: 'secret', ...parameters }).toString(),
    });

    test('are listed by endpoint, status and code, without path, query, person or value', async () => {
      gateway.backends.answer({
        ...live,
        authenticateClient: () => ({ clientId: 'app_one' }),
        issueToken: throwing(new AppError('invalid_grant', 'The code is whispered.')),
      });
      expect(await find(gateway)).toEqual({
        data: [],
        pagination: { page: 1, pageSize: 20, total: 0, totalPages: 0 },
        complete: false,
      });
      await read('/api/v1/mood');
      const known = await read('/api/v1/mood', { headers: { ...bearer(token), 'if-none-match': '"e1"' } });
      expect(known.status).toBe(304);
      const refused = await read('/api/v1/profile?whispered=1');
      await read('/api/v1/medications/whispered/adherence');
      await read('/api/v1/whispered');
      await read('/api/v1/mood?page=whispered');
      await read('/oauth/token', form({ grant_type: 'authorization_code', code: 'whispered' }));
      await eventually(async () =>
        expect(short(await find(gateway))).toEqual([
          'POST /oauth/token 400 INVALID_GRANT',
          'GET /api/v1/mood 400 INVALID_REQUEST',
          'GET /api/* 404 NOT_FOUND',
          'GET /api/v1/medications/{id}/adherence 200',
          'GET /api/v1/profile 403 INSUFFICIENT_SCOPE',
          'GET /api/v1/mood 304',
          'GET /api/v1/mood 200',
        ]),
      );
      const entries = (await find(gateway)).data;
      for (const entry of entries) {
        expect(Object.keys(entry)).toEqual(['requestId', 'at', 'method', 'endpoint', 'status', 'code', 'ms']);
        expect(Math.abs(Date.parse(entry.at) - gateway.clock.now().getTime())).toBeLessThan(3_600_000);
        expect(entry.ms).toBeGreaterThanOrEqual(0);
      }
      expect(JSON.stringify(entries)).not.toMatch(/whispered|glum|ada|secret/);
      const requestId = refused.headers.get('x-request-id') ?? '';
      expect(short(await find(gateway, `?requestId=${requestId}`))).toEqual([
        'GET /api/v1/profile 403 INSUFFICIENT_SCOPE',
      ]);
      expect(short(await find(gateway, '?status=4xx&code=NOT_FOUND'))).toEqual(['GET /api/* 404 NOT_FOUND']);
      expect(short(await find(gateway, '?status=304'))).toEqual(['GET /api/v1/mood 304']);
      expect(await find(gateway, '?page=2&pageSize=3')).toMatchObject({
        data: [{ status: 200 }, { status: 403 }, { status: 304 }],
        pagination: { page: 2, pageSize: 3, total: 7, totalPages: 3 },
      });
      expect((await find(gateway, '?requestId=req_unknown')).data).toEqual([]);
    });

    test('include a token that the record step found revoked, and exclude callers who did not authenticate', async () => {
      gateway.backends.answer(live);
      const before = (await find(gateway)).data.length;
      gateway.backends.answer({
        ...live,
        read: throwing(unauthorized()),
      });
      expect((await read('/api/v1/mood?pageSize=5')).status).toBe(401);
      gateway.backends.answer({
        introspect: throwing(unauthorized()),
        authenticateClient: throwing(unauthorized()),
      });
      expect((await read('/api/v1/mood', { headers: bearer() })).status).toBe(401);
      expect((await read('/api/v1/mood', { headers: {} })).status).toBe(401);
      expect((await read('/oauth/token', form({ client_secret: 'wrong' }))).status).toBe(401);
      gateway.backends.answer(live);
      expect((await read('/api/v1/mood')).status).toBe(200);
      const { data } = await find(gateway);
      expect(data).toHaveLength(before + 2);
      expect(data.slice(0, 2)).toMatchObject([{ status: 200 }, { status: 401, code: 'UNAUTHORIZED' }]);
    });

    test('say what was wrong with a client assertion that named the app, and its sender learns nothing', async () => {
      const assertion = (cause: string) => {
        gateway.backends.answer({ ...live, authenticateClient: throwing(unauthorized(cause)) });
        return read(
          '/oauth/token',
          form({
            client_secret: '',
            client_assertion: 'x.y.z',
            client_assertion_type: CLIENT_ASSERTION_TYPE,
          }),
        );
      };
      const before = (await find(gateway)).data.length;
      const fault = 'exp is more than 300 s ahead';
      const answer = await assertion(`assertion: ${fault}`);
      const other = await assertion('unknown client');
      expect([answer.status, await answer.text()]).toEqual([other.status, await other.text()]);
      const { data } = await find(gateway);
      expect(data).toHaveLength(before + 1);
      expect(data[0]).toMatchObject({ endpoint: '/oauth/token', status: 401, code: 'UNAUTHORIZED', fault });
    });

    test.each([
      ['status=600', 'status'],
      ['status=4x', 'status'],
      ['code=NOTHING', 'code'],
      ['requestId=whatever', 'requestId'],
      ['from=2026-01-01', 'from'],
    ])('with a wrong filter (%s) are refused with its name', async (query, parameter) => {
      gateway.backends.answer({});
      const response = await list(gateway, `?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ parameter }] });
    });
  });

  describeWithRedis('with Redis', () => {
    let gateway: TestGateway;

    test('the requests at all gateways are listed at each, outlive a gateway, and expire', async () => {
      await using redis = await createTestRedis();
      const env = { REDIS_URL: redis.url };
      const often = { constants: { REQUEST_LOG_INTERVAL_MS: 10 } };
      gateway = await startTestGateway(env, often);
      await using other = await startTestGateway(env, often);
      for (const each of [gateway, other]) each.backends.answer(live);
      await gateway.fetch('/api/v1/mood', { headers: bearer(token) });
      await other.fetch('/api/v1/profile', { headers: bearer(token) });
      await eventually(async () => {
        const { data, complete } = await find(gateway);
        expect([complete, ...data.map(({ status }) => status).sort()]).toEqual([true, 200, 403]);
      });
      await gateway.fetch('/api/v1/mood?page=0', { headers: bearer(token) });
      await gateway[Symbol.asyncDispose]();
      const { data } = await find(other);
      expect(data.map(({ status }) => status).sort()).toEqual([200, 400, 403]);
      const admin = new Redis(redis.url);
      expect(await admin.ttl('phds:requests:v1:app_one')).toBeGreaterThan(23 * 3_600);
      // What a newer release stored, and this one cannot read, is left out.
      await admin.lpush(
        'phds:requests:v1:app_one',
        JSON.stringify(['req_1', 1, 'GET', '/x', 400, 'NEWER', 1]),
      );
      expect((await find(other)).data).toHaveLength(3);
      await admin.lpush('phds:requests:v1:app_one', ...Array(210).fill('[]'));
      await other.fetch('/api/v1/mood', { headers: bearer(token) });
      await eventually(async () => expect(await admin.llen('phds:requests:v1:app_one')).toBe(200));
      admin.disconnect();
      await redis.stop();
      expect((await find(other)).complete).toBe(false);
      await other.fetch('/api/v1/profile', { headers: bearer(token) });
      expect((await find(other, '?status=403')).data).toHaveLength(1);
      await redis.start();
      await eventually(async () => {
        expect((await find(other)).complete).toBe(true);
        expect((await find(other, '?status=403')).data.length).toBeGreaterThan(0);
      });
    });
  });
});
