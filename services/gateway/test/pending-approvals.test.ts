import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Need, PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { AppError, notFound } from '@phds/service-kit/errors';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
let session: string;
const time = timestampFromDate(new Date('2026-03-01T10:00:00.5Z'));
const INSTANT = '2026-03-01T10:00:00.500Z';

beforeAll(async () => {
  gateway = await startTestGateway();
  session = await gateway.sessions.issueSession('ada', { expiresInSeconds: 86_400 });
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.backends.calls.length = 0;
  gateway.backends.answer({});
});

async function call(method: string, path: string) {
  const response = await gateway.fetch(path, { method, headers: { authorization: `Bearer ${session}` } });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

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
  logoUrl: null,
};

test('people see pending approvals with the texts of the catalog, without the owner', async () => {
  const pendingApproval = {
    id: 'apr_1',
    status: PendingStatus.PENDING,
    app: profile,
    redirectHost: 'a.test',
    requestedScopes: [{ scope: 'read:mood', alreadyShared: true, need: Need.NEEDED }],
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
        need: 'needed',
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
  expect((await call('GET', '/partner/consent/pending/apr_1')).body.data).toEqual(expected);
});

describe('a person who reads a request', () => {
  test('gets more time', async () => {
    gateway.backends.answer({ extendAuthorization: () => ({ expiresAt: time }) });
    expect(await call('POST', '/partner/consent/pending/apr_1/extend')).toEqual({
      status: 200,
      body: { data: { id: 'apr_1', expiresAt: INSTANT } },
    });
    expect(gateway.backends.callsOf('extendAuthorization')).toMatchObject([
      { request: { pendingId: 'apr_1' }, session },
    ]);
  });

  test('gives it back', async () => {
    expect(await call('POST', '/partner/consent/pending/apr_1/release')).toEqual({
      status: 200,
      body: { data: { id: 'apr_1' } },
    });
    expect(gateway.backends.callsOf('releasePendingApproval')).toMatchObject([
      { request: { id: 'apr_1' }, session },
    ]);
  });

  test.each([
    ['pending_expired', 409, 'PENDING_EXPIRED'],
    ['already_decided', 409, 'ALREADY_DECIDED'],
    ['conflict', 409, 'CONFLICT'],
    ['not_found', 404, 'NOT_FOUND'],
  ] as const)('is told why neither is possible: %s', async (reason, status, code) => {
    const refuse = () => {
      throw reason === 'not_found' ? notFound() : new AppError(reason, 'This is why.');
    };
    gateway.backends.answer({ extendAuthorization: refuse, releasePendingApproval: refuse });
    // Releasing never conflicts.
    for (const what of reason === 'conflict' ? ['extend'] : ['extend', 'release']) {
      expect(await call('POST', `/partner/consent/pending/apr_1/${what}`)).toMatchObject({
        status,
        body: { code },
      });
    }
  });

  test.each(['extend', 'release'])('needs a session, and the method POST, for %s', async (what) => {
    const path = `/partner/consent/pending/apr_1/${what}`;
    expect((await gateway.fetch(path, { method: 'POST' })).status).toBe(401);
    expect((await call('GET', path)).status).toBe(405);
    expect(gateway.backends.calls).toEqual([]);
  });

  test.each(['extend', 'release'])('is not made to %s by another site', async (what) => {
    const response = await gateway.fetch(`/partner/consent/pending/apr_1/${what}`, {
      method: 'POST',
      headers: { cookie: `session=${session}`, 'sec-fetch-site': 'cross-site' },
    });
    expect(response.status).toBe(401);
    expect(gateway.backends.calls).toEqual([]);
  });
});
