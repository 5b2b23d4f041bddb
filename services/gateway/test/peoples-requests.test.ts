import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { notFound } from '@phds/service-kit/errors';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
let session: string;
const at = timestampFromDate(new Date('2026-03-01T10:00:00.5Z'));
const INSTANT = '2026-03-01T10:00:00.500Z';

beforeAll(async () => {
  gateway = await startTestGateway();
  session = await gateway.sessions.issueSession('ada', { claims: { name: ' Ada\u202E Sommer ' } });
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.backends.calls.length = 0;
  gateway.backends.answer({});
});

async function call(method: string, path: string, body?: unknown, bearer = session) {
  const response = await gateway.fetch(path, {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

describe('GET /partner/session', () => {
  test('names the person as the identity provider does, without invisible characters', async () => {
    expect((await call('GET', '/partner/session')).body.data).toMatchObject({
      userId: 'ada',
      name: 'Ada Sommer',
    });
  });

  test('has the name null when the identity provider gives none', async () => {
    const nameless = await gateway.sessions.issueSession('grace');
    expect((await call('GET', '/partner/session', undefined, nameless)).body.data).toMatchObject({
      userId: 'grace',
      name: null,
    });
  });
});

describe('GET /partner/consent/apps', () => {
  test('lists the apps of the person, with the present name if it differs', async () => {
    const apps = [
      { clientId: 'app_2', name: 'Two', currentName: 'Broker', redirectHost: 'two.test' },
      { clientId: 'app_1', name: 'One', currentName: 'One', redirectHost: '' },
    ];
    gateway.backends.answer({ listConnectedApps: () => ({ apps, total: 5 }) });
    expect((await call('GET', '/partner/consent/apps?page=2&pageSize=2')).body).toEqual({
      data: [
        { clientId: 'app_2', name: 'Two', currentName: 'Broker', redirectHost: 'two.test' },
        { clientId: 'app_1', name: 'One', redirectHost: null },
      ],
      pagination: { page: 2, pageSize: 2, total: 5, totalPages: 3 },
    });
    expect(gateway.backends.callsOf('listConnectedApps')[0]).toMatchObject({
      session,
      request: { page: { page: 2, pageSize: 2 } },
    });
  });

  test.each(['page=0', 'pageSize=x', 'status=active'])('refuses ?%s, naming it', async (query) => {
    const { status, body } = await call('GET', `/partner/consent/apps?${query}`);
    expect([status, body.errors[0].parameter]).toEqual([400, query.split('=')[0]]);
  });
});

describe('POST /partner/consent/grants/:id/deletion-request', () => {
  test('returns when the person first asked', async () => {
    gateway.backends.answer({ requestDeletion: () => ({ deletionRequestedAt: at }) });
    const { status, body } = await call('POST', '/partner/consent/grants/grt_1/deletion-request');
    expect([status, body]).toEqual([200, { data: { id: 'grt_1', deletionRequestedAt: INSTANT } }]);
    expect(gateway.backends.callsOf('requestDeletion')[0]).toMatchObject({
      session,
      request: { grantId: 'grt_1' },
    });
  });

  test('is not found for a grant of somebody else', async () => {
    gateway.backends.answer({
      requestDeletion: () => {
        throw notFound();
      },
    });
    const { status, body } = await call('POST', '/partner/consent/grants/grt_1/deletion-request');
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
  });
});
