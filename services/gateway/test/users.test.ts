import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { REFUSAL_REASONS } from '@phds/catalog/wire-names';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { Verdict, VerdictSchema } from '@phds/contracts/phds/consent/v1/access_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { invalidRequest, notFound } from '@phds/service-kit/errors';
import { ask, bearer, liveToken, shareCaller, shareTestGateway, throwing } from './test-gateway.ts';

const gateway = shareTestGateway();

describe('users', () => {
  const { call } = shareCaller(gateway, 'ada');
  const time = timestampFromDate(new Date('2026-03-01T10:00:00.5Z'));
  const INSTANT = '2026-03-01T10:00:00.500Z';

  const profile = { clientId: 'app_1', name: 'One', ownerId: 'grace', description: 'Draws a diary.' };
  const profileJson = {
    clientId: 'app_1',
    name: 'One',
    description: 'Draws a diary.',
    developerName: null,
    homepageUrl: null,
    privacyPolicyUrl: null,
  };

  test('list, narrow and end grants', async () => {
    const grant = {
      id: 'grt_1',
      app: profile,
      scopes: ['read:mood'],
      status: GrantStatus.ACTIVE,
      grantedAt: time,
      redirectHost: 'a.test',
      purpose: 'To find patterns.',
    };
    gateway.backends.answer({
      listGrants: () => ({ grants: [grant], total: 1 }),
      narrowGrant: () => ({ grant }),
      revokeGrant: () => ({ revokedAt: time }),
      revokeAllGrants: () => ({ revoked: 3 }),
      getReceipt: () => ({ receipt: 'a.b.c' }),
    });
    const expected = {
      id: 'grt_1',
      app: { ...profileJson, redirectHost: 'a.test' },
      purpose: 'To find patterns.',
      scopes: ['read:mood'],
      status: 'active',
      grantedAt: INSTANT,
      expiresAt: null,
      revokedAt: null,
      revokedBy: null,
      endedBy: null,
      lastAccessAt: null,
      accessCount: 0,
      dataFrom: null,
      deletionRequestedAt: null,
    };
    expect((await call('GET', '/partner/consent/grants?status=active')).body.data).toEqual([expected]);
    expect((await call('GET', '/partner/consent/grants/grt_1')).body).toEqual({ data: expected });
    const narrowing = { scopes: ['read:mood'], expiresAt: '2026-06-01T00:00:00Z', dataFrom: '2026-01-01' };
    expect((await call('PATCH', '/partner/consent/grants/grt_1', narrowing)).body).toEqual({
      data: expected,
    });
    expect(gateway.backends.callsOf('narrowGrant')[0]?.request).toMatchObject({
      setScopes: true,
      scopes: ['read:mood'],
      dataFrom: '2026-01-01',
      expiresAt: timestampFromDate(new Date('2026-06-01T00:00:00Z')),
    });
    // An unencoded `+` arrives as a space.
    await call('PATCH', '/partner/consent/grants/grt_1', { expiresAt: '2026-06-01T02:00:00 02:00' });
    expect(gateway.backends.callsOf('narrowGrant')[1]?.request).toMatchObject({
      expiresAt: timestampFromDate(new Date('2026-06-01T00:00:00Z')),
    });
    expect((await call('DELETE', '/partner/consent/grants/grt_1')).body).toEqual({
      data: { id: 'grt_1', status: 'revoked', revokedAt: INSTANT },
    });
    expect((await call('POST', '/partner/consent/grants/revoke-all')).body).toEqual({
      data: { revoked: 3 },
    });
    expect((await call('GET', '/partner/consent/grants/grt_1/receipt')).body.data.receipt).toBe('a.b.c');
  });

  test('list who read what', async () => {
    const refused = VerdictSchema.values.map(({ number }) => number).slice(2);
    const record = (verdict: Verdict) => ({
      id: 'acc_1',
      at: time,
      clientId: 'app_1',
      appName: 'One',
      verdict,
    });
    gateway.backends.answer({
      listAccesses: () => ({ accesses: [Verdict.RELEASED, ...refused].map(record), total: 10 }),
    });
    const { body } = await call(
      'GET',
      '/partner/consent/grants/grt_1/accesses?scope=read:mood&from=2026-01-01',
    );
    expect(body.data[0]).toEqual({
      id: 'acc_1',
      at: INSTANT,
      app: { clientId: 'app_1', name: 'One' },
      grantId: '',
      scope: '',
      endpoint: '',
      from: null,
      to: null,
      recordCount: 0,
      outcome: 'released',
      reason: null,
    });
    expect(body.data.slice(1)).toMatchObject(
      REFUSAL_REASONS.map((reason) => ({ outcome: 'refused', reason })),
    );
    expect(gateway.backends.callsOf('listAccesses')[0]?.request).toMatchObject({
      grantId: 'grt_1',
      scope: 'read:mood',
    });
    expect((await call('GET', '/partner/consent/accesses?clientId=app_1')).status).toBe(200);
  });

  test.each<[string, string, unknown, string]>([
    ['GET', '/partner/consent/grants?status=done', undefined, 'status'],
    ['GET', '/partner/consent/pending?status=active', undefined, 'status'],
    ['GET', '/partner/consent/accesses?from=x', undefined, 'from'],
    ['GET', '/partner/consent/accesses?from=2026-03-02&to=2026-03-01', undefined, 'from'],
    [
      'GET',
      '/partner/consent/grants/grt_1/accesses?from=2026-03-01&to=2026-03-01T00:00:00Z',
      undefined,
      'from',
    ],
    ['PATCH', '/partner/consent/grants/grt_1', { expiresAt: '2026-06-01' }, 'expiresAt'],
    ['PATCH', '/partner/consent/grants/grt_1', { status: 'revoked' }, 'status'],
    ['POST', '/partner/consent/pending/apr_1/approve', { expiresInDays: 7 }, 'expiresInDays'],
    ['POST', '/partner/consent/pending/apr_1/approve', { scopes: 'read:mood' }, 'scopes'],
    ['POST', '/partner/consent/pending/apr_1/approve', { dataFrom: '2026-02-30' }, 'dataFrom'],
    ['POST', '/partner/consent/pending/apr_1/approve', { scope: ['read:mood'] }, 'scope'],
  ])('%s %s with %j reports a violation of %s', async (method, path, sent, parameter) => {
    const { status, body } = await call(method, path, sent);
    expect([status, body.errors[0].parameter]).toEqual([400, parameter]);
  });

  test("another person's id is answered as not found, whatever its form", async () => {
    gateway.backends.answer({ listGrants: throwing(notFound()) });
    const bodies = await Promise.all(
      ['grt_1', 'x', '..%2f'].map((id) => call('GET', `/partner/consent/grants/${id}`)),
    );
    expect(new Set(bodies.map(({ body: { requestId: _, ...body } }) => JSON.stringify(body))).size).toBe(1);
  });

  test('violations found by the called service are reported unchanged', async () => {
    gateway.backends.answer({
      completeAuthorization: throwing(invalidRequest('scopes', 'was not requested')),
    });
    const { body } = await call('POST', '/partner/consent/pending/apr_1/approve', { scopes: ['read:ehr'] });
    expect(body.errors).toEqual([{ parameter: 'scopes', message: 'was not requested' }]);
  });
});

