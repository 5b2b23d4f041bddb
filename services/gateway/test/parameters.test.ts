import { beforeEach, describe, expect, test } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { findSuggestion } from '../src/http/suggestion.ts';
import { createNetworkNames, toAddressKey } from '../src/limits/limits.ts';
import { ask, bearer, documentOf, liveToken, shareTestGateway } from './test-gateway.ts';

const gateway = shareTestGateway();

beforeEach(() => {
  gateway.backends.answer({ introspect: () => liveToken(), read: () => documentOf({ data: [] }) });
});

const get = (path: string) => ask(gateway, `/api/v1${path}`, { headers: bearer() });

describe('the response to many violations is short', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `a${index.toString(36)}`);
  const session = async () => ({ authorization: `Bearer ${await gateway.sessions.issueSession('ada')}` });
  const json = (value: unknown) => ({
    method: 'POST',
    body: JSON.stringify(value),
    headers: { 'content-type': 'application/json' },
  });
  const fields = (count: number, value: unknown) =>
    Object.fromEntries(names(count).map((name) => [name, value]));

  test.each<[string, string, () => Promise<RequestInit>]>([
    ['unknown parameters without credentials', `/oauth/scopes?${names(1_500).join('&')}`, async () => ({})],
    [
      'unknown parameters of a data request',
      `/api/v1/profile?${names(1_500).join('&')}`,
      async () => ({ headers: bearer() }),
    ],
    [
      'unknown parameters of a FHIR search',
      `/fhir/R4/Observation?${names(50).join('=1&')}=1`,
      async () => ({ headers: bearer() }),
    ],
    [
      'parameters given twice',
      `/oauth/authorize`,
      async () => ({
        method: 'POST',
        body: new URLSearchParams([...names(1_500), ...names(1_500)].map((name) => `${name}=x`).join('&')),
      }),
    ],
    ['values that are no texts', '/oauth/token', async () => json(fields(5_000, 1))],
    [
      'unknown fields of a registration',
      '/developer/apps',
      async () => {
        const init = json(fields(5_000, ''));
        return { ...init, headers: { ...init.headers, ...(await session()) } };
      },
    ],
    [
      'entries of a list',
      '/developer/apps',
      async () => {
        const init = json({ name: 'App', redirectUris: Array(20_000).fill(1) });
        return { ...init, headers: { ...init.headers, ...(await session()) } };
      },
    ],
    ['one long name', `/oauth/scopes?${'n'.repeat(8_000)}`, async () => ({})],
  ])('%s', async (_, path, toInit) => {
    const response = await gateway.fetch(path, await toInit());
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(text.length).toBeLessThan(6_000);
    const { errors = [] } = JSON.parse(text);
    expect(errors.length).toBeLessThanOrEqual(20);
  });

  test('only the first few unknown names get suggestions', async () => {
    const wrong = Array.from({ length: 12 }, (_, index) => `pag${index.toString(36)}`);
    const { body } = await get(`/profile?${wrong.map((name) => `${name}=1`).join('&')}`);
    expect(body['errors']).toHaveLength(12);
    const list = await get(`/health-data/heart?${wrong.map((name) => `${name}=1`).join('&')}`);
    const messages = (list.body['errors'] as { message: string }[]).map(({ message }) => message);
    expect(messages.filter((message) => message.includes('did you mean "page"?'))).toHaveLength(5);
  });
});

