import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DATA_PATHS } from '@phds/catalog/endpoints';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { AppError, invalidRequest, notFound, unauthorized, unavailable } from '@phds/service-kit/errors';
import { toReadEndpoint } from '@phds/service-kit/postgres/read-endpoints';
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

function answer(answers: Answers): void {
  gateway.backends.answer({ introspect: () => liveToken(), read: () => READINGS, ...answers });
}

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await gateway.fetch(path, { headers: { ...bearer(), ...headers } });
  const text = await response.text();
  return { response, status: response.status, body: text === '' ? null : JSON.parse(text) };
}

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
      expect([status, body, response.headers.get('etag')]).toEqual([304, null, '"e1"']);
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
  test.each<[string, AppError, number, string]>([
    ['not found', notFound(), 404, 'NOT_FOUND'],
    ['invalid', invalidRequest('type', 'no'), 400, 'INVALID_REQUEST'],
    ['not recorded', new AppError('access_not_recorded'), 503, 'ACCESS_NOT_RECORDED'],
    ['unavailable', unavailable(), 503, 'INTERNAL_ERROR'],
    ['internal', new AppError('internal'), 500, 'INTERNAL_ERROR'],
    ['consent', new AppError('consent_required'), 403, 'CONSENT_REQUIRED'],
    ['unauthorized', unauthorized(), 401, 'UNAUTHORIZED'],
    ['token expired', new AppError('token_expired'), 401, 'TOKEN_EXPIRED'],
  ])('%s becomes its status and code', async (_, error, status, code) => {
    answer({
      read: () => {
        throw error;
      },
    });
    const { response, body, ...rest } = await get(HEART);
    expect([rest.status, body.code]).toEqual([status, code]);
    if (status === 503) expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    if (code !== 'UNAUTHORIZED') {
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(body).toMatchObject({ requestId: response.headers.get('x-request-id'), status });
    }
  });

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
      read: () => {
        throw new AppError('assertion_stale');
      },
    });
    expect((await get(HEART)).body).toMatchObject({ status: 503, code: 'INTERNAL_ERROR' });
    expect(gateway.backends.callsOf('read')).toHaveLength(2);
  });
});

describe('without facts about consent', () => {
  test('a request proceeds when consent could not be reached, and nothing is cached', async () => {
    answer({ introspect: () => ({ ...liveToken({ grant: null }), ledgerChecked: false }) });
    expect((await get(HEART)).status).toBe(200);
    expect(gateway.service.cache.size).toBe(0);
  });

  test('a userless token gets 403 and never data', async () => {
    const userless = { userId: '', grantId: '', familyId: '' };
    answer({ introspect: () => ({ ...liveToken({ principal: userless }), assertion: '' }) });
    expect((await get(HEART)).body).toMatchObject({ status: 403, code: 'CONSENT_REQUIRED' });
    expect(gateway.backends.callsOf('read')).toHaveLength(0);
  });

  test('a token whose grant has lost the scope gets CONSENT_REQUIRED', async () => {
    answer({ introspect: () => liveToken({ grant: { scopes: ['read:mood'] } }) });
    expect((await get(HEART)).body).toMatchObject({
      code: 'CONSENT_REQUIRED',
      requiredScope: 'read:health-data:heart',
    });
  });

  test('a request gets 503 when authorization is unavailable', async () => {
    answer({
      introspect: () => {
        throw unavailable();
      },
    });
    expect((await get(HEART)).body).toMatchObject({ status: 503, code: 'INTERNAL_ERROR' });
  });
});
