import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ReportReason } from '@phds/contracts/phds/consent/v1/reports_pb';
import { AppError, notFound } from '@phds/service-kit/errors';
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
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
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

describe.each([
  ['grants', { case: 'grantId', value: 'grt_1' }],
  ['pending', { case: 'pendingId', value: 'grt_1' }],
])('POST /partner/consent/%s/:id/report', (list, subject) => {
  const path = `/partner/consent/${list}/grt_1/report`;

  test('passes reason and text on, and returns the id of the report', async () => {
    gateway.backends.answer({ reportApp: () => ({ id: 'rpt_1', at }) });
    const { status, body } = await call('POST', path, { reason: 'not_deleted', text: 'Still there.' });
    expect([status, body]).toEqual([201, { data: { id: 'rpt_1', at: INSTANT } }]);
    await call('POST', path, { reason: 'other', text: null });
    await call('POST', path, { reason: 'other' });
    expect(gateway.backends.callsOf('reportApp')).toMatchObject([
      { session, request: { subject, reason: ReportReason.NOT_DELETED, text: 'Still there.' } },
      { session, request: { subject, reason: ReportReason.OTHER, text: '' } },
      { session, request: { subject, reason: ReportReason.OTHER, text: '' } },
    ]);
  });

  test.each<[string, object | undefined]>([
    ['reason', {}],
    ['reason', { reason: 'DATA_USE' }],
    ['text', { reason: 'other', text: 7 }],
    ['text', { reason: 'other', text: '\ud800' }],
    ['comment', { reason: 'other', comment: 'x' }],
    ['body', undefined],
  ])('refuses a wrong %s, naming it: %j', async (parameter, sent) => {
    const { status, body } = await call('POST', path, sent);
    expect([status, body.errors[0].parameter]).toEqual([400, parameter]);
    expect(gateway.backends.callsOf('reportApp')).toEqual([]);
  });

  test('says when the next report is possible after ten on a day', async () => {
    gateway.backends.answer({
      reportApp: () => {
        throw new AppError('rate_limited', 'Enough for today.', { retryAfterSeconds: 3_600 });
      },
    });
    const { status, headers, body } = await call('POST', path, { reason: 'other' });
    expect([status, headers.get('retry-after'), body.code]).toEqual([429, '3600', 'RATE_LIMITED']);
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