describe('an invalid parameter is reported', () => {
  test.each([
    ['/health-data/heart?page=0', 'page'],
    ['/health-data/heart?page=1.5', 'page'],
    ['/health-data/heart?page=one', 'page'],
    ['/health-data/heart?page=0x10', 'page'],
    ['/health-data/heart?page=1&page=1', 'page'],
    ['/health-data/heart?page=99999999999', 'page'],
    ['/health-data/heart?from=yesterday', 'from'],
    ['/health-data/heart?from=2026-01-02&to=2026-01-01', 'from'],
    ['/health-data/heart?from=2026-01-01T02:00:00%2B02:00&to=2026-01-01T00:00:00Z', 'from'],
    ['/health-data/heart?from=%zz', 'from'],
    ['/health-data/heart?type=Steps', 'type'],
    ['/health-data/heart?bucket=day', 'bucket'],
    ['/health-data/heart?timeZone=UTC', 'timeZone'],
    ['/trends?type=nothing', 'type'],
    ['/trends?bucket=week', 'bucket'],
    ['/trends?timeZone=Mars/Olympus', 'timeZone'],
    ['/aggregations?page=1', 'page'],
    ['/medications?from=2026-01-01', 'from'],
    ['/profile?page=1', 'page'],
  ])('%s: %s', async (path, parameter) => {
    const { status, body } = await get(path);
    expect([status, body['code']]).toEqual([400, 'INVALID_REQUEST']);
    expect(body['errors']).toEqual([{ parameter, message: expect.any(String) }]);
    expect(body['detail']).toContain(parameter);
  });

  test('with a bad percent escape by name, after the scope', async () => {
    const introspect = () => liveToken({ principal: { scopes: ['read:trends'] } });
    gateway.backends.answer({ introspect, read: () => documentOf({ data: [] }) });
    const { body } = await get('/trends?type=Heart%20Rate&from=%zz');
    expect(body['errors']).toEqual([{ parameter: 'from', message: 'has a bad percent escape' }]);
    expect((await get('/aggregations?from=%zz')).status).toBe(403);
  });

  test.each(['0', '-1', '1.5', '', 'ten'])(
    'a pageSize of %j with its range, and what happens above it',
    async (pageSize) => {
      const { status, body } = await get(`/health-data/heart?pageSize=${pageSize}`);
      const message = 'must be a whole number from 1 to 100; more is taken as 100';
      expect([status, body['errors']]).toEqual([400, [{ parameter: 'pageSize', message }]]);
    },
  );

  test('together with all other invalid ones', async () => {
    const { body } = await get('/trends?page=0&bucket=week&from=x&colour=red');
    const errors = body['errors'] as { parameter: string }[];
    expect(errors.map(({ parameter }) => parameter).sort()).toEqual(['bucket', 'colour', 'from', 'page']);
  });

  test('with the truth about a name of a time zone that is refused on purpose', async () => {
    const { body } = await get('/trends?timeZone=CET');
    expect(body['detail']).toContain('no abbreviation such as CET');
  });

  test('a medication id with a bad percent escape is an invalid request', async () => {
    expect(await get('/medications/%zz/adherence')).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST' },
    });
  });
});

describe('a valid parameter is accepted', () => {
  test('a time zone in any case, forwarded in the spelling of the IANA database', async () => {
    expect((await get('/trends?timeZone=america/NEW_york')).status).toBe(200);
    expect(gateway.backends.callsOf('read').at(-1)?.request).toMatchObject({
      endpoint: Endpoint.TRENDS,
      parameters: { timeZone: 'America/New_York' },
    });
  });

  test.each([
    '/health-data/heart?page=999999&pageSize=1000',
    '/health-data/heart?pageSize=99999999999',
    '/health-data/heart?from=2026-01-01T00:00:00%2b02:00',
    '/health-data/heart?from=2026-01-01T00:00:00+02:00',
    '/health-data/heart?type=resting_hr',
    '/health-data/heart?type=Resting+HR',
    '/health-data/heart?&page=1&',
    '/trends?bucket=hour&timeZone=Europe/Berlin&type=Steps',
    '/trends?timeZone=Europe%2FBerlin&from=2026-01-01&to=2026-01-01T00:00:00Z',
    '/aggregations?from=2026-01-01&to=2026-02-01&type=Weight&timeZone=UTC',
    '/medications?page=1',
    '/profile',
    '/conditions?from=2019-01-01',
    '/medications/m/adherence?from=2019-01-01',
  ])('%s', async (path) => {
    expect((await get(path)).status).toBe(200);
  });
});

describe('parsing', () => {
  test.each<[string, string | null]>([
    ['form', 'from'],
    ['pagesize', 'pageSize'],
    ['page_size', 'pageSize'],
    ['timezone', 'timeZone'],
    ['colour', null],
    ['tz', null],
    ['size', null],
    ['x'.repeat(5_000), null],
  ])('finds the suggestion for %s', (text, suggestion) => {
    expect(findSuggestion(text, ['page', 'pageSize', 'from', 'to', 'type', 'timeZone'])).toBe(suggestion);
  });

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2'],
    ['2001:db8::9', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['203.0.113.9:50001', '203.0.113.9'],
    ['[2001:db8:1:2::7]:443', '2001:db8:1:2'],
    ['[2001:db8:1:2::7]', '2001:db8:1:2'],
    ['unknown', 'none'],
    ['203.0.113.9:https', 'none'],
    ['', 'none'],
  ])('counts the address %s as %s', (address, key) => {
    expect(toAddressKey(address)).toBe(key);
  });

  test('names the networks of clients alike at all gateways with one key, and without the address', () => {
    const [one, other] = [createNetworkNames('key'), createNetworkNames('another key')];
    expect(one('2001:db8:1:2::9')).toBe(createNetworkNames('key')('2001:db8:1:3::1'));
    expect(one('203.0.113.9')).not.toBe(one('203.0.113.8'));
    expect(one('203.0.113.9:50001')).toBe(one('203.0.113.9:50002'));
    expect(one('203.0.113.9')).not.toBe(other('203.0.113.9'));
    expect(one('203.0.113.9')).toMatch(/^[\w-]{43}$/);
  });
});
