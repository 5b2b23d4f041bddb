import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { REFUSAL_REASONS } from '@phds/catalog/wire-names';
import { Verdict, VerdictSchema } from '@phds/contracts/phds/consent/v1/access_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { invalidRequest, notFound } from '@phds/service-kit/errors';
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

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const authorization = `Bearer ${session}`;
  const response = await gateway.fetch(path, {
    method,
    headers: { authorization, ...type, ...headers },
    ...sent,
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { response, status: response.status, body: isJson ? JSON.parse(text) : text };
}

describe('users', () => {
  const profile = { clientId: 'app_1', name: 'One', ownerId: 'grace', description: 'Draws a diary.' };
  const profileJson = {
    clientId: 'app_1',
    name: 'One',
    description: 'Draws a diary.',
    developerName: null,
    homepageUrl: null,
    privacyPolicyUrl: null,
    logoUrl: null,
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
      getGrant: () => ({ grant }),
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
    expect((await call('POST', '/partner/consent/grants/revoke-all')).body).toEqual({ data: { revoked: 3 } });
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
    gateway.backends.answer({
      getGrant: () => {
        throw notFound();
      },
    });
    const bodies = await Promise.all(
      ['grt_1', 'x', '..%2f'].map((id) => call('GET', `/partner/consent/grants/${id}`)),
    );
    expect(new Set(bodies.map(({ body: { requestId: _, ...body } }) => JSON.stringify(body))).size).toBe(1);
  });

  test('violations found by the called service are reported unchanged', async () => {
    gateway.backends.answer({
      completeAuthorization: () => {
        throw invalidRequest('scopes', 'was not requested');
      },
    });
    const { body } = await call('POST', '/partner/consent/pending/apr_1/approve', { scopes: ['read:ehr'] });
    expect(body.errors).toEqual([{ parameter: 'scopes', message: 'was not requested' }]);
  });
});
