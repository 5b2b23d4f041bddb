import { expect, test } from '@jest/globals';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { registerOnPage } from '../src/registration-page.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

describeWithChromium('the test run', testRun);

function testRun(): void {
  const visits = prepareVisits();

  test('leads a developer through the flow with their own session, to data and its access record', async () => {
    const session = await signIn(visits.stack, 'tester');
    const visitor = await visits.open('/console/new', { session });
    const { page } = visitor;
    const app = await registerOnPage(visitor, visits.stack.gateway, 'Try Me');
    await visitor.goto('/console/test-run');
    await visitor.takePictures('test-run-1-address-not-registered');
    const other = await registerApp(visits.stack.gateway, session, { name: 'Not Me' });
    // Simulates two pages of apps without an active one on the first.
    await page.route(/\/developer\/apps\?/, async (route) => {
      const { data, pagination } = (await send(`${other.gateway}/developer/apps`, { bearer: session })).body;
      const isFirst = new URL(route.request().url()).searchParams.get('page') === '1';
      const shown = data.map((found: object) => (isFirst ? { ...found, status: 'suspended' } : found));
      await route.fulfill({ json: { data: shown, pagination: { ...pagination, totalPages: 2 } } });
    });
    await visitor.goto('/console/test-run');
    await page.getByLabel('App').selectOption(other.clientId);
    await page.route('**/developer/apps/*', (route) => route.fulfill({ status: 503, json: {} }));
    await page.getByRole('button', { name: 'Add this page to its redirect URIs' }).click();
    await page.getByRole('alert').waitFor();
    await page.unroute('**/developer/apps/*');
    await page.getByLabel('App').selectOption(app.clientId);
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add this page to its redirect URIs' }).click();
    await page.getByLabel('Scope to request').selectOption('read:profile');
    await page.getByRole('button', { name: 'Send the request' }).click();
    await new ApprovalScreen(page).shareOnly('Profile');
    await page.getByLabel('Client secret').fill(app.clientSecret);
    expect(page.url()).not.toContain('code=');
    await visitor.takePictures('test-run-2-code');
    await page.getByRole('button', { name: 'Get tokens' }).click();
    await page.getByRole('button', { name: 'Read', exact: true }).click();
    await page.getByText('"bloodType": null').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('test-run-3-read');
    await page.getByRole('link', { name: 'the connection as its person' }).click();
    await page.getByRole('row').nth(1).waitFor();
    expect(await page.getByRole('row').nth(1).textContent()).toContain('Profile');
    await visitor.takePictures('connected-app-looked');
    await visitor.goto(`/console/${app.clientId}`);
    await visitor.page.getByText('Requests by day (UTC) and endpoint').waitFor();
    await visitor.takePictures('console-app-used');
    await visitor.goto('/console');
    await visitor.takePictures('console');
  });

  test('sends the code of a test run only once, even when the response is lost', async () => {
    const session = await signIn(visits.stack, 'repeater');
    const redirectUris = [`${visits.stack.gateway}/console/test-run`];
    const app = await registerApp(visits.stack.gateway, session, { redirectUris, scopes: ['read:profile'] });
    const visitor = await visits.open('/console/test-run', { session });
    const { page } = visitor;
    await page.getByRole('button', { name: 'Send the request' }).click();
    await new ApprovalScreen(page).shareOnly('Profile');
    const { promise: pressed, resolve: goOn } = Promise.withResolvers<void>();
    const issued: string[] = [];
    await page.route('**/oauth/token', async (route) => {
      await pressed;
      const { access_token } = (await (await route.fetch()).json()) as { access_token: string };
      issued.push(access_token);
      await route.abort('connectionreset');
    });
    const secret = page.getByLabel('Client secret');
    await secret.fill(app.clientSecret);
    const sent: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      // The page loads its dialogs in advance whenever the browser is idle.
      if (!pathname.startsWith('/assets/')) sent.push(pathname);
    });
    await secret.press('Enter');
    await page.locator('button[aria-disabled=true]').waitFor();
    await secret.press('Enter');
    goOn();
    await page.getByRole('alert').getByText('No answer arrived. The code may be used.').waitFor();
    expect(await page.getByRole('button', { name: 'Get tokens' }).count()).toBe(0);
    await secret.press('Enter');
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('test-run-2-no-answer');
    expect([sent, issued.length]).toEqual([['/oauth/token'], 1]);
    expectStatus(200, await send(`${visits.stack.gateway}/api/v1/profile`, { bearer: issued[0] ?? '' }));
  });

  test('asks a made-up person of a sandbox app, who shares data at once or declines', async () => {
    const session = await signIn(visits.stack, 'sandbox-tester');
    const visitor = await visits.open('/console/new', { session });
    const { page } = visitor;
    await page.getByText('Real people decide about each request').waitFor();
    await page.getByText('Sandbox', { exact: true }).click();
    await page.getByText('Made-up people share at once').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-new-sandbox');
    const app = await registerOnPage(visitor, visits.stack.gateway, 'Rehearsal');
    await visitor.goto(`/console/${app.clientId}`);
    await page.getByText('Sandbox', { exact: true }).first().waitFor();
    await visitor.goto('/console/test-run');
    await page.getByRole('button', { name: 'Add this page to its redirect URIs' }).click();
    await page.getByLabel('Person to ask').selectOption('deny');
    await page.getByRole('button', { name: 'Send the request' }).click();
    await page.getByText('The person declined.').waitFor();
    await page.getByRole('link', { name: 'Start again' }).click();
    await page.getByLabel('Person to ask').selectOption('ben');
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('test-run-1-sandbox');
    await page.getByRole('button', { name: 'Send the request' }).click();
    await page.getByLabel('Client secret').fill(app.clientSecret);
    await page.getByRole('button', { name: 'Get tokens' }).click();
    await page.getByRole('button', { name: 'Read', exact: true }).click();
    await page.getByText('"unit": "/min"').first().waitFor();
    expect(await page.getByText('the connection as its person').count()).toBe(0);
    await visitor.takePictures('test-run-3-sandbox');
  });

  test('leads a developer without data of their own to a sandbox app', async () => {
    const session = await signIn(visits.stack, 'tester-without-data');
    const redirectUris = [`${visits.stack.gateway}/console/test-run`];
    const scopes = ['read:health-data:heart'];
    const app = await registerApp(visits.stack.gateway, session, { redirectUris, scopes });
    const visitor = await visits.open('/console/test-run', { session });
    const { page } = visitor;
    await page.getByText('You share your own data.').waitFor();
    await page.getByRole('button', { name: 'Send the request' }).click();
    await new ApprovalScreen(page).shareOnly('Heart');
    await page.getByLabel('Client secret').fill(app.clientSecret);
    await page.getByRole('button', { name: 'Get tokens' }).click();
    await page.getByRole('button', { name: 'Read', exact: true }).click();
    await page.getByText('You have no such data.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('test-run-3-no-data');
  });
}
