import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Need, PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
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
  return { status: response.status, body: await response.json() };
}

const profile = { clientId: 'app_1', name: 'One', ownerId: 'grace', homepageUrl: 'https://a.test' };
const profileJson = {
  clientId: 'app_1',
  name: 'One',
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
