import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DATA_PATHS } from '@phds/catalog/endpoints';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';

const APP_USER_LIMIT = 10;
const APP_LIMIT = 18;
const FAILURE_LIMIT = 40;
const PENDING_LIMIT = 3;
const APPS_LIMIT = 7;

let stack: RunningStack;
let developer: string;

beforeAll(async () => {
  stack = await startRunningStack({
    gateways: 2,
    environment: {
      gateway: {
        LIMIT_APP_USER_PER_MINUTE: String(APP_USER_LIMIT),
        LIMIT_APP_PER_MINUTE: String(APP_LIMIT),
        LIMIT_AUTH_FAILURES_PER_MINUTE: String(FAILURE_LIMIT),
        API_V1_DEPRECATION: '2027-01-01T00:00:00Z',
        API_V1_SUNSET: '2028-01-01T00:00:00Z',
      },
      consent: { MAX_LIVE_PENDING_PER_APP: String(PENDING_LIMIT) },
      authorization: { MAX_APPS_PER_DEVELOPER: String(APPS_LIMIT) },
    },
  });
  developer = await signIn(stack, 'developer');
});
afterAll(async () => stack?.[Symbol.asyncDispose]());

const open = (path: string, method = 'GET') =>
  send(stack.gateway + path, { method, headers: { Origin: 'https://app.example' } });

