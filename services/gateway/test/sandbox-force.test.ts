import { beforeEach, describe, expect, test } from '@jest/globals';
import { CURSOR_EXPIRED_DETAIL } from '@phds/catalog/problems';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, invalidRequest, unauthorized, unavailable } from '@phds/service-kit/errors';
import { API_OPERATIONS } from '../src/http/api/operations.ts';
import { isForceable } from '../src/http/forced-errors.ts';
import { OPERATIONS } from '../src/http/operations.ts';
import type { Answers } from './fake-backends.ts';
import {
  bearer,
  documentOf,
  exchangeRaw,
  liveToken,
  shareTestGateway,
  startTestGateway,
  type TestGateway,
  UNIFORM_PROBLEM,
  withoutVariations,
} from './test-gateway.ts';

describe('a forced error of the data API', () => {
  // Failed authentications have a small limit, everything else a large one.
  const gateway = shareTestGateway({
    SANDBOX: 'true',
    LIMITS: 'app-user=100000,app=100000,failed-authentications=20',
  });

  const CLIENT = 'app_1';
  const HEART = '/api/v1/health-data/heart';
  const READINGS = documentOf({ data: [], pagination: {} }, { total: 45 });

  beforeEach(() => {
    answer({});
  });

  const tokenOf = (clientId: string, more: object = {}) =>
    liveToken({ principal: { clientId, userId: 'ada', ...more } });

  function answer(answers: Answers): void {
    gateway.backends.answer({ introspect: () => tokenOf(CLIENT), read: () => READINGS, ...answers });
  }

  /** The bytes of an answer, without what differs from request to request. */
  async function getRaw(path: string, fields: readonly string[] = [], method = 'GET'): Promise<string> {
    const head = [`${method} ${path} HTTP/1.1`, `Authorization: ${bearer()['authorization']}`, ...fields];
    return withoutVariations(await exchangeRaw(gateway.port, head.join('\r\n')));
  }

  const force = (code: string) => [`Sandbox-Force: ${code}`];
  const throwing = (error: AppError) => () => Promise.reject(error);

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
    gateway.service.accessTokens.clear();
    return raw;
  }

  test.each(real)('%s is the real one, byte for byte', async (code, provokeReal) => {
    const expected = await provokeReal();
    expect(expected).not.toMatch(/^HTTP\/1.1 200/);
    expect(await getRaw(HEART, force(code))).toBe(expected);
    expect(await getRaw(HEART, force(` ${code} `))).toBe(expected);
  });

  test('RATE_LIMITED is the real one, byte for byte', async () => {
    await using limited = await startTestGateway({
      SANDBOX: 'true',
      LIMITS: 'app-user=2',
    });
    limited.backends.answer({ introspect: () => tokenOf(CLIENT), read: () => READINGS });
    const head = `GET ${HEART} HTTP/1.1\r\nAuthorization: ${bearer()['authorization']}`;
    const forced = await exchangeRaw(limited.port, `${head}\r\nSandbox-Force: RATE_LIMITED`);
    await exchangeRaw(limited.port, head);
    const real = await exchangeRaw(limited.port, head);
    expect(real).toMatch(/^HTTP\/1.1 429/);
    expect(withoutVariations(forced)).toBe(withoutVariations(real));
    // Beyond the limit, it is the real one.
    const beyond = await exchangeRaw(limited.port, `${head}\r\nSandbox-Force: NOT_FOUND`);
    expect(beyond).toMatch(/^HTTP\/1.1 429/);
  });

  test('exists for every code that is documented for a data endpoint, and the reads do not happen', async () => {
    for (const { path, errors } of API_OPERATIONS.filter(({ security }) => security !== 'none')) {
      const url = path.replace(':category', 'heart').replace(':id', 'med_1');
      for (const code of errors.map(String)) {
        const body = (await getRaw(url, force(code))).split('\r\n\r\n')[1];
        expect(body).toContain(`"code":"${code}"`);
      }
    }
    expect(gateway.backends.callsOf('read')).toEqual([]);
  });

  test.each([
    'CURSOR_EXPIRED',
    'NOT_FOUND',
    'METHOD_NOT_ALLOWED',
    'rate_limited',
    'toString',
    'NOT_FOUND, RATE_LIMITED',
  ])('that the endpoint cannot answer (%s) is refused, with the list of those that it can', async (code) => {
    const raw = await getRaw('/api/v1/profile', force(code));
    expect(raw).toMatch(/^HTTP\/1.1 400/);
    const profile = API_OPERATIONS.find(({ path }) => path === '/api/v1/profile');
    const listed = /must be one of ([A-Z_/0-9, ]+) here/.exec(raw)?.[1]?.split(', ') ?? [];
    const documented = [...(profile?.errors ?? []), 'INTERNAL_ERROR/503'];
    expect(listed.toSorted()).toEqual(documented.map(String).toSorted());
  });

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

  test('of a search of the FHIR interface can be its 410, and of a read of a resource cannot', async () => {
    expect(await getRaw('/fhir/R4/Observation', force('CURSOR_EXPIRED'))).toMatch(/^HTTP\/1.1 410/);
    expect(await getRaw('/fhir/R4/Observation/1', force('CURSOR_EXPIRED'))).toMatch(/^HTTP\/1.1 400/);
  });

  test('of the FHIR interface is an OperationOutcome of what is asked', async () => {
    const ask = async (code: string) => {
      const [head = '', body = ''] = (await getRaw('/fhir/R4/Condition?patient=ada', force(code))).split(
        '\r\n\r\n',
      );
      const [issue] = JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)).issue;
      return [
        head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length),
        issue.details.coding[0].code,
        issue.diagnostics,
      ];
    };
    expect(await ask('CONSENT_REQUIRED')).toEqual([
      '403',
      'CONSENT_REQUIRED',
      'The scope is read:conditions.',
    ]);
    expect(await ask('INVALID_REQUEST')).toEqual([
      '400',
      'INVALID_REQUEST',
      expect.stringMatching(/^dat: is not/),
    ]);
    expect(await ask('RATE_LIMITED')).toEqual(['429', 'RATE_LIMITED', undefined]);
    expect(await ask('UNSUPPORTED_VERSION')).toEqual([
      '400',
      'INVALID_REQUEST',
      expect.stringMatching(/^Sandbox-Force/),
    ]);
  });

  test('is never answered without a live token', async () => {
    answer({ introspect: () => ({ status: TokenStatus.UNKNOWN }) });
    expect(await getRaw(HEART, force('RATE_LIMITED'))).toBe(UNIFORM_PROBLEM);
  });
});

