import { beforeEach, describe, expect, test } from '@jest/globals';
import { AppError } from '@phds/service-kit/errors';
import { ask, bearer, documentOf, liveToken, shareTestGateway, throwing } from './test-gateway.ts';

const HEART = '/api/v1/health-data/heart';
const CURSOR = `cur_${'aB3-_'.repeat(20)}`;

const gateway = shareTestGateway();
beforeEach(() => {
  gateway.backends.answer({
    introspect: () => liveToken(),
    read: () => ({ ...documentOf({ data: [], sync: {} }), nextCursor: CURSOR }),
  });
});

const get = (path: string) => ask(gateway, path, { headers: bearer() });

describe('updatedSince', () => {
  test.each([
    ['an instant, in UTC', '2026-01-01T00:00:00%2B02:00', '2025-12-31T22:00:00.000Z'],
    ['a cursor, unchanged', CURSOR, CURSOR],
  ])('is forwarded as %s', async (_, sent, forwarded) => {
    const { response } = await get(`${HEART}?updatedSince=${sent}&pageSize=7`);
    expect(response.status).toBe(200);
    expect(gateway.backends.callsOf('read')[0]?.request).toMatchObject({
      parameters: { updatedSince: forwarded, page: { pageSize: 7 }, from: '', to: '' },
    });
  });

  test('is linked to the next changes by the cursor of the answer, with the other parameters', async () => {
    const { response } = await get(`${HEART}?type=HRV&updatedSince=1970-01-01T00:00:00Z&pageSize=7`);
    expect(response.headers.get('link')).toBe(
      `<${HEART}?type=HRV&pageSize=7&updatedSince=${CURSOR}>; rel="next"`,
    );
    const alone = await get(`${HEART}?updatedSince=${CURSOR}`);
    expect(alone.response.headers.get('link')).toBe(`<${HEART}?updatedSince=${CURSOR}>; rel="next"`);
  });

  test('excludes page, from and to, each of which is named', async () => {
    const { response, body } = await get(
      `${HEART}?updatedSince=${CURSOR}&page=2&from=2026-01-01&to=2026-02-01`,
    );
    expect(response.status).toBe(400);
    expect(body['errors']).toEqual(
      ['page', 'from', 'to'].map((parameter) => ({
        parameter,
        message: 'cannot be combined with "updatedSince"',
      })),
    );
    expect(gateway.backends.callsOf('read')).toEqual([]);
  });

  test.each([
    '',
    'yesterday',
    '2026-01-01',
    'cur_',
    'cur_short',
    `cur_${'a'.repeat(401)}`,
    `${CURSOR}=`,
    `cur_%20${'a'.repeat(40)}`,
  ])('%p is refused with an example of what is accepted', async (value) => {
    const { response, body } = await get(`${HEART}?updatedSince=${value}`);
    expect(response.status).toBe(400);
    expect(body['errors']).toEqual([
      {
        parameter: 'updatedSince',
        message:
          'must be an RFC 3339 instant (1970-01-01T00:00:00Z for everything) or the cursor of an earlier answer',
      },
    ]);
  });

  test('is no parameter of other endpoints', async () => {
    const { response, body } = await get(`/api/v1/mood?updatedSince=${CURSOR}`);
    expect(response.status).toBe(400);
    expect(body['errors']).toMatchObject([{ parameter: 'updatedSince' }]);
  });

  test('with an expired cursor is answered with 410 and what to do', async () => {
    gateway.backends.answer({
      introspect: () => liveToken(),
      read: throwing(new AppError('cursor_expired', 'The cursor no longer holds.')),
    });
    const { response, body } = await get(`${HEART}?updatedSince=${CURSOR}`);
    expect(response.status).toBe(410);
    expect(body).toMatchObject({
      type: '/problems/cursor-expired',
      code: 'CURSOR_EXPIRED',
      title: 'Cursor expired',
      detail: 'The cursor no longer holds.',
    });
  });
});

