import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

const OWN = 'http://localhost:8080';

let gateway: TestGateway;
let session: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  session = await gateway.sessions.issueSession('ada', { expiresInSeconds: 86_400 });
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  const pendingApproval = { id: 'apr_1', status: PendingStatus.PENDING };
  gateway.backends.calls.length = 0;
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
  const response = await claim({ cookie: `session=${session}`, ...headers });
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
  expect((await claim({ cookie: `session=${session}`, ...headers })).status).toBe(200);
});

test.each<Fields>([{}, { 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.test' }])(
  'a bearer session claims a pending approval in any request, with %j',
  async (headers) => {
    expect((await claim({ authorization: `Bearer ${session}`, ...headers })).status).toBe(200);
  },
);

test('a Referer of our own is accepted for GET only', async () => {
  const headers = { cookie: `session=${session}`, referer: `${OWN}/approve/apr_1` };
  const response = await gateway.fetch('/partner/consent/pending/apr_1/deny', { method: 'POST', headers });
  expect(response.status).toBe(401);
  expect(gateway.backends.calls).toEqual([]);
});
