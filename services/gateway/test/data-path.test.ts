import { beforeEach, describe, expect, test } from '@jest/globals';
import { DATA_PATHS } from '@phds/catalog/endpoints';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, unauthorized, unavailable } from '@phds/service-kit/errors';
import { toReadEndpoint } from '@phds/service-kit/rpc/messages';
import type { Answers } from './fake-backends.ts';
import {
  ask,
  bearer,
  documentOf,
  liveToken,
  shareTestGateway,
  startTestGateway,
  throwing,
} from './test-gateway.ts';

const gateway = shareTestGateway();

const HEART = '/api/v1/health-data/heart';
const READINGS = documentOf({ data: [], pagination: {} }, { total: 45 });

function answer(answers: Answers): void {
  gateway.backends.answer({ introspect: () => liveToken(), read: () => READINGS, ...answers });
}

const get = (path: string, headers: Record<string, string> = {}) =>
  ask(gateway, path, { headers: { ...bearer(), ...headers } });

describe('data requests', () => {
  describe('an admitted request', () => {
    test('returns the document byte for byte, with all public headers', async () => {
      const document = documentOf({ data: [{ id: 'rdg_1', value: 61.5 }], pagination: { page: 1 } });
      answer({ read: () => document });
      const response = await gateway.fetch(HEART, { headers: bearer() });
      expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(document.body));
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'api-version': '1',
        etag: '"e1"',
        'ratelimit-policy': '"app-user";q=300;w=60',
        ratelimit: expect.stringMatching(/^"app-user";r=\d+;t=\d+$/),
        'x-request-id': expect.stringMatching(/^req_[0-9A-Za-z]+$/),
      });
      expect(response.headers.has('x-powered-by')).toBe(false);
    });

    test('keeps the facts of its token for 25 to 50 s: their assertion is valid for 60 s', async () => {
      answer({});
      const headers = bearer();
      const countAsked = async () => {
        expect((await gateway.fetch(HEART, { headers })).status).toBe(200);
        return gateway.backends.callsOf('introspect').length;
      };
      expect(await countAsked()).toBe(1);
      gateway.clock.advance(24_999);
      expect(await countAsked()).toBe(1);
      gateway.clock.advance(25_001);
      expect(await countAsked()).toBe(2);
    });

    test('forwards assertion, parameters and request id', async () => {
      answer({});
      const query = 'from=2026-01-01T00:00:00+02:00&to=2026-02-01&type=heart%20rate&page=2&pageSize=500';
      const { response } = await get(`${HEART}?${query}`);
      expect(gateway.backends.callsOf('read')).toMatchObject([
        {
          assertion: 'assertion-1',
          request: {
            category: 'heart',
            parameters: {
              page: { page: 2, pageSize: 100 },
              from: '2026-01-01T00:00:00+02:00',
              to: '2026-02-01',
              type: 'Heart Rate',
            },
            requestId: response.headers.get('x-request-id'),
          },
        },
      ]);
    });

    test.each(DATA_PATHS.map((path) => [path.path.replace('{id}', 'med_1'), path] as const))(
      '%s requires its scope and no other, and is requested by its endpoint',
      async (path, { scope, endpoint, category }) => {
        answer({ introspect: () => liveToken({ principal: { scopes: [scope] } }) });
        expect((await get(path)).status).toBe(200);
        expect(gateway.backends.callsOf('read')[0]?.request).toMatchObject({
          endpoint: toReadEndpoint(endpoint),
          category: category ?? '',
          medicationId: endpoint === 'adherence' ? 'med_1' : '',
        });
        const others = SCOPE_NAMES.filter((name) => name !== scope);
        answer({ introspect: () => liveToken({ principal: { scopes: others } }) });
        const { status, body } = await get(path);
        expect([status, body.code, body.requiredScope]).toEqual([403, 'INSUFFICIENT_SCOPE', scope]);
      },
    );

    test('forwards a medication id decoded', async () => {
      answer({ read: () => documentOf({ data: [] }) });
      await get('/api/v1/medications/a%20b%2Fc+d/adherence');
      expect(gateway.backends.callsOf('read')[0]?.request).toMatchObject({ medicationId: 'a b/c+d' });
    });
  });

  describe('Link', () => {
    test('links the first, previous, next and last page and keeps the other parameters', async () => {
      answer({});
      const { response } = await get(`${HEART}?type=HRV&page=2&from=2026-01-01`);
      const link = (page: number, rel: string) =>
        `<${HEART}?type=HRV&from=2026-01-01&page=${page}>; rel="${rel}"`;
      expect(response.headers.get('link')).toBe(
        [link(1, 'first'), link(1, 'prev'), link(3, 'next'), link(3, 'last')].join(', '),
      );
    });

    test('links back from a page beyond the end, and has no Link for single objects', async () => {
      answer({});
      const { response } = await get(`${HEART}?page=9`);
      expect(response.headers.get('link')).toBe(
        `<${HEART}?page=1>; rel="first", <${HEART}?page=3>; rel="prev", <${HEART}?page=3>; rel="last"`,
      );
      expect((await get('/api/v1/profile')).response.headers.has('link')).toBe(false);
    });
  });

  describe('If-None-Match', () => {
    test.each([['"e1"'], ['W/"e1"'], ['"x", "e1"'], ['*']])(
      '%s is answered with 304 and no body',
      async (tag) => {
        answer({});
        const { response, status, body } = await get(HEART, { 'if-none-match': tag });
        expect([status, body, response.headers.get('etag')]).toEqual([304, '', '"e1"']);
        expect(response.headers.get('api-version')).toBe('1');
        // The access is still recorded: health-data was called.
        expect(gateway.backends.callsOf('read')).toHaveLength(1);
      },
    );

    test.each([['"e2"'], ['e1'], ['W/"e2"']])('%s is answered with the document', async (tag) => {
      answer({});
      expect((await get(HEART, { 'if-none-match': tag })).status).toBe(200);
    });
  });

  describe('an error of health-data', () => {
    test('a stale assertion is renewed and the call repeated once', async () => {
      let assertion = 0;
      answer({
        introspect: () => {
          assertion += 1;
          return { ...liveToken(), assertion: `assertion-${assertion}` };
        },
        read: (_, context) => {
          if (context.findMetadata('phds-assertion') === 'assertion-1') throw new AppError('assertion_stale');
          return READINGS;
        },
      });
      expect((await get(HEART)).status).toBe(200);
      expect(gateway.backends.callsOf('read').map((call) => call.assertion)).toEqual([
        'assertion-1',
        'assertion-2',
      ]);
    });

    test('an assertion that stays stale is answered with 503 after one retry', async () => {
      answer({
        read: throwing(new AppError('assertion_stale')),
      });
      expect((await get(HEART)).body).toMatchObject({ status: 503, code: 'INTERNAL_ERROR' });
      expect(gateway.backends.callsOf('read')).toHaveLength(2);
    });
  });

  test.each<AppError>([unauthorized(), new AppError('token_expired'), new AppError('consent_required')])(
    'cached facts are dropped when the record step refutes them (case %#)',
    async (error) => {
      answer({ read: throwing(error) });
      await get(HEART);
      expect(gateway.service.accessTokens.size).toBe(0);
    },
  );

  test('facts are renewed before CONSENT_REQUIRED is answered', async () => {
    const headers = bearer();
    answer({ introspect: () => liveToken({ grant: { scopes: ['read:mood'] } }) });
    expect((await get(HEART, headers)).status).toBe(403);
    answer({});
    expect((await get(HEART, headers)).status).toBe(200);
  });

  describe('without facts about consent', () => {
    test('a request proceeds when consent could not be reached, and nothing is cached', async () => {
      answer({ introspect: () => ({ ...liveToken({ grant: null }), ledgerChecked: false }) });
      expect((await get(HEART)).status).toBe(200);
      expect(gateway.service.accessTokens.size).toBe(0);
    });

    test('a userless token gets 403 and never data', async () => {
      const userless = { userId: '', grantId: '', familyId: '' };
      answer({ introspect: () => ({ ...liveToken({ principal: userless }), assertion: '' }) });
      expect((await get(HEART)).body).toMatchObject({
        status: 403,
        code: 'CONSENT_REQUIRED',
        detail: 'This token has no user. Use one from the authorization code flow.',
      });
      expect(gateway.backends.callsOf('read')).toHaveLength(0);
    });
  });
});

