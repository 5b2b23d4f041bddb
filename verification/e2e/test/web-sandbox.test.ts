import { expect, test } from '@jest/globals';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

describeWithChromium('the sandbox page', sandboxPage);

function sandboxPage(): void {
  const visits = prepareVisits();

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
}