describe("people's requests", () => {
  const { call, session } = shareCaller(gateway, 'ada', { name: ' Ada\u202E Sommer ' });
  const at = timestampFromDate(new Date('2026-03-01T10:00:00.5Z'));
  const INSTANT = '2026-03-01T10:00:00.500Z';

  describe('GET /partner/consent/apps', () => {
    test('lists the apps of the person, with the present name if it differs', async () => {
      const apps = [
        {
          clientId: 'app_2',
          name: 'Two',
          currentName: 'Broker',
          redirectHost: 'two.test',
          developerName: 'B.',
        },
        { clientId: 'app_1', name: 'One', currentName: 'One', redirectHost: 'one.test', developerName: '' },
      ];
      gateway.backends.answer({ listConnectedApps: () => ({ apps, total: 5 }) });
      expect((await call('GET', '/partner/consent/apps?page=2&pageSize=2')).body).toEqual({
        data: [
          {
            clientId: 'app_2',
            name: 'Two',
            currentName: 'Broker',
            redirectHost: 'two.test',
            developerName: 'B.',
          },
          { clientId: 'app_1', name: 'One', redirectHost: 'one.test', developerName: null },
        ],
        pagination: { page: 2, pageSize: 2, total: 5, totalPages: 3 },
      });
      expect(gateway.backends.callsOf('listConnectedApps')[0]).toMatchObject({
        session: session(),
        request: { page: { page: 2, pageSize: 2 } },
      });
    });
  });

  describe('GET /partner/consent/operator-acts', () => {
    test('lists what operators did about the person', async () => {
      const acts = [
        { number: 9n, at, rpc: 'phds.consent.v1.New/Rpc', clientId: 'app_1', appName: 'One' },
        { number: 8n, at, rpc: 'phds.authorization.v1.AppOperatorService/AddDeveloper', appName: '' },
      ];
      gateway.backends.answer({ listOwnActs: () => ({ acts, total: 2 }) });
      expect((await call('GET', '/partner/consent/operator-acts')).body.data).toEqual([
        { id: '9', at: INSTANT, act: 'other', clientId: 'app_1', appName: 'One' },
        { id: '8', at: INSTANT, act: 'developer_added', clientId: null, appName: null },
      ]);
      expect(gateway.backends.callsOf('listOwnActs')[0]).toMatchObject({ session: session() });
    });
  });

  describe('POST /partner/consent/grants/:id/deletion-request', () => {
    test('returns when the person first asked', async () => {
      gateway.backends.answer({ requestDeletion: () => ({ deletionRequestedAt: at }) });
      const { status, body } = await call('POST', '/partner/consent/grants/grt_1/deletion-request');
      expect([status, body]).toEqual([200, { data: { id: 'grt_1', deletionRequestedAt: INSTANT } }]);
      expect(gateway.backends.callsOf('requestDeletion')[0]).toMatchObject({
        session: session(),
        request: { grantId: 'grt_1' },
      });
    });
  });

  describe('GET /partner/consent/overview', () => {
    test('shows what health-data answers to the session', async () => {
      gateway.backends.answer({ overview: () => ({ body: Buffer.from('{"data":[]}') }) });
      expect((await call('GET', '/partner/consent/overview')).body).toEqual({ data: [] });
      expect(gateway.backends.callsOf('overview')[0]).toMatchObject({ session: session() });
      const { body } = await call('GET', '/partner/consent/overview?scope=read:mood');
      expect(body.errors[0].parameter).toBe('scope');
    });
  });

  describe('GET /partner/consent/preview', () => {
    test('shows what an app would receive', async () => {
      gateway.backends.answer({ preview: () => ({ body: Buffer.from('{"data":{"total":1}}') }) });
      const mood = '/partner/consent/preview?scope=read:mood';
      expect((await call('GET', mood)).body).toEqual({ data: { total: 1 } });
      await call('GET', `${mood}&dataFrom=2026-02-28`);
      const asked = gateway.backends.callsOf('preview').map(({ request }) => request['dataFrom']);
      expect(asked).toEqual(['', '2026-02-28']);
      const { body } = await call('GET', `${mood}&dataFrom=2026-02-30`);
      expect(body.errors[0].parameter).toBe('dataFrom');
      expect((await call('GET', '/partner/consent/preview')).body.errors[0].parameter).toBe('scope');
      expect((await call('GET', '/partner/consent/preview?scope=read:all')).status).toBe(400);
    });
  });
});

