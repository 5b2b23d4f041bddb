import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { unavailable } from '@phds/service-kit/errors';
import type { Answers } from './fake-backends.ts';
import { bearer, documentOf, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
const HEART = '/api/v1/health-data/heart';
const READINGS = documentOf({ data: [], pagination: {} }, { total: 45 });

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.backends.calls.length = 0;
  gateway.service.cache.clear();
});

interface Init {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

function answer(answers: Answers): void {
  gateway.backends.answer({ introspect: () => liveToken(), read: () => READINGS, ...answers });
}

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await gateway.fetch(path, { headers: { ...bearer(), ...headers } });
  const text = await response.text();
  return { response, status: response.status, body: text === '' ? null : JSON.parse(text) };
}

describe('the order of checks', () => {
  const expired = () => ({ status: TokenStatus.EXPIRED });
  const noScope = () => liveToken({ principal: { scopes: ['read:mood'] } });
  const away = () => {
    throw unavailable();
  };
  const ended = () => liveToken({ grant: { status: GrantStatus.REVOKED } });

  test.each<[string, string, Init, Answers, number, string]>([
    ['authentication before version', '/api/v2/x', { headers: bearer('x') }, {}, 401, 'UNAUTHORIZED'],
    ['an expired token before version', '/api/v2/x', {}, { introspect: expired }, 401, 'TOKEN_EXPIRED'],
    ['version before route', '/api/v2/nothing', {}, {}, 400, 'UNSUPPORTED_VERSION'],
    ['version before method', '/api/v2/profile', { method: 'POST' }, {}, 400, 'UNSUPPORTED_VERSION'],
    [
      'version field before route',
      '/api/v1/x',
      { headers: { 'api-version': '2' } },
      {},
      400,
      'UNSUPPORTED_VERSION',
    ],
    ['route before method', '/api/v1/nothing', { method: 'POST' }, {}, 404, 'NOT_FOUND'],
    ['category before method', '/api/v1/health-data/nails', { method: 'PUT' }, {}, 404, 'NOT_FOUND'],
    ['method before scope', HEART, { method: 'DELETE' }, { introspect: noScope }, 405, 'METHOD_NOT_ALLOWED'],
    ['scope before consent', HEART, {}, { introspect: noScope }, 403, 'INSUFFICIENT_SCOPE'],
    ['consent before parameters', `${HEART}?page=0`, {}, { introspect: ended }, 403, 'CONSENT_REQUIRED'],
    ['parameters before data', `${HEART}?page=0`, {}, { read: away }, 400, 'INVALID_REQUEST'],
  ])('is %s', async (_, path, init, answers, status, code) => {
    answer(answers);
    const response = await gateway.fetch(path, { ...init, headers: { ...bearer(), ...init.headers } });
    const body = JSON.parse(await response.text());
    expect([response.status, body.code]).toEqual([status, code]);
    expect(gateway.backends.callsOf('read')).toHaveLength(0);
    if (status !== 401) expect(response.headers.get('api-version')).toBe('1');
    if (status !== 401) expect(response.headers.has('ratelimit')).toBe(true);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])(
    '%s on a data route is 405',
    async (method) => {
      answer({});
      const response = await gateway.fetch(HEART, { method, headers: bearer() });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
    },
  );

  test.each([
    '/api',
    '/api/',
    '/api/v1',
    '/api/v1/',
    '/api/v1/profile/',
    '/api/v1/Profile',
    '/api/vx/profile',
  ])('%s is not a route', async (path) => {
    answer({});
    expect((await get(path)).body).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  test('an unsupported version is answered with the list of supported versions', async () => {
    answer({});
    expect((await get('/api/v3/profile')).body).toMatchObject({ supportedVersions: ['1'], status: 400 });
    expect((await get(HEART, { 'api-version': '1' })).status).toBe(200);
  });

  test('a URL over the length limit is an invalid request', async () => {
    answer({});
    expect((await get(`${HEART}?from=${'1'.repeat(9_000)}`)).body).toMatchObject({ code: 'INVALID_REQUEST' });
  });
});

test('the list of versions is public and open to every origin', async () => {
  const response = await gateway.fetch('/api/versions');
  expect(await response.json()).toEqual({
    data: [{ version: '1', status: 'current', path: '/api/v1', deprecatedAt: null, sunsetAt: null }],
  });
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect((await gateway.fetch('/api/versions', { method: 'POST' })).status).toBe(401);
});

test('deprecation and sunset headers are sent as configured', async () => {
  await using retiring = await startTestGateway({
    API_V1_DEPRECATION: '2026-01-01T00:00:00Z',
    API_V1_SUNSET: '2027-01-01T00:00:00Z',
  });
  retiring.backends.answer({ introspect: () => liveToken(), read: () => READINGS });
  const { headers } = await retiring.fetch(HEART, { headers: bearer() });
  expect([headers.get('deprecation'), headers.get('sunset')]).toEqual([
    '@1767225600',
    'Fri, 01 Jan 2027 00:00:00 GMT',
  ]);
});
