import { expect, test } from '@jest/globals';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { eventually } from '@phds/test-kit/conditions';
import type { Page } from 'playwright-core';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';

describeWithChromium('the request log', requestLog);

function requestLog(): void {
  const visits = prepareVisits();

  const endpoints = (page: Page) =>
    page.getByRole('table', { name: 'Requests' }).locator('td:nth-child(3)').allTextContents();

  test('finds an error by its request id, filters by status and code, and shows no path, person or value', async () => {
    const { stack } = visits;
    const session = await signIn(stack, 'web-request-log-maker');
    const app = await registerApp(stack.gateway, session, { name: 'Puzzled', scopes: [HEART] });
    const visitor = await visits.open(`/console/${app.clientId}`, { session });
    const { page } = visitor;
    await page.getByRole('link', { name: 'Request log' }).click();
    await page.getByText('No requests in the last 24 hours').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('request-log-empty');

    const { accessToken } = await app.connect(session, [HEART]);
    await app.read(accessToken, '/api/v1/health-data/heart');
    await app.read(accessToken, '/api/v1/health-data/heart?page=0');
    const refused = await app.read(accessToken, '/api/v1/profile');
    await app.post('/oauth/token', { grant_type: 'refresh_token', refresh_token: 'x', ...app.credentials });
    const all = [
      'POST /oauth/token',
      'GET /api/v1/profile',
      'GET /api/v1/health-data/heart',
      'GET /api/v1/health-data/heart',
      'POST /oauth/token',
    ];
    await eventually(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      expect((await endpoints(page)).slice(0, all.length)).toEqual(all);
    });
    const table = page.getByRole('table', { name: 'Requests' });
    expect(await table.textContent()).not.toMatch(/page=0|web-request-log-maker|sub_|grt_/);
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('request-log');

    await page.getByLabel('Request ID').fill('whatever');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('A request ID starts with req_').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('request-log-wrong-id');
    await page.getByLabel('Request ID').fill(` ${refused.headers.get('x-request-id')} `);
    await page.getByLabel('Request ID').press('Enter');
    await eventually(async () => expect(await endpoints(page)).toEqual(['GET /api/v1/profile']));
    await page.getByRole('link', { name: 'INSUFFICIENT_SCOPE' }).waitFor();

    await page.getByLabel('Status').selectOption('5xx');
    await page.getByText('No request matches').waitFor();
    expect(await page.getByLabel('Request ID').inputValue()).toBe('');
    await visitor.takePictures('request-log-no-match');
    await page.getByRole('button', { name: 'Show all requests' }).click();
    await eventually(async () => expect(await endpoints(page)).toEqual(expect.arrayContaining(all)));
    await page.getByLabel('Error code').selectOption('INVALID_GRANT');
    await eventually(async () => expect(await endpoints(page)).toEqual(['POST /oauth/token']));

    await eventually(async () => {
      const { data } = (
        await send(`${app.gateway}/developer/apps/${app.clientId}/usage`, { bearer: session })
      ).body;
      return data.some(({ refusals }: { refusals: object[] }) => refusals.length > 0);
    });
    await visitor.goto(`/console/${app.clientId}/requests`);
    await page.getByRole('button', { name: '403: 1' }).click();
    await eventually(async () => expect(await endpoints(page)).toEqual(['GET /api/v1/profile']));
    expect(await page.getByLabel('Status').inputValue()).toBe('403');
  });

  test('says that it may be incomplete when the service cannot read all of it', async () => {
    const { stack } = visits;
    const session = await signIn(stack, 'web-request-log-partial');
    const app = await registerApp(stack.gateway, session);
    const visitor = await visits.open('/console', { session });
    await visitor.page.route('**/requests?*', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...((await answer.json()) as object), complete: false } });
    });
    await visitor.goto(`/console/${app.clientId}/requests`);
    await visitor.page.getByText('The list may be incomplete.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('request-log-incomplete');
  });
}
