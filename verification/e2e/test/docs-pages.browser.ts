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

  test('every page fits on a narrow screen, has targets to tap, and headings without a gap', async () => {
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
    }
  });

  test.each(KINDS)('%s has no barrier, in light and dark', async (path) => {
    const visitor = await visits.open(path, { screen: 'narrow' });
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.lookAs('dark');
    expect(await visitor.findBarriers('colors')).toEqual([]);
  });

  test('the keyboard reaches everything, and what has the focus can be seen', async () => {
    const visitor = await visits.open('/docs/tokens', { screen: 'narrow' });
    expect(await findHiddenStops(visitor.page)).toEqual([]);
  });

  test('the search works with the keyboard alone', async () => {
    const visitor = await visits.open('/docs', {});
    const { page } = visitor;
    const field = page.getByRole('searchbox');
    await field.and(page.locator(':enabled')).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('lost answer refresh');
    const results = page.locator('#results a');
    await results.first().waitFor();
    expect(await results.first().textContent()).toContain('Tokens and refresh: Refresh');
    expect(await visitor.findBarriers()).toEqual([]);
    await page.getByText(/^(8 of \d+ shown|[1-8] found)\. Arrow keys choose\.$/).waitFor();
    await visitor.takePictures('docs-search');
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

  test('the search says that nothing was found, and why it could not be loaded', async () => {
    const { page } = await visits.open('/docs', {});
    await page.route('**/docs/assets/index-*.json', (route) => route.abort('connectionreset'));
    const field = page.getByRole('searchbox');
    await field.fill('refresh');
    await page.getByText('The search could not be loaded').waitFor();
    await page.unroute('**/docs/assets/index-*.json');
    await field.fill('zzzxqy');
    await page.getByText('Nothing found').waitFor();
  });
});