describe('scopes that open a request', () => {
  const withScopes = (scopes: string[], granted = scopes) =>
    gateway.backends.answer({
      introspect: () => liveToken({ principal: { scopes }, grant: { scopes: granted } }),
      read: () => documentOf({ data: [] }),
    });
  const asked = () =>
    gateway.backends.callsOf('read').map(({ request }) => (request as { scope: string }).scope);
  const TRENDS = 'read:trends';
  const ACTIVITY = 'read:health-data:activity';

  test.each(['trends', 'aggregations'])(
    '%s of one type are opened by the scope of its category too',
    async (name) => {
      withScopes([ACTIVITY]);
      expect((await get(`/api/v1/${name}?type=steps`)).response.status).toBe(200);
      expect(asked()).toEqual([ACTIVITY]);
      for (const query of ['', '?type=heart-rate', '?type=unknown', '?type=%zz']) {
        const { response, body } = await get(`/api/v1/${name}${query}`);
        expect([response.status, body['code'], body['requiredScope']]).toEqual([
          403,
          'INSUFFICIENT_SCOPE',
          `read:${name}`,
        ]);
      }
    },
  );

  test('the own scope of an endpoint is preferred, and asked for by default', async () => {
    withScopes([TRENDS, ACTIVITY]);
    await get('/api/v1/trends?type=steps');
    expect(asked()).toEqual(['']);
  });

  test('a scope that the person has withdrawn is passed over', async () => {
    withScopes([TRENDS, ACTIVITY], [ACTIVITY]);
    await get('/api/v1/trends?type=steps');
    expect(asked()).toEqual([ACTIVITY]);
    withScopes([TRENDS, ACTIVITY], ['read:mood']);
    gateway.service.cache.clear();
    expect((await get('/api/v1/trends?type=steps')).body).toMatchObject({
      code: 'CONSENT_REQUIRED',
      requiredScope: TRENDS,
    });
  });

  test('a scope that was withdrawn after the facts were cached is replaced by another that opens the request', async () => {
    withScopes([TRENDS, ACTIVITY]);
    const headers = bearer();
    await gateway.fetch('/api/v1/trends?type=steps', { headers });
    gateway.backends.calls.length = 0;
    gateway.backends.answer({
      introspect: () =>
        liveToken({ principal: { scopes: [TRENDS, ACTIVITY] }, grant: { scopes: [ACTIVITY] } }),
      read: (request) => {
        if (request.scope === ACTIVITY) return documentOf({ data: [] });
        throw new AppError('consent_required', '', { requiredScope: TRENDS });
      },
    });
    expect((await gateway.fetch('/api/v1/trends?type=steps', { headers })).status).toBe(200);
    expect(asked()).toEqual(['', ACTIVITY]);
    expect(gateway.backends.callsOf('introspect')).toHaveLength(1);
  });

  test('a refusal by the record step names the scope to ask for', async () => {
    withScopes([ACTIVITY]);
    gateway.backends.answer({
      introspect: () => liveToken({ principal: { scopes: [ACTIVITY] } }),
      read: throwing(new AppError('consent_required', '', { requiredScope: ACTIVITY })),
    });
    expect((await get('/api/v1/trends?type=steps')).body).toMatchObject({ requiredScope: TRENDS });
  });

  test('the time zone is opened by every scope of dated data, and by no other', async () => {
    withScopes(['read:conditions', 'read:ehr']);
    expect((await get('/api/v1/time-zone')).response.status).toBe(200);
    expect(asked()).toEqual(['read:conditions']);
    withScopes(['read:profile']);
    gateway.service.cache.clear();
    expect((await get('/api/v1/time-zone')).body).toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      requiredScope: 'read:health-data:heart',
    });
    expect((await get('/api/v1/time-zone?from=2026-01-01')).response.status).toBe(403);
  });
});
