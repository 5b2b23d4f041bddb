import { expect, test } from '@jest/globals';
import { type Answers, example, listOf, problem } from '../kit/answers.ts';
import { openPage, screen, textOf, within } from '../kit/page.ts';

const { data: app } = example('getApp');
const PATH = `/console/${app.clientId}/log`;
const [request] = example('listRequests').data;
if (request === undefined) throw new Error('No request is recorded.');
const refused = { ...request, endpoint: '/api/v1/profile', status: 403, code: 'INSUFFICIENT_SCOPE' } as const;
const unproven = {
  ...request,
  status: 401,
  code: 'UNAUTHORIZED',
  fault: 'exp is more than 300 s ahead',
} as const;
const toLog = (...data: readonly (typeof request)[]) => ({ ...listOf(...data), complete: true });
const shownIn = (label: string) => screen.getByLabelText<HTMLInputElement>(label).value;

test('requests are found by id, status and error code, one filter after the other', async () => {
  await using page = await openPage(PATH, { answers: { listRequests: toLog(refused) } });
  const asked = () => page.requests.findLast(({ operation }) => operation === 'listRequests')?.query;
  const table = screen.getByRole('table', { name: 'Requests' });
  expect(within(table).getAllByRole('row').slice(1).map(textOf).join()).toMatch(
    /403 INSUFFICIENT_SCOPE.*GET \/api\/v1\/profile/,
  );
  const link = within(table).getByRole('link', { name: 'INSUFFICIENT_SCOPE' });
  expect(link.getAttribute('href')).toBe('/problems/insufficient-scope');

  await page.fill('Request ID', 'whatever');
  await page.press('Find');
  page.see('A request ID starts with req_');
  expect(asked()).toEqual({ page: '1' });
  await page.fill('Request ID', ' req_1 ');
  await page.keys('{Enter}');
  expect(asked()).toEqual({ requestId: 'req_1', page: '1' });
  page.answers.listRequests = toLog();
  await page.fill('Status', '5xx');
  page.see('No request matches');
  expect([asked(), shownIn('Request ID')]).toEqual([{ status: '5xx', page: '1' }, '']);
  await page.fill('Error code', 'INVALID_GRANT');
  expect(asked()).toEqual({ status: '5xx', code: 'INVALID_GRANT', page: '1' });
  await page.press('Show all requests');
  page.see('GET /api/v1/profile');
  expect([shownIn('Status'), shownIn('Error code')]).toEqual(['', '']);
  const count = page.requests.length;
  await page.press('Refresh');
  expect(page.requests).toHaveLength(count + 1);
  expect(await page.findBarriers()).toEqual([]);
});

const wrongId = { parameter: 'requestId', message: 'is wrong' };
test.each<[string, Answers['listRequests'] & object, string]>([
  ['is empty', toLog(), 'No requests in the last 24 hours'],
  ['has a refused assertion', toLog(unproven), 'The assertion was refused: exp is more than 300 s ahead'],
  ['is not found', problem('INVALID_REQUEST', { errors: [wrongId] }), 'Request ID is wrong'],
  ['may be incomplete', { ...toLog(request), complete: false }, 'The list may be incomplete.'],
])('a log that %s says so', async (_, listRequests, text) => {
  await using page = await openPage(PATH, { answers: { listRequests } });
  page.see(text);
});
