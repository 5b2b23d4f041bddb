import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { bearer, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
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
          { id: 'grt_2', scopes: [], status: GrantStatus.REVOKED, deletionRequestedAt: time },
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
          scopes: [],
          status: 'revoked',
          granted_at: null,
          expires_at: null,
          deletion_requested_at: '2026-03-01T10:00:00.000Z',
        },
        {
          id: 'grt_1',
          scopes: ['read:mood'],
          status: 'active',
          granted_at: null,
          expires_at: null,
          deletion_requested_at: null,
        },
      ],
      pagination: { page: 1, pageSize: 20, total: 2, totalPages: 1 },
    });
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
