import { expect, test } from '@jest/globals';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

/** A page of each kind. */
const KINDS = ['/docs/', '/docs/first-call', '/docs/before-you-go-live', '/docs/problems/rate-limited'];

describeWithChromium('the documentation', () => {
  const visits = prepareVisits();

  test('every kind of page fits on a narrow screen and has no barrier, in light and dark', async () => {
    const visitor = await visits.open('/docs/', { screen: 'narrow' });
    for (const path of KINDS) {
      await visitor.goto(path);
      expect([path, await visitor.findOverflow()]).toEqual([path, []]);
      expect([path, await visitor.findBarriers()]).toEqual([path, []]);
      await visitor.lookAs('dark');
      expect([path, await visitor.findBarriers('colors')]).toEqual([path, []]);
      await visitor.lookAs('narrow');
    }
  });

  test('the search opens the section that it found, with the keyboard alone', async () => {
    const { page } = await visits.open('/docs/', {});
    await page.keyboard.press('/');
    await page.locator('#localsearch-input').fill('refresh token');
    await page.locator('#localsearch-list li').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/tokens#refresh');
    await page.getByRole('heading', { name: /^Refresh/ }).waitFor();
  });

  test('a page that is opened by a link, without a new load, says what the settings state', async () => {
    const { page } = await visits.open('/docs/', {});
    await page.locator('main').getByRole('link', { name: 'Before you go live' }).click();
    await page.getByRole('row', { name: 'Operator not stated' }).waitFor();
  });

  test('an address that does not exist is explained', async () => {
    const { page } = await visits.open('/docs/', {});
    await page.goto(new URL('/docs/nothing', page.url()).href);
    await page.getByText('PAGE NOT FOUND').waitFor();
  });

  test('the reference sends a request to this deployment and shows the answer', async () => {
    const { page } = await visits.open('/docs/reference#tag/documents/listVersions', {});
    const section = page.locator('[id$="tag/documents/listVersions"]');
    await section.getByRole('button', { name: 'Test Request' }).first().click();
    await page.getByRole('button', { name: /^Send/ }).first().click();
    await page.getByText('200 OK').first().waitFor();
  });
});
