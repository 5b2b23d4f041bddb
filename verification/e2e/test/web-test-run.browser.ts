import { expect, test } from '@jest/globals';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

describeWithChromium('the test run', () => {
  const visits = prepareVisits();

  test('asks a made-up person of a sandbox app, who declines or shares at once, and lets things happen to the connection', async () => {
    const session = await signIn(visits.stack, 'web-sandbox-maker');
    const scopes = ['read:health-data:heart'];
    const { clientSecret } = await registerApp(visits.stack.gateway, session, {
      environment: 'sandbox',
      scopes,
    });
    const visitor = await visits.open('/console/test-run', { session });
    const { page } = visitor;
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    await press('Add this page to its redirect URIs');
    await page.getByLabel('Person to ask').selectOption('deny');
    await press('Send the request');
    await page.getByText('The person declined.').waitFor();
    await page.getByRole('link', { name: 'Start again' }).click();
    await page.getByLabel('Person to ask').selectOption('ben');
    await press('Send the request');
    await page.getByLabel('Client secret').fill(clientSecret);
    expect(page.url()).not.toContain('code=');
    await press('Get tokens');
    await press('Read');
    await page.getByText('"total": 3').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await page.getByRole('link', { name: 'the sandbox page of the app' }).click();
    expect(await page.getByLabel('Grant ID').inputValue()).toMatch(/^grt_/);
    for (const label of [
      'A new reading arrives',
      'The newest reading is corrected',
      'The person ends the connection',
    ]) {
      await page.getByLabel('What happens').selectOption({ label });
      await press('Let it happen');
      await page.getByText('It has happened.').waitFor();
    }
    await press('Let it happen');
    await page.getByText('Nothing was left to change.').waitFor();
  });
});
