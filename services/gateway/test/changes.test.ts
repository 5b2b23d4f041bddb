import { beforeEach, describe, expect, test } from '@jest/globals';
import { ask, bearer, documentOf, liveToken, shareTestGateway } from './test-gateway.ts';

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
});