describe('a forced error of the token endpoints', () => {
  const gateway = shareTestGateway({ SANDBOX: 'true' });

  const CLIENT = 'app_1';

  const force = (code: string) => [`Sandbox-Force: ${code}`];

  const credentials = (clientId: string) =>
    `client_id=${clientId}&client_secret=s&grant_type=refresh_token&token=t`;

  async function postRaw(path: string, fields: readonly string[], clientId = CLIENT): Promise<string> {
    const head = [
      `POST /oauth/${path} HTTP/1.1`,
      'Content-Type: application/x-www-form-urlencoded',
      ...fields,
    ].join('\r\n');
    return withoutVariations(await exchangeRaw(gateway.port, head, credentials(clientId)));
  }

  function reply(clientId: string, error?: AppError) {
    const act = () => (error === undefined ? Promise.resolve({}) : Promise.reject(error));
    gateway.backends.answer({
      authenticateClient: () => ({ clientId }),
      introspect: () => liveToken({ principal: { clientId, userId: '' } }),
      issueToken: act,
      revokeToken: act,
      introspectOwnToken: act,
    } as Answers);
  }

  const ERRORS: readonly [code: string, AppError][] = [
    ['UNAUTHORIZED', unauthorized()],
    ['INTERNAL_ERROR', new AppError('internal')],
    ['INTERNAL_ERROR/503', unavailable()],
    [
      'INVALID_GRANT',
      new AppError('invalid_grant', 'The grant is invalid, expired, revoked or already used.'),
    ],
    ['INVALID_SCOPE', new AppError('invalid_scope', 'The scope exceeds what the person shares.')],
    [
      'UNSUPPORTED_GRANT_TYPE',
      new AppError(
        'unsupported_grant_type',
        'The grant_type must be one of authorization_code, refresh_token, client_credentials.',
      ),
    ],
  ];

  const cases = [
    ...ERRORS.map(([code, error]) => ['token', code, error] as const),
    ['token', 'INVALID_REQUEST', invalidRequest('code', 'is required')] as const,
    ['revoke', 'INVALID_REQUEST', invalidRequest('token', 'is required')] as const,
  ];

  test.each(cases)('/oauth/%s: %s is the real one, byte for byte', async (path, code, error) => {
    reply(CLIENT, error);
    const expected = await postRaw(path, []);
    expect(expected).not.toMatch(/^HTTP\/1.1 200/);
    reply(CLIENT);
    expect(await postRaw(path, force(code))).toBe(expected);
  });

  test.each(['token', 'revoke', 'introspect'])(
    '/oauth/%s: credentials that were right before get the uniform 401, byte for byte, whatever they ask for',
    async (path) => {
      const replaced = {
        authenticateClient: () => Promise.reject(unauthorized()),
        issueToken: () => Promise.reject(unauthorized()),
        revokeToken: () => Promise.reject(unauthorized()),
        introspectOwnToken: () => Promise.reject(unauthorized()),
      };
      const postReplaced = async (fields: readonly string[]) => {
        reply(CLIENT);
        await postRaw(path, []);
        gateway.backends.answer(replaced);
        return [await postRaw(path, fields), await postRaw(path, fields)];
      };
      const expected = await postReplaced([]);
      expect(expected[0]).toMatch(/^HTTP\/1.1 401/);
      for (const code of ['INTERNAL_ERROR', 'RATE_LIMITED', 'NO_SUCH_CODE']) {
        expect(await postReplaced(force(code))).toEqual(expected);
      }
    },
  );

  test('RATE_LIMITED says that the limit is used up, and when to try again', async () => {
    reply(CLIENT);
    const raw = await postRaw('token', force('RATE_LIMITED'));
    expect(raw).toMatch(/^HTTP\/1.1 429/);
    expect(raw).toContain('RateLimit: "client";r=0;t=s');
    expect(raw).toMatch(/Retry-After: /);
    expect(raw).toContain('"code":"RATE_LIMITED"');
  });

  test.each(
    OPERATIONS.filter((operation) => operation.tag === 'OAuth' && isForceable(operation)).flatMap(
      ({ method, path, errors }) =>
        errors.map((error) => [method, path, typeof error === 'string' ? error : error[0]] as const),
    ),
  )('%s %s answers %s', async (method, path, code) => {
    reply(CLIENT);
    const own = await gateway.fetch(path.replace(':id', 'grt_1'), {
      method,
      headers: { 'Sandbox-Force': code, ...(path.startsWith('/oauth/grants') ? bearer() : {}) },
      ...(method === 'POST' && { body: new URLSearchParams(credentials(CLIENT)) }),
    });
    const answered = await own.json();
    expect({ status: own.status, answered }).toMatchObject({ answered: { code } });
    expect(own.ok).toBe(false);
  });

  test('an app without a secret gets the error too', async () => {
    reply(CLIENT);
    const body = new URLSearchParams({ client_id: CLIENT, scope: 'read:mood' });
    for (const path of ['/oauth/token', '/oauth/authorize']) {
      const init = { method: 'POST', body, headers: { 'Sandbox-Force': 'INTERNAL_ERROR' } };
      expect((await gateway.fetch(path, init)).status).toBe(500);
    }
  });

  test('an operation for nobody in particular, or for a session, refuses the header by name', async () => {
    const session = await gateway.sessions.issueSession('ada');
    for (const path of [
      '/oauth/scopes',
      '/oauth/authorize',
      '/partner/consent/grants',
      '/api/versions',
      '/fhir/R4/metadata',
      '/openapi.json',
      '/console',
    ]) {
      const headers = { 'Sandbox-Force': 'INTERNAL_ERROR', Authorization: `Bearer ${session}` };
      const response = await gateway.fetch(path, { headers });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('Sandbox-Force');
    }
  });

  test('a value that is no code is refused', async () => {
    reply(CLIENT);
    for (const code of ['NOPE', 'NOT_FOUND', 'constructor']) {
      const raw = await postRaw('token', force(code));
      expect(raw).toMatch(/^HTTP\/1.1 400/);
      expect(raw).toContain('must be one of UNAUTHORIZED');
    }
    expect(await postRaw('revoke', force('INVALID_GRANT'))).toMatch(/^HTTP\/1.1 400/);
  });
});