describe('messages', () => {
  beforeEach(() => gateway.backends.answer({ introspect: () => liveToken() }));

  const get = (path: string) => ask(gateway, path, { headers: bearer() });

  describe('an unknown category', () => {
    const CATEGORIES =
      'heart, blood-pressure, oxygen, respiratory, glucose, temperature, activity, sleep, body-composition, mindfulness';

    test.each([
      ['heart-rate', 'did you mean "heart"?'],
      ['Heart%20Rate', 'did you mean "heart"?'],
      ['hart', 'did you mean "heart"?'],
      ['heart-data', 'did you mean "heart"?'],
      ['HEART', 'did you mean "heart"?'],
      ['steps', 'did you mean "activity"?'],
      ['spo2', 'did you mean "oxygen"?'],
      ['bloodpressure', 'did you mean "blood-pressure"?'],
      ['nails', `the categories are ${CATEGORIES}`],
      ['__proto__', `the categories are ${CATEGORIES}`],
    ])('%s is answered with the one that was probably meant', async (category, hint) => {
      const { status, body } = await get(`/api/v1/health-data/${category}`);
      expect([status, body]).toEqual([
        404,
        expect.objectContaining({
          code: 'NOT_FOUND',
          detail: `No category "${category}"; ${hint}`,
        }),
      ]);
    });

    test('is named up to 64 characters', async () => {
      const { body } = await get(`/api/v1/health-data/${'q'.repeat(5_000)}`);
      expect(body['detail']).toBe(`No category "${'q'.repeat(64)}"; the categories are ${CATEGORIES}`);
    });
  });

  test.each([
    '/api/v1/health-data/heart',
    '/developer/apps',
    '/partner/consent/grants',
    '/problems',
    '/livez',
  ])('%s with another method is METHOD_NOT_ALLOWED, with the methods that it has', async (path) => {
    const headers = path.startsWith('/api')
      ? bearer()
      : { authorization: `Bearer ${await gateway.sessions.issueSession('ada')}` };
    const response = await gateway.fetch(path, { method: 'PUT', headers });
    const allow = response.headers.get('allow');
    expect([response.status, await response.json()]).toEqual([
      405,
      {
        type: '/problems/method-not-allowed',
        title: 'Method not allowed',
        status: 405,
        code: 'METHOD_NOT_ALLOWED',
        detail: `This resource answers ${allow} only.`,
        requestId: expect.stringMatching(/^req_/),
      },
    ]);
  });

  test('an expired access token gets the challenge invalid_token, by which OAuth clients know to refresh', async () => {
    gateway.backends.answer({ introspect: () => ({ status: TokenStatus.EXPIRED }) });
    const { status, response, body } = await get('/api/v1/health-data/heart');
    expect([status, body['code'], response.headers.get('www-authenticate')]).toEqual([
      401,
      'TOKEN_EXPIRED',
      'Bearer realm="phds", error="invalid_token"',
    ]);
  });
});
