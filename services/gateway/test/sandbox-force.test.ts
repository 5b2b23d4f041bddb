import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { CURSOR_EXPIRED_DETAIL } from '@phds/catalog/problems';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, unavailable } from '@phds/service-kit/errors';
import { API_OPERATIONS } from '../src/http/api/operations.ts';
import { FORCED_DATA_ERRORS } from '../src/http/sandbox/forced-data-errors.ts';
import type { Answers } from './fake-backends.ts';
import { exchangeRaw, withoutVariations as normalise, UNIFORM_PROBLEM } from './raw-exchange.ts';
import { bearer, documentOf, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;

const CLIENT = 'app_sandbox_1';
const HEART = '/api/v1/health-data/heart';
const READINGS = documentOf({ data: [], pagination: {} }, { total: 45 });

beforeAll(async () => {
  // A sandbox app has no limit here; failed authentications have a small one.
  gateway = await startTestGateway({
    LIMIT_SANDBOX_APP_USER_PER_MINUTE: '100000',
    LIMIT_SANDBOX_APP_PER_MINUTE: '100000',
    LIMIT_AUTH_FAILURES_PER_MINUTE: '20',
  });
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.service.cache.clear();
  gateway.backends.calls.length = 0;
  answer({});
});

const tokenOf = (clientId: string, more: object = {}) =>
  liveToken({ principal: { clientId, userId: `sandbox:${clientId}:ada`, ...more } });

function answer(answers: Answers): void {
  gateway.backends.answer({ introspect: () => tokenOf(CLIENT), read: () => READINGS, ...answers });
}

/** The bytes of an answer, without what differs from request to request. */
async function getRaw(path: string, fields: readonly string[] = [], method = 'GET'): Promise<string> {
  const head = [`${method} ${path} HTTP/1.1`, `Authorization: ${bearer()['authorization']}`, ...fields];
  return normalise(await exchangeRaw(gateway.port, head.join('\r\n')));
}

const force = (code: string) => [`Sandbox-Force: ${code}`];
const throwing = (error: AppError) => () => Promise.reject(error);

describe('a forced error of the data API', () => {
  const noScope = { introspect: () => tokenOf(CLIENT, { scopes: ['read:mood'] }) };
  const withdrawn = {
    introspect: () => liveToken({ principal: { clientId: CLIENT }, grant: { status: GrantStatus.EXPIRED } }),
  };
  const notRecorded = new AppError('access_not_recorded', 'No.', { retryAfterSeconds: 1 });
  const real: readonly [code: string, provoke: () => Promise<string>][] = [
    ['UNAUTHORIZED', () => provoke({ introspect: () => ({ status: TokenStatus.UNKNOWN }) })],
    ['TOKEN_EXPIRED', () => provoke({ introspect: () => ({ status: TokenStatus.EXPIRED }) })],
    ['UNSUPPORTED_VERSION', () => getRaw(HEART, ['API-Version: 2'])],
    ['NOT_FOUND', () => getRaw('/api/v1/nothing')],
    ['INSUFFICIENT_SCOPE', () => provoke(noScope)],
    ['CONSENT_REQUIRED', () => provoke(withdrawn)],
    ['INVALID_REQUEST', () => getRaw(`${HEART}?fromm=2026-03-01`)],
    [
      'CURSOR_EXPIRED',
      () => provoke({ read: throwing(new AppError('cursor_expired', CURSOR_EXPIRED_DETAIL)) }),
    ],
    ['ACCESS_NOT_RECORDED', () => provoke({ read: throwing(notRecorded) })],
    ['INTERNAL_ERROR', () => provoke({ read: throwing(new AppError('internal')) })],
    ['INTERNAL_ERROR/503', () => provoke({ read: throwing(unavailable()) })],
  ];

  async function provoke(answers: Answers): Promise<string> {
    answer(answers);
    const raw = await getRaw(HEART);
    answer({});
    gateway.service.cache.clear();
    return raw;
  }

  test.each(real)('%s is the real one, byte for byte', async (code, provokeReal) => {
    const expected = await provokeReal();
    expect(expected).not.toMatch(/^HTTP\/1.1 200/);
    expect(await getRaw(HEART, force(code))).toBe(expected);
    expect(await getRaw(HEART, force(` ${code} `))).toBe(expected);
  });

  test('RATE_LIMITED is the real one, byte for byte', async () => {
    await using limited = await startTestGateway({ LIMIT_SANDBOX_APP_USER_PER_MINUTE: '2' });
    limited.backends.answer({ introspect: () => tokenOf(CLIENT), read: () => READINGS });
    const head = `GET ${HEART} HTTP/1.1\r\nAuthorization: ${bearer()['authorization']}`;
    const forced = await exchangeRaw(limited.port, `${head}\r\nSandbox-Force: RATE_LIMITED`);
    await exchangeRaw(limited.port, head);
    const real = await exchangeRaw(limited.port, head);
    expect(real).toMatch(/^HTTP\/1.1 429/);
    expect(normalise(forced)).toBe(normalise(real));
    // Beyond the limit, it is the real one.
    const beyond = await exchangeRaw(limited.port, `${head}\r\nSandbox-Force: NOT_FOUND`);
    expect(beyond).toMatch(/^HTTP\/1.1 429/);
  });

  test('exists for every code that is documented for a data endpoint, and the reads do not happen', async () => {
    const documented = API_OPERATIONS.filter(({ path }) => path !== '/api/versions').flatMap(({ errors }) =>
      errors.map((error) => (Array.isArray(error) ? String(error[0]) : String(error))),
    );
    expect(documented.filter((code) => !(code in FORCED_DATA_ERRORS))).toEqual([]);
    for (const code of Object.keys(FORCED_DATA_ERRORS)) {
      expect(await getRaw(HEART, force(code))).not.toMatch(/^HTTP\/1.1 200/);
    }
    expect(gateway.backends.callsOf('read')).toEqual([]);
  });

  test.each(['rate_limited', 'INVALID_GRANT', 'toString', 'NOPE', 'NOT_FOUND, RATE_LIMITED'])(
    'that is no code of the data API (%s) is answered with 400 and the list of codes',
    async (code) => {
      const response = await gateway.fetch(HEART, { headers: { ...bearer(), 'Sandbox-Force': code } });
      const body = await response.json();
      expect(response.status).toBe(400);
      expect(body).toMatchObject({
        code: 'INVALID_REQUEST',
        errors: [
          { parameter: 'Sandbox-Force', message: expect.stringContaining('UNAUTHORIZED, TOKEN_EXPIRED') },
        ],
      });
    },
  );

  test.each(['CURSOR_EXPIRED', 'NOT_FOUND', 'METHOD_NOT_ALLOWED'])(
    'that the endpoint cannot answer (%s) is refused, with the list of those that it can',
    async (code) => {
      const raw = await getRaw('/api/v1/profile', force(code));
      expect(raw).toMatch(/^HTTP\/1.1 400/);
      const profile = API_OPERATIONS.find(({ path }) => path === '/api/v1/profile');
      const listed = /must be one of ([A-Z_/0-9, ]+) here/.exec(raw)?.[1]?.split(', ') ?? [];
      const documented = [...(profile?.errors ?? []), 'INTERNAL_ERROR/503'];
      expect(listed.toSorted()).toEqual(documented.map(String).toSorted());
    },
  );

  test('does not count as a failed authentication, however often', async () => {
    for (let count = 0; count < 40; count += 1) {
      expect(await getRaw(HEART, force('UNAUTHORIZED'))).toBe(UNIFORM_PROBLEM);
    }
  });

  test('is logged neither as an error nor as a warning', async () => {
    gateway.log.length = 0;
    await getRaw(HEART, force('INTERNAL_ERROR'));
    await getRaw(HEART, force('INTERNAL_ERROR/503'));
    expect(gateway.log.filter((line) => /"level":(40|50|60|"(warn|error)")/.test(line))).toEqual([]);
  });

  test('is never answered to a live app, whose answers stay the same byte for byte', async () => {
    answer({ introspect: () => liveToken({ principal: { clientId: 'app_1', userId: 'ada' } }) });
    const expected = await getRaw(HEART);
    for (const code of [...Object.keys(FORCED_DATA_ERRORS), 'NOPE', '']) {
      expect(await getRaw(HEART, force(code))).toBe(expected);
    }
  });

  test('is never answered without a live token', async () => {
    answer({ introspect: () => ({ status: TokenStatus.UNKNOWN }) });
    expect(await getRaw(HEART, force('RATE_LIMITED'))).toBe(UNIFORM_PROBLEM);
  });
});