/** The header fields that a page of another origin may send to the FHIR interface. */
async function allowedTo(gateway: Pick<TestGateway, 'fetch'>): Promise<string[]> {
  const headers = { origin: 'https://a.test', 'access-control-request-method': 'GET' };
  const { headers: fields } = await gateway.fetch('/fhir/R4/Observation', { method: 'OPTIONS', headers });
  return fields.get('access-control-allow-headers')?.split(', ') ?? [];
}

describe('without the mode', () => {
  const gateway = shareTestGateway();

  test('pages may not send the header, which they may in a sandbox', async () => {
    await using sandbox = await startTestGateway({ SANDBOX: 'true' });
    const allowed = await allowedTo(gateway);
    expect(allowed).toContain('Authorization');
    expect((await allowedTo(sandbox)).filter((name) => !allowed.includes(name))).toEqual(['Sandbox-Force']);
  });

  test('the header has no effect, byte for byte', async () => {
    gateway.backends.answer({
      introspect: () => liveToken({ principal: { clientId: 'app_1', userId: 'ada' } }),
      read: () => documentOf({ data: [], pagination: {} }, { total: 45 }),
    });
    const authorization = `Authorization: ${bearer()['authorization']}`;
    const form = 'Content-Type: application/x-www-form-urlencoded';
    for (const [line, field, body] of [
      ['GET /api/v1/health-data/heart', authorization],
      ['GET /fhir/R4/Observation', authorization],
      ['GET /oauth/grants', authorization],
      ['GET /oauth/scopes', authorization],
      ['GET /api/versions', authorization],
      ['POST /oauth/token', form, 'client_id=app_1&client_secret=s'],
    ] as const) {
      const send = async (...fields: string[]) => {
        const head = [`${line} HTTP/1.1`, field, ...fields].join('\r\n');
        return withoutVariations(await exchangeRaw(gateway.port, head, body));
      };
      const expected = await send();
      for (const code of ['UNAUTHORIZED', 'RATE_LIMITED', 'NOPE', '']) {
        expect(await send(`Sandbox-Force: ${code}`)).toBe(expected);
      }
    }
  });
});
