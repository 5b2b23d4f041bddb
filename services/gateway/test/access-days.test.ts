import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

const URL = '/partner/consent/accesses/summary';

let gateway: TestGateway;
let session: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  session = await gateway.sessions.issueSession('ada', { expiresInSeconds: 86_400 });
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.backends.calls.length = 0;
  const scopes = [{ scope: 'read:mood', released: 7, refused: 1 }];
  const day = { date: '2026-03-01', clientId: 'app_1', appName: 'One', released: 7, refused: 1, scopes };
  gateway.backends.answer({ listAccessDays: () => ({ days: [day, { ...day, date: '2026-02-28' }] }) });
});

async function get(query: string) {
  const headers = { authorization: `Bearer ${session}` };
  const response = await gateway.fetch(`${URL}?${query}`, { headers });
  const body = (await response.json()) as { data: unknown[]; pagination: object; errors: object[] };
  return { status: response.status, body };
}

const asked = () => gateway.backends.callsOf('listAccessDays').map(({ request }) => request);

test('a person lists how often each app read what, by day, in pages', async () => {
  const { body } = await get('from=2026-02-01&to=2026-03-01&clientId=app_1&pageSize=1');
  expect(body.data).toEqual([
    {
      date: '2026-03-01',
      app: { clientId: 'app_1', name: 'One' },
      released: 7,
      refused: 1,
      scopes: [{ scope: 'read:mood', released: 7, refused: 1 }],
    },
  ]);
  expect(body.pagination).toMatchObject({ page: 1, pageSize: 1, total: 2 });
  const filter = { from: '2026-02-01', to: '2026-03-01', clientId: 'app_1', grantId: '', scope: '' };
  expect(asked()).toMatchObject([{ ...filter, timeZone: '' }]);
});

test('the days are those of a time zone, by its name in any case', async () => {
  expect((await get('timeZone=asia/kathmandu')).status).toBe(200);
  expect(asked()).toMatchObject([{ timeZone: 'Asia/Kathmandu' }]);
});

test.each([
  ['from=2026-03-01T00:00:00Z', 'from'],
  ['from=2026-03-02&to=2026-03-01', 'from'],
  ['scope=read:all', 'scope'],
  ['timeZone=%2B01:00', 'timeZone'],
  ['timeZone=Mars/Olympus', 'timeZone'],
  ['timeZone=', 'timeZone'],
  ['day=1', 'day'],
])('%s reports a violation of %s', async (query, parameter) => {
  const { status, body } = await get(query);
  expect([status, body.errors]).toMatchObject([400, [{ parameter }]]);
});
