import { get } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CountRefusalsRequest } from '@phds/contracts/phds/consent/v1/access_pb';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { AppError, type Reason, unauthorized, unavailable } from '@phds/service-kit/errors';
import { newSecret } from '@phds/service-kit/secrets';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { RefusalCounts } from '../src/usage/refusal-counts.ts';
import {
  bearer,
  documentOf,
  liveToken,
  startTestGateway,
  type TestGateway,
  throwing,
} from './test-gateway.ts';

const DAY_MS = 86_400_000;

describe('counts of refused requests', () => {
  const clock = new FakeClock(new Date('2026-03-01T23:59:59.999Z'));
  let handed: Record<string, unknown>[][];
  let failure: AppError | null;
  let warnings: unknown[];
  let counts: RefusalCounts;

  beforeEach(() => {
    handed = [];
    failure = null;
    warnings = [];
    const countRefusals = async ({ refusals = [] }: Partial<CountRefusalsRequest>) => {
      if (failure !== null) throw failure;
      handed.push(refusals.map((refusal) => ({ ...refusal })));
      return {};
    };
    counts = new RefusalCounts({
      accesses: { countRefusals } as never,
      clock,
      log: { warn: (...line: unknown[]) => void warnings.push(line) },
    });
  });

  const refusal = { clientId: 'app_1', endpoint: '/api/v1/mood', status: 429, grantId: '' };
  const refuse = (times: number, other: Partial<typeof refusal> = {}, isWithoutKey = false) => {
    for (let i = 0; i < times; i += 1) counts.add({ ...refusal, ...other, isWithoutKey });
  };

  test('are sent once, by app, UTC day, endpoint, status and grant without consent, with how many lacked the key', async () => {
    refuse(1);
    refuse(2, {}, true);
    refuse(1, { status: 400 });
    refuse(1, { clientId: 'app_2' });
    refuse(1, { endpoint: '/api/*' });
    refuse(1, { grantId: 'grt_1' });
    clock.advance(1);
    refuse(2);
    await counts.handOver();
    expect(handed).toEqual([
      [
        { ...refusal, date: '2026-03-01', count: 3, withoutKey: 2 },
        { ...refusal, date: '2026-03-01', status: 400, count: 1, withoutKey: 0 },
        { ...refusal, date: '2026-03-01', clientId: 'app_2', count: 1, withoutKey: 0 },
        { ...refusal, date: '2026-03-01', endpoint: '/api/*', count: 1, withoutKey: 0 },
        { ...refusal, date: '2026-03-01', grantId: 'grt_1', count: 1, withoutKey: 0 },
        { ...refusal, date: '2026-03-02', count: 2, withoutKey: 0 },
      ],
    ]);
    await counts.handOver();
    expect(handed).toHaveLength(1);
  });

  test.each<Reason>(['unavailable', 'internal', 'caller_not_admitted'])(
    'that consent did not accept (%s) are kept and sent with the next ones',
    async (reason) => {
      refuse(2);
      failure = new AppError(reason);
      await expect(counts.handOver()).rejects.toBe(failure);
      failure = null;
      refuse(1);
      await counts.handOver();
      expect(handed).toMatchObject([[{ count: 3 }]]);
    },
  );

  test('that consent rejects as malformed are not sent again', async () => {
    refuse(1);
    failure = new AppError('invalid_request');
    await expect(counts.handOver()).rejects.toBe(failure);
    failure = null;
    await counts.handOver();
    expect(handed).toEqual([]);
  });

  test('are sent in calls of at most 500, and use bounded memory while consent is unavailable', async () => {
    failure = unavailable();
    for (let i = 0; i < 20_005; i += 1) refuse(1, { clientId: `app_${i}` });
    await expect(counts.handOver()).rejects.toBe(failure);
    expect(warnings).toMatchObject([[{ refusals: 5 }, expect.stringContaining('not counted')]]);
    failure = null;
    await counts.handOver();
    expect(handed.map(({ length }) => length)).toEqual(Array.from({ length: 40 }, () => 500));
  });
});

