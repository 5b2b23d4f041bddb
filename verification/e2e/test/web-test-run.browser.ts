import { expect, test } from '@jest/globals';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { registerOnPage } from '../src/registration-page.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const visits = prepareVisits();

describeWithChromium('the test run', () => {
  test('leads a developer through the flow with their own session, to data and its access record', async () => {
    const { session, visitor, page } = await visits.enter('/console/new', 'tester');
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
    const answers: { status: number; accessToken: string | undefined }[] = [];
    await page.route('**/oauth/token', async (route) => {
      await pressed;
      const answer = await route.fetch();
      const { access_token: accessToken } = (await answer.json()) as { access_token?: string };
      answers.push({ status: answer.status(), accessToken });
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
    expect(sent).toEqual(['/oauth/token']);
    expect(answers).toEqual([{ status: 200, accessToken: expect.any(String) }]);
    const url = `${visits.stack.gateway}/api/v1/profile`;
    expectStatus(200, await send(url, { bearer: answers[0]?.accessToken }));
  });

  test('asks a made-up person of a sandbox app, who shares data at once or declines', async () => {
    const { visitor, page } = await visits.enter('/console/new', 'sandbox-tester');
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
});

describeWithChromium('the sandbox page', () => {
  test('lets things happen to a connection, and shows how to rehearse an error', async () => {
    const { gateway } = visits.stack;
    const session = await signIn(visits.stack, 'web-sandbox-maker');
    const redirectUris = [`${gateway}/console/test-run`];
    const scopes = ['read:health-data:heart'];
    const app = await registerApp(gateway, session, { environment: 'sandbox', redirectUris, scopes });
    const visitor = await visits.open('/console/test-run', { session });
    const { page } = visitor;
    await page.getByLabel('Person to ask').selectOption('ben');
    await page.getByRole('button', { name: 'Send the request' }).click();
    await page.getByLabel('Client secret').fill(app.clientSecret);
    await page.getByRole('button', { name: 'Get tokens' }).click();
    const read = page.getByRole('button', { name: 'Read', exact: true });
    await read.click();
    await page.getByText('"total": 3').waitFor();
    await page.getByRole('link', { name: 'the sandbox page of the app' }).click();
    await page.getByRole('heading', { name: 'Sandbox' }).waitFor();

    const trigger = page.getByLabel('What happens');
    const go = page.getByRole('button', { name: 'Let it happen' });
    expect(await page.getByLabel('Grant ID').inputValue()).toMatch(/^grt_/);
    for (const label of [
      'A new reading arrives',
      'The newest reading is corrected',
      'The person ends the connection',
    ]) {
      await trigger.selectOption({ label });
      await go.click();
      await page.getByText('It has happened.').waitFor();
    }
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('sandbox-triggered');
    await go.click();
    await page.getByText('Nothing was left to change.').waitFor();
    await page.getByLabel('Grant ID').fill('grt_unknown');
    await go.click();
    await page.getByRole('alert').getByText('The app has no connection with this ID.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('sandbox-not-triggered');

    await page.getByLabel('Error', { exact: true }).selectOption('INVALID_GRANT');
    const command = page.getByRole('figure', { name: 'Command that gets the error' });
    await command.getByText('/oauth/token -H "Sandbox-Force: INVALID_GRANT"').waitFor();
    await page.getByLabel('Error', { exact: true }).selectOption('CONSENT_REQUIRED');
    await command.getByText('/api/v1/health-data/heart -H "Sandbox-Force: CONSENT_REQUIRED"').waitFor();
  });

  test('says that a live app has no sandbox', async () => {
    const session = await signIn(visits.stack, 'web-sandbox-live');
    const app = await registerApp(visits.stack.gateway, session, { name: 'Serious' });
    const visitor = await visits.open(`/console/${app.clientId}/sandbox`, { session });
    await visitor.page.getByRole('heading', { name: 'Serious is a live app' }).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('sandbox-live-app');
  });
});
