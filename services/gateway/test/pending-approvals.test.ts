import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { shareCaller, shareTestGateway } from './test-gateway.ts';

const gateway = shareTestGateway();
const { call, session } = shareCaller(gateway, 'ada');

describe('pending approvals', () => {
  const time = timestampFromDate(new Date('2026-03-01T10:00:00.5Z'));
  const INSTANT = '2026-03-01T10:00:00.500Z';

  const profile = {
    clientId: 'app_1',
    name: 'One',
    ownerId: 'grace',
    developerName: 'One GmbH',
    homepageUrl: 'https://a.test',
  };
  const profileJson = {
    clientId: 'app_1',
    name: 'One',
    description: null,
    developerName: 'One GmbH',
    homepageUrl: 'https://a.test',
    privacyPolicyUrl: null,
  };

  test('people see pending approvals with the texts of the catalog, without the owner', async () => {
    const pendingApproval = {
      id: 'apr_1',
      status: PendingStatus.PENDING,
      app: profile,
      redirectHost: 'a.test',
      requestedScopes: [{ scope: 'read:mood', alreadyShared: true }],
      createdAt: time,
      expiresAt: time,
      revision: 'r1',
      connection: {
        grantId: 'grt_1',
        appName: 'One before',
        scopes: ['read:mood'],
        expiresAt: time,
        dataFrom: '2026-01-01',
      },
    };
    gateway.backends.answer({
      listPendingApprovals: () => ({ pendingApprovals: [pendingApproval], total: 1 }),
      getPendingApproval: () => ({ pendingApproval }),
    });
    const expected = {
      id: 'apr_1',
      status: 'pending',
      app: { ...profileJson, redirectHost: 'a.test' },
      requestedScopes: [
        {
          scope: 'read:mood',
          title: 'Mood',
          description: expect.any(String),
          sensitive: true,
          alreadyShared: true,
        },
      ],
      purpose: null,
      clientAuthenticated: false,
      createdAt: INSTANT,
      expiresAt: INSTANT,
      revision: 'r1',
      connection: {
        grantId: 'grt_1',
        appName: 'One before',
        scopes: ['read:mood'],
        expiresAt: INSTANT,
        dataFrom: '2026-01-01',
      },
    };
    expect((await call('GET', '/partner/consent/pending?status=pending')).body.data).toEqual([expected]);
    await call('GET', '/partner/consent/pending');
    const asked = gateway.backends.callsOf('listPendingApprovals').map(({ request }) => request['status']);
    expect(asked).toEqual([PendingStatus.PENDING, PendingStatus.PENDING]);
    expect((await call('GET', '/partner/consent/pending/apr_1')).body.data).toEqual(expected);
  });

  describe('a person who reads a request', () => {
    test('gets more time', async () => {
      gateway.backends.answer({ extendAuthorization: () => ({ expiresAt: time }) });
      expect(await call('POST', '/partner/consent/pending/apr_1/extend')).toMatchObject({
        status: 200,
        body: { data: { id: 'apr_1', expiresAt: INSTANT } },
      });
      expect(gateway.backends.callsOf('extendAuthorization')).toMatchObject([
        { request: { pendingId: 'apr_1' }, session: session() },
      ]);
    });

    test('gives it back', async () => {
      expect(await call('POST', '/partner/consent/pending/apr_1/release')).toMatchObject({
        status: 200,
        body: { data: { id: 'apr_1' } },
      });
      expect(gateway.backends.callsOf('releasePendingApproval')).toMatchObject([
        { request: { id: 'apr_1' }, session: session() },
      ]);
    });
  });
});

