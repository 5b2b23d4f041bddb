import { expect, test } from '@jest/globals';
import { readPages } from '@phds/docs/source';
import { findHiddenStops, findSmallTargets } from '../src/page-checks.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

// Pages about error codes are alike.
const PAGES = [...readPages().map(({ path }) => path), '/problems/rate-limited', '/problems/invalid-request'];

/** A page of each kind: all pages are made of these parts by the same code. */
const KINDS = [
  '/docs',
  '/docs/first-call',
  '/docs/reference-documents',
  '/problems',
  '/problems/rate-limited',
];

describeWithChromium('the documentation', () => {
  const visits = prepareVisits();

  test('every page fits on a narrow screen, has targets to tap, and headings without a gap; each kind has no barrier, in light and dark', async () => {
    const visitor = await visits.open('/docs', { screen: 'narrow' });
    for (const path of PAGES) {
      await visitor.goto(path);
      const overflow = [...(await visitor.findOverflow()), ...(await visitor.findOverflow(2))];
      expect([path, overflow, await findSmallTargets(visitor.page)]).toEqual([path, [], []]);
      const headings = visitor.page.locator('h1, h2, h3, h4, h5, h6');
      const levels = await headings.evaluateAll((all) => all.map(({ tagName }) => Number(tagName[1])));
      const gaps = levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1);
      expect([path, levels.filter((level) => level === 1), gaps]).toEqual([path, [1], []]);
      await visitor.takePictures(`docs${path.replaceAll('/', '-')}`);
      if (!KINDS.includes(path)) continue;
      expect([path, await visitor.findBarriers()]).toEqual([path, []]);
      await visitor.lookAs('dark');
      expect([path, await visitor.findBarriers('colors')]).toEqual([path, []]);
      await visitor.lookAs('narrow');
    }
    await visitor.goto('/docs/tokens');
    expect(await findHiddenStops(visitor.page)).toEqual([]);
  });

  test('the search works with the keyboard alone, and says why it could not be loaded and that nothing was found', async () => {
    const visitor = await visits.open('/docs', {});
    const { page } = visitor;
    const field = page.getByRole('searchbox');
    const index = '**/docs/assets/index-*.json';
    await page.route(index, (route) => route.abort('connectionreset'));
    await field.and(page.locator(':enabled')).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('lost answer refresh');
    await page.getByText('The search could not be loaded').waitFor();
    await page.unroute(index);
    await field.fill('zzzxqy');
    await page.getByText('Nothing found').waitFor();
    await field.fill('lost answer refresh');
    const results = page.locator('#results a');
    await results.first().waitFor();
    expect(await results.first().textContent()).toContain('Tokens and refresh: Refresh');
    expect(await visitor.findBarriers()).toEqual([]);
    await page.getByText(/^(8 of \d+ shown|[1-8] found)\. Arrow keys choose\.$/).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.locator('#results a:first-child:focus').waitFor();
    await page.keyboard.press('ArrowUp');
    await field.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await results.first().waitFor({ state: 'hidden' });
    await page.keyboard.press('End');
    await page.keyboard.type(' ');
    await results.first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/tokens#refresh');
    await page.getByRole('heading', { name: /^Refresh/ }).waitFor();
  });
});