describe('routing', () => {
  interface Init {
    readonly method?: string;
    readonly headers?: Record<string, string>;
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
      [
        'method before scope',
        HEART,
        { method: 'DELETE' },
        { introspect: noScope },
        405,
        'METHOD_NOT_ALLOWED',
      ],
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

    test.each([
      '/api',
      '/api/',
      '/api/v1',
      '/api/v1/',
      '/api/v1/profile/',
      '/api/v1/Profile',
      '/api/vx/profile',
      '/api/v1/profile/x',
      ...['', '/', '/hearts', '/Heart', '/heart/x', '/__proto__'].map((rest) => `/api/v1/health-data${rest}`),
      '/api/v1/medications/adherence',
      '/api/v1/medications//adherence',
    ])('%s is not a route', async (path) => {
      answer({});
      expect((await get(path)).body).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    });
  });

  test('an unsupported version is answered with those that are supported', async () => {
    answer({});
    const { body } = await get('/api/v3/profile');
    expect(body).toMatchObject({ status: 400, code: 'UNSUPPORTED_VERSION', supportedVersions: ['1'] });
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
});

const CURSOR = `cur_${'aB3-_'.repeat(20)}`;

describe('updatedSince', () => {
  beforeEach(() => {
    gateway.backends.answer({
      introspect: () => liveToken(),
      read: () => ({ ...documentOf({ data: [], sync: {} }), nextCursor: CURSOR }),
    });
  });

  test.each([
    ['an instant, in UTC', '2026-01-01T00:00:00%2B02:00', '2025-12-31T22:00:00.000Z'],
    ['a cursor, unchanged', CURSOR, CURSOR],
  ])('is forwarded as %s', async (_, sent, forwarded) => {
    const { response } = await get(`${HEART}?updatedSince=${sent}&pageSize=7`);
    expect(response.status).toBe(200);
    expect(gateway.backends.callsOf('read')[0]?.request).toMatchObject({
      parameters: { updatedSince: forwarded, page: { pageSize: 7 }, from: '', to: '' },
    });
  });

  test('is linked to the next changes by the cursor of the answer, with the other parameters', async () => {
    const { response } = await get(`${HEART}?type=HRV&updatedSince=1970-01-01T00:00:00Z&pageSize=7`);
    expect(response.headers.get('link')).toBe(
      `<${HEART}?type=HRV&pageSize=7&updatedSince=${CURSOR}>; rel="next"`,
    );
    const alone = await get(`${HEART}?updatedSince=${CURSOR}`);
    expect(alone.response.headers.get('link')).toBe(`<${HEART}?updatedSince=${CURSOR}>; rel="next"`);
  });

  test('excludes page, from and to, each of which is named', async () => {
    const { response, body } = await get(
      `${HEART}?updatedSince=${CURSOR}&page=2&from=2026-01-01&to=2026-02-01`,
    );
    expect(response.status).toBe(400);
    expect(body['errors']).toEqual(
      ['page', 'from', 'to'].map((parameter) => ({
        parameter,
        message: 'cannot be combined with "updatedSince"',
      })),
    );
    expect(gateway.backends.callsOf('read')).toEqual([]);
  });

  test.each([
    '',
    'yesterday',
    '2026-01-01',
    'cur_',
    'cur_short',
    `cur_${'a'.repeat(401)}`,
    `${CURSOR}=`,
    `cur_%20${'a'.repeat(40)}`,
  ])('%p is refused with an example of what is accepted', async (value) => {
    const { response, body } = await get(`${HEART}?updatedSince=${value}`);
    expect(response.status).toBe(400);
    expect(body['errors']).toEqual([
      {
        parameter: 'updatedSince',
        message:
          'must be an RFC 3339 instant (1970-01-01T00:00:00Z for everything) or the cursor of an earlier answer',
      },
    ]);
  });

  test('is no parameter of other endpoints', async () => {
    const { response, body } = await get(`/api/v1/mood?updatedSince=${CURSOR}`);
    expect(response.status).toBe(400);
    expect(body['errors']).toMatchObject([{ parameter: 'updatedSince' }]);
  });
});