describe('a gateway', () => {
  let gateway: TestGateway;

  beforeEach(async () => {
    gateway = await startTestGateway({ LIMITS: 'app-user=8' }, { constants: { USAGE_INTERVAL_MS: 10 } });
    gateway.backends.answer({
      introspect: () => liveToken({ principal: { scopes: ['read:mood', 'read:medications'] } }),
      read: ({ endpoint }) => {
        if (endpoint === Endpoint.ADHERENCE) throw new AppError('not_found');
        return documentOf({ data: [] });
      },
    });
  });
  afterEach(async () => gateway[Symbol.asyncDispose]());

  const read = async (path: string, init: RequestInit = {}) =>
    (await gateway.fetch(path, { headers: bearer(TOKEN), ...init })).status;
  const TOKEN = newSecret('access_token');

  /** The counts that consent received, summed by endpoint and status. */
  const told = () => {
    const sums: Record<string, number> = {};
    for (const { request } of gateway.backends.callsOf('countRefusals')) {
      for (const { endpoint, status, count } of (request as unknown as CountRefusalsRequest).refusals) {
        sums[`${status} ${endpoint}`] = (sums[`${status} ${endpoint}`] ?? 0) + count;
      }
    }
    return sums;
  };

  test('include every refusal of an authenticated app by endpoint and status, and nothing else', async () => {
    expect(await read('/api/v1/mood')).toBe(200);
    expect(await read('/api/v1/mood?page=0')).toBe(400);
    expect(await read('/api/v1/profile')).toBe(403);
    expect(await read('/api/v1/medications/med_1/adherence')).toBe(404);
    expect(await read('/api/v1/nothing/med_2')).toBe(404);
    expect(await read('/api/v2/mood')).toBe(400);
    expect(await read('/api/v1/mood', { method: 'POST' })).toBe(405);
    expect(await read('/api/v1/mood', { headers: {} })).toBe(401);
    expect(await read('/api/v1/mood')).toBe(200);
    expect([await read('/api/v1/mood'), await read('/api/v1/mood')]).toEqual([429, 429]);
    await eventually(() =>
      expect(told()).toEqual({
        '400 /api/v1/mood': 1,
        '403 /api/v1/profile': 1,
        '404 /api/v1/medications/{id}/adherence': 1,
        '404 /api/*': 1,
        '400 /api/*': 1,
        '405 /api/v1/mood': 1,
        '429 /api/v1/mood': 2,
      }),
    );
    for (const { request } of gateway.backends.callsOf('countRefusals')) {
      for (const { clientId, date } of (request as unknown as CountRefusalsRequest).refusals) {
        const time = Date.parse(date);
        expect(clientId).toBe('app_one');
        expect(Math.abs(time - gateway.clock.now().getTime())).toBeLessThan(2 * DAY_MS);
      }
    }
  });

  test('include a token that the record step found revoked, and exclude tokens that were never live', async () => {
    gateway.backends.answer({
      introspect: () => liveToken(),
      read: throwing(unauthorized()),
    });
    expect(await read('/api/v1/mood')).toBe(401);
    await eventually(() => expect(told()).toEqual({ '401 /api/v1/mood': 1 }));
  });

  test.each([
    ['a newest page', '/api/v1/health-data/heart'],
    ['another page', '/api/v1/health-data/heart?page=2'],
  ])(
    'exclude a read of %s whose client hung up: it is not sent, and not logged as a failure',
    async (_, path) => {
      const live = Promise.withResolvers<ReturnType<typeof liveToken>>();
      gateway.backends.answer({ introspect: () => live.promise, read: () => documentOf({ data: [] }) });
      const client = get(gateway.url + path, { headers: bearer(TOKEN) });
      client.on('error', () => undefined);
      await eventually(() => gateway.backends.callsOf('introspect').length === 1);
      client.destroy();
      // When a later request is answered, the gateway has noticed.
      expect(await read('/api/versions')).toBe(200);
      live.resolve(liveToken());
      await eventually(() => gateway.log.some((line) => line.includes('the client hung up')));
      expect(await read('/api/v1/mood?page=0')).toBe(400);
      await eventually(() => expect(told()).toEqual({ '400 /api/v1/mood': 1 }));
      expect(gateway.backends.callsOf('read')).toEqual([]);
      expect(gateway.log.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
    },
  );
});
