import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { notFound } from '@phds/service-kit/errors';
import { bearer, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
const SUB = 'sub_0123456789ABCDEFGHIJkl';
const time = timestampFromDate(new Date('2026-03-01T10:00:00Z'));

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.backends.calls.length = 0;
});

describe('own grants', () => {
  test('are listed for a userless token', async () => {
    gateway.backends.answer({
      introspect: () => liveToken({ principal: { userId: '' } }),
      listOwnGrants: () => ({
        grants: [
          {
            id: 'grt_2',
            sub: SUB,
            scopes: [],
            status: GrantStatus.REVOKED,
            endedAt: time,
            endedBy: 'person',
            dataFrom: '2026-01-01',
            deletionRequestedAt: time,
          },
          { id: 'grt_1', scopes: ['read:mood'], status: GrantStatus.ACTIVE },
        ],
        total: 2,
      }),
    });
    const response = await gateway.fetch('/oauth/grants', { headers: bearer() });
    expect(await response.json()).toEqual({
      data: [
        {
          id: 'grt_2',
          sub: SUB,
          scopes: [],
          status: 'revoked',
          granted_at: null,
          expires_at: null,
          data_from: '2026-01-01',
          ended_at: '2026-03-01T10:00:00.000Z',
          ended_by: 'person',
          deletion_requested_at: '2026-03-01T10:00:00.000Z',
        },
        {
          id: 'grt_1',
          sub: null,
          scopes: ['read:mood'],
          status: 'active',
          granted_at: null,
          expires_at: null,
          data_from: null,
          ended_at: null,
          ended_by: null,
          deletion_requested_at: null,
        },
      ],
      pagination: { page: 1, pageSize: 20, total: 2, totalPages: 1 },
    });
  });

  test('are restricted by status and sub, and bad values are named', async () => {
    const userless = { introspect: () => liveToken({ principal: { userId: '' } }) };
    gateway.backends.answer(userless);
    const headers = bearer();
    await gateway.fetch(`/oauth/grants?status=revoked&sub=${SUB}&page=2`, { headers });
    expect(gateway.backends.callsOf('listOwnGrants').at(-1)?.request).toMatchObject({
      status: GrantStatus.REVOKED,
      sub: SUB,
      page: { page: 2 },
    });
    for (const [query, text] of [
      ['status=ended', 'status: must be one of active, expired, revoked'],
      ['sub=ada', 'sub: must be a `sub` that this service sent'],
      ['stauts=active', 'stauts: '],
    ] as const) {
      const response = await gateway.fetch(`/oauth/grants?${query}`, { headers });
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({
          error: 'invalid_request',
          code: 'INVALID_REQUEST',
          error_description: expect.stringContaining(text),
        }),
      ]);
    }
  });

  test('are read and ended one by one', async () => {
    gateway.backends.answer({
      introspect: () => liveToken({ principal: { userId: '' } }),
      getOwnGrant: () => ({ grant: { id: 'grt_1', sub: SUB, status: GrantStatus.ACTIVE } }),
      endOwnGrant: () => ({ revokedAt: time }),
    });
    const headers = bearer();
    const read = await gateway.fetch('/oauth/grants/grt_1', { headers });
    expect(await read.json()).toMatchObject({ data: { id: 'grt_1', sub: SUB, status: 'active' } });
    const ended = await gateway.fetch('/oauth/grants/grt_1', { method: 'DELETE', headers });
    expect([ended.status, await ended.json()]).toEqual([
      200,
      { data: { id: 'grt_1', status: 'revoked', revoked_at: '2026-03-01T10:00:00.000Z' } },
    ]);
    expect(gateway.backends.callsOf('endOwnGrant')[0]?.request).toMatchObject({ id: 'grt_1' });
  });

  test('that authorization does not know are 404', async () => {
    const unknown = () => {
      throw notFound();
    };
    gateway.backends.answer({
      introspect: () => liveToken({ principal: { userId: '' } }),
      getOwnGrant: unknown,
      endOwnGrant: unknown,
    });
    for (const method of ['GET', 'DELETE']) {
      const response = await gateway.fetch('/oauth/grants/grt_9', { method, headers: bearer() });
      expect([response.status, await response.json()]).toEqual([
        404,
        expect.objectContaining({ code: 'NOT_FOUND' }),
      ]);
    }
  });

  test("refuse to be ended with a person's token, also by its own app", async () => {
    gateway.backends.answer({ introspect: () => liveToken() });
    const response = await gateway.fetch('/oauth/grants/grt_1', { method: 'DELETE', headers: bearer() });
    expect([response.status, await response.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'UNAUTHORIZED_CLIENT' }),
    ]);
    expect(gateway.backends.callsOf('endOwnGrant')).toEqual([]);
  });

  test("refuse a person's token with 403 and name the kind of token required", async () => {
    gateway.backends.answer({ introspect: () => liveToken() });
    const response = await gateway.fetch('/oauth/grants?page=0', { headers: bearer() });
    expect([response.status, await response.json()]).toEqual([
      403,
      {
        error: 'unauthorized_client',
        error_description: expect.stringContaining('client_credentials'),
        code: 'UNAUTHORIZED_CLIENT',
      },
    ]);
    expect(gateway.backends.callsOf('listOwnGrants')).toEqual([]);
  });

  test("refuse a person's token with the uniform 401 once it is dead, even while it is cached", async () => {
    const headers = bearer();
    gateway.backends.answer({ introspect: () => liveToken() });
    expect((await gateway.fetch('/oauth/grants', { headers })).status).toBe(403);
    gateway.backends.answer({ introspect: () => ({ status: TokenStatus.DEAD }) });
    const response = await gateway.fetch('/oauth/grants', { headers });
    expect([response.status, await response.text()]).toEqual([
      401,
      '{"error":"invalid_client","error_description":"Client authentication failed.","code":"UNAUTHORIZED"}',
    ]);
    expect(response.headers.has('ratelimit')).toBe(false);
  });

  test("refuse a person's token with 503 while authorization cannot tell whether it is revoked", async () => {
    const headers = bearer();
    const unchecked = { introspect: () => ({ ...liveToken({ grant: null }), ledgerChecked: false }) };
    gateway.backends.answer(unchecked);
    const response = await gateway.fetch('/oauth/grants', { headers });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ code: 'INTERNAL_ERROR' });
    gateway.backends.answer({ introspect: () => liveToken() });
    expect((await gateway.fetch('/oauth/grants', { headers })).status).toBe(403);
    gateway.backends.answer(unchecked);
    expect((await gateway.fetch('/oauth/grants', { headers })).status).toBe(503);
  });
});