describe('public documents', () => {
  const documents = [
    '/.well-known/oauth-authorization-server',
    '/oauth/scopes',
    '/api/versions',
    '/.well-known/jwks.json',
    '/catalog.json',
    '/openapi.json',
  ];

  test.each(documents)('%s needs no credentials and is readable from every origin', async (path) => {
    const { status, headers, body } = await open(path);
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toEqual(expect.any(Object));
    const preflight = await open(path, 'OPTIONS');
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  });

  test('all other endpoints deny cross-origin requests', async () => {
    for (const path of [
      '/api/v1/profile',
      '/developer/apps',
      '/partner/consent/grants',
      '/oauth/token',
      '/',
    ]) {
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await open(path, method);
        expect([path, headers.get('access-control-allow-origin')]).toEqual([path, null]);
      }
    }
  });

  test('the discovery document names addresses that answer', async () => {
    const { body } = await open('/.well-known/oauth-authorization-server');
    expect(body).toMatchObject({
      issuer: stack.gateway,
      scopes_supported: SCOPE_NAMES,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
    const endpoints = Object.entries(body).filter(([name]) => name.endsWith('_endpoint')) as [
      string,
      string,
    ][];
    expect(endpoints).toHaveLength(5);
    for (const [name, url] of endpoints) {
      const { status } = await send(url, { json: {} });
      expect([name, status]).toEqual([name, 401]);
    }
    expect((await send(body.service_documentation)).status).toBe(200);
  });

  test('the scopes are a list of 22 with all their fields', async () => {
    const { data, pagination } = (await open('/oauth/scopes?pageSize=100')).body;
    expect(pagination).toEqual({ page: 1, pageSize: 100, total: 22, totalPages: 1 });
    expect(data.map(({ scope }: { scope: string }) => scope)).toEqual(SCOPE_NAMES);
    const fields = ['category', 'description', 'endpoints', 'scope', 'sensitive', 'title'];
    for (const entry of data) expect(Object.keys(entry).sort()).toEqual(fields);
    const paths = data.flatMap(({ endpoints }: { endpoints: string[] }) => endpoints);
    expect(paths.toSorted()).toEqual(DATA_PATHS.map(({ path }) => path).toSorted());
    expect((await open('/oauth/scopes?page=0')).body).toMatchObject({ error: 'invalid_request' });
  });

  test('deprecation and sunset are announced by /api/versions and by every response under /api/v1', async () => {
    expect((await open('/api/versions')).body.data).toEqual([
      {
        version: '1',
        status: 'deprecated',
        path: '/api/v1',
        deprecatedAt: '2027-01-01T00:00:00.000Z',
        sunsetAt: '2028-01-01T00:00:00.000Z',
      },
    ]);
    const app = await registerApp(stack.gateway, developer);
    const { accessToken } = await app.connect(await signIn(stack, 'v'), ['read:profile']);
    for (const path of ['/api/v1/profile', '/api/v1/ehr']) {
      const { headers } = await app.read(accessToken, path);
      expect(headers.get('deprecation')).toBe(`@${Date.UTC(2027, 0, 1) / 1000}`);
      expect(headers.get('sunset')).toBe('Sat, 01 Jan 2028 00:00:00 GMT');
    }
  });
});

describe('RATE_LIMITED', () => {
  const SCOPES = ['read:profile'];

  async function readTimes(app: PartnerApp, token: string, times: number): Promise<number[]> {
    const statuses: number[] = [];
    // Without Redis each gateway counts separately.
    const gateways = stack.redis.url === null ? [stack.gateway] : stack.gatewayUrls;
    for (let i = 0; i < times; i += 1) {
      const gateway = gateways[i % gateways.length] ?? stack.gateway;
      statuses.push((await app.at(gateway).read(token, '/api/v1/profile')).status);
    }
    return statuses;
  }

  test('is a 429 with a retry time, shared by all gateways, for one app and user', async () => {
    const app = await registerApp(stack.gateway, developer);
    const [ada, grace] = [
      await app.connect(await signIn(stack, 'ada'), SCOPES),
      await app.connect(await signIn(stack, 'grace'), SCOPES),
    ];
    const allowed = await readTimes(app, ada.accessToken, APP_USER_LIMIT);
    expect(allowed).toEqual(Array.from({ length: APP_USER_LIMIT }, () => 200));
    const { status, headers, body } = await app.read(ada.accessToken, '/api/v1/profile');
    expect([status, body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(headers.get('ratelimit-policy')).toBe(`"app-user";q=${APP_USER_LIMIT};w=60`);
    expect(headers.get('ratelimit')).toMatch(/^"app-user";r=0;t=\d+$/);
    expect(headers.get('api-version')).toBe('1');
    expect((await app.read(grace.accessToken, '/api/v1/profile')).status).toBe(200);
  });

  test('comes after version and route, before scope', async () => {
    const app = await registerApp(stack.gateway, developer);
    const { accessToken } = await app.connect(await signIn(stack, 'ada'), SCOPES);
    await readTimes(app, accessToken, APP_USER_LIMIT);
    const codes = await Promise.all(
      ['/api/v2/profile', '/api/v1/nothing', '/api/v1/ehr', '/api/v1/profile?page=0'].map(
        async (path) => (await app.read(accessToken, path)).body.code,
      ),
    );
    expect(codes).toEqual(['UNSUPPORTED_VERSION', 'NOT_FOUND', 'RATE_LIMITED', 'RATE_LIMITED']);
  });

  test('also limits all users of an app together, and no other app', async () => {
    const app = await registerApp(stack.gateway, developer);
    const users = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => app.connect(await signIn(stack, name), SCOPES)),
    );
    const statuses: number[] = [];
    for (const { accessToken } of users) statuses.push(...(await readTimes(app, accessToken, 7)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(APP_LIMIT);
    const { status, headers } = await app.read(users[2]?.accessToken ?? '', '/api/v1/profile');
    expect([status, headers.get('ratelimit-policy')]).toEqual([429, `"app";q=${APP_LIMIT};w=60`]);
    const other = await registerApp(stack.gateway, developer);
    const { accessToken } = await other.connect(await signIn(stack, 'a'), SCOPES);
    expect(expectStatus(200, await other.read(accessToken, '/api/v1/profile')).status).toBe(200);
  });
});

describe('caps', () => {
  test('on pending approvals apply to each app until they are decided', async () => {
    const owner = await signIn(stack, 'owner');
    const app = await registerApp(stack.gateway, owner);
    const ask = () => app.authorize(['read:profile']);
    const ids: string[] = [];
    for (let i = 0; i < PENDING_LIMIT; i += 1) ids.push(expectStatus(201, await ask()).body.pending_id);
    const { status, headers, body } = await ask();
    expect([status, body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expectStatus(200, await app.approveAs(owner, ids[0] ?? ''));
    expectStatus(201, await ask());
  });

  test('on pending approvals cannot be used by strangers with the client id to lock the app out', async () => {
    const owner = await signIn(stack, 'owner');
    const app = await registerApp(stack.gateway, owner);
    const query = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      scope: 'read:profile',
      response_type: 'code',
    });
    const places: string[] = [];
    for (let i = 0; i < PENDING_LIMIT + 2; i += 1) {
      const { status, headers } = await open(`/oauth/authorize?${query}`);
      expect(status).toBe(303);
      places.push(headers.get('location') ?? '');
    }
    expectStatus(201, await app.authorize(['read:profile']));
    // The oldest request of the strangers was dropped.
    const bearer = await signIn(stack, 'ada');
    const toUrl = (place: string) => `${stack.gateway}/partner/consent/pending/${place.split('/').at(-1)}`;
    const show = async (place: string) => (await send(toUrl(place), { bearer })).status;
    expect(await Promise.all(places.map(show))).toEqual([404, 404, 200, 200, 200]);
  });

  test('on the apps of a developer answer 409', async () => {
    const owner = await signIn(stack, 'owner-of-many');
    for (let i = 0; i < APPS_LIMIT; i += 1) await registerApp(stack.gateway, owner);
    const json = { name: 'One more', redirectUris: ['https://app.example/cb'] };
    const { status, body } = await send(`${stack.gateway}/developer/apps`, { bearer: owner, json });
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
  });

  // Runs last: afterwards this address has too many failures.
  test('on failed authentications turn a 401 into a 429, and never refuse a valid credential', async () => {
    const owner = await signIn(stack, 'another-owner');
    const app = await registerApp(stack.gateway, owner);
    const { accessToken } = await app.connect(owner, ['read:profile']);
    const statuses = new Set<number>();
    for (let i = 0; i <= FAILURE_LIMIT; i += 1) {
      statuses.add((await send(`${stack.gateway}/api/v1/profile`, { bearer: 'x' })).status);
    }
    expect(statuses).toEqual(new Set([401, 429]));
    const wrong = await send(`${stack.gateway}/oauth/token`, {
      json: { client_id: app.clientId, client_secret: 'x', grant_type: 'client_credentials' },
    });
    expect([wrong.status, wrong.body.code]).toEqual([429, 'RATE_LIMITED']);
    expect((await app.read(accessToken, '/api/v1/profile')).status).toBe(200);
    expect(await app.userlessToken()).toMatch(/^phds_at_/);
    expect((await send(`${stack.gateway}/developer/apps`, { bearer: owner })).status).toBe(200);
  });
});