describe('claims', () => {
  const OWN = 'http://localhost:8080';

  beforeEach(() => {
    const pendingApproval = { id: 'apr_1', status: PendingStatus.PENDING, app: {} };
    gateway.backends.answer({ getPendingApproval: () => ({ pendingApproval }) });
  });

  type Fields = Record<string, string>;

  const claim = (headers: Fields) => gateway.fetch('/partner/consent/pending/apr_1', { headers });

  test.each<Fields>([
    {},
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-site', referer: `${OWN}/approve/apr_1` },
    { origin: 'https://evil.test', referer: `${OWN}/approve/apr_1` },
    { origin: 'null' },
    { referer: 'https://evil.test/approve/apr_1' },
    { referer: `${OWN}.evil.test/` },
    { referer: 'nonsense' },
  ])('a cookie cannot claim a pending approval in a request with %j', async (headers) => {
    const response = await claim({ cookie: `session=${session()}`, ...headers });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(gateway.backends.calls).toEqual([]);
  });

  test.each<Fields>([
    { 'sec-fetch-site': 'same-origin' },
    { origin: OWN },
    // A browser without Fetch Metadata.
    { referer: `${OWN}/approve/apr_1` },
  ])('a cookie claims a pending approval in a request from our own page, with %j', async (headers) => {
    expect((await claim({ cookie: `session=${session()}`, ...headers })).status).toBe(200);
  });

  test.each<Fields>([{}, { 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.test' }])(
    'a bearer session claims a pending approval in any request, with %j',
    async (headers) => {
      expect((await claim({ authorization: `Bearer ${session()}`, ...headers })).status).toBe(200);
    },
  );

  test('a Referer of our own is accepted for GET only', async () => {
    const headers = { cookie: `session=${session()}`, referer: `${OWN}/approve/apr_1` };
    const response = await gateway.fetch('/partner/consent/pending/apr_1/deny', { method: 'POST', headers });
    expect(response.status).toBe(401);
    expect(gateway.backends.calls).toEqual([]);
  });
});

describe('decisions', () => {
  const REDIRECT = 'https://a.test/cb?code=c&state=s';
  const JSON_TYPE = { 'content-type': 'application/json' };

  const completeAuthorization = () => ({
    grantId: 'grt_1',
    scopes: ['read:mood'],
    grantExpiresAt: timestampFromDate(new Date('2026-06-01T00:00:00Z')),
    redirectUri: REDIRECT,
  });

  function decide(decision: string, init: { headers?: Record<string, string>; body?: string } = {}) {
    return gateway.fetch(`/partner/consent/pending/apr_1/${decision}`, {
      method: 'POST',
      ...init,
      headers: { cookie: `session=${session()}`, 'sec-fetch-site': 'same-origin', ...init.headers },
    });
  }

  describe('a decision', () => {
    test('approves all requested scopes when none are named', async () => {
      gateway.backends.answer({ completeAuthorization });
      const response = await decide('approve');
      expect(await response.json()).toEqual({
        data: {
          id: 'apr_1',
          status: 'approved',
          grantId: 'grt_1',
          scopes: ['read:mood'],
          grantExpiresAt: '2026-06-01T00:00:00.000Z',
          redirectUri: REDIRECT,
        },
      });
      expect(gateway.backends.callsOf('completeAuthorization')[0]?.request).toMatchObject({
        pendingId: 'apr_1',
        allRequested: true,
      });
    });

    test('can approve a subset of scopes, with an expiry and a first day of data', async () => {
      gateway.backends.answer({ completeAuthorization });
      const body = JSON.stringify({
        scopes: ['read:mood'],
        expiresInDays: 30,
        dataFrom: '2026-01-01',
        language: 'de',
        revision: 'r1',
      });
      await decide('approve', { headers: JSON_TYPE, body });
      expect(gateway.backends.callsOf('completeAuthorization')[0]?.request).toMatchObject({
        scopes: ['read:mood'],
        allRequested: false,
        expiresInDays: 30,
        dataFrom: '2026-01-01',
        language: 'de',
        revision: 'r1',
      });
    });

    test.each([
      ['revision', '', expect.any(String)],
      ['revision', 'x'.repeat(129), expect.any(String)],
      ['language', 'fr', 'must be a tag of one of en, de'],
    ])(
      'with a %s that cannot be one (%j) is refused by name and changes nothing',
      async (parameter, value, message) => {
        const init = { headers: JSON_TYPE, body: JSON.stringify({ [parameter]: value }) };
        expect(await (await decide('approve', init)).json()).toMatchObject({
          status: 400,
          code: 'INVALID_REQUEST',
          errors: [{ parameter, message }],
        });
        expect(gateway.backends.calls).toEqual([]);
      },
    );

    test('denies', async () => {
      gateway.backends.answer({ denyAuthorization: () => ({ redirectUri: REDIRECT }) });
      const response = await decide('deny');
      expect(await response.json()).toEqual({
        data: { id: 'apr_1', status: 'denied', redirectUri: REDIRECT },
      });
    });
  });

  test('a form is no decision: it is refused, and nothing changes', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
    const response = await decide('approve', { headers, body: 'scopes=read%3Amood&expiresInDays=90' });
    expect([response.status, await response.json()]).toMatchObject([415, { code: 'INVALID_REQUEST' }]);
    expect(gateway.backends.calls).toEqual([]);
  });
});
