import { beforeAll, expect, test } from '@jest/globals';
import { type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import type { Visitor } from '@phds/running-system/visitor';
import { signInReader } from '../src/history-readers.ts';
import { describeWithChromium, prepareVisits, readDownload } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const SUMMARY = '**/partner/consent/accesses/summary*';
const SMALL = { width: 320, height: 568 };

describeWithChromium('the access history', accessHistory);

function accessHistory(): void {
  const visits = prepareVisits();
  let developer: string;
  let app: PartnerApp;

  beforeAll(async () => {
    developer = await signIn(visits.stack, 'developer');
    app = await registerApp(visits.stack.gateway, developer, { name: 'Morning Run' });
  });

  async function expectUsable(visitor: Visitor): Promise<void> {
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.page.setViewportSize(SMALL);
    expect([await visitor.findOverflow(), await visitor.findOverflow(2)]).toEqual([[], []]);
    await visitor.lookAs('desktop');
  }

  test('has a line for each day and app that opens to the single reads, and is exported', async () => {
    const session = await signInReader(visits.stack, app, { user: 'web-history-reader', heartReads: 22 });
    const visitor = await visits.open('/history', { session });
    const { page } = visitor;
    const line = page.locator('summary', { hasText: 'Morning Run' });
    expect(await line.textContent()).toBe('Morning Run 23 reads of Heart and Mood');
    await expectUsable(visitor);
    await visitor.takePictures('access-history');
    await line.click();
    await page.getByText('Page 1 of 2 (23 in all)').waitFor();
    const { data } = (await send(`${visits.stack.gateway}/partner/consent/accesses`, { bearer: session }))
      .body;
    const [newest] = data;
    const at = new Date(newest.at);
    const day = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', dateStyle: 'full' });
    const withoutComma = (text: string) => text.replace(',', '');
    const headings = await page.getByRole('heading', { level: 2 }).allTextContents();
    expect(headings.map(withoutComma)).toContain(withoutComma(day.format(at)));
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' });
    const row = page.getByRole('row').nth(1);
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      clock.format(at),
      'Shared',
      'Mood',
      'All dates',
      '0',
    ]);
    await expectUsable(visitor);
    await visitor.takePictures('access-history-open');
    await page.getByLabel('Data', { exact: true }).selectOption({ label: 'Mood' });
    await line.filter({ hasText: '1 read of Mood' }).waitFor();
    await page.getByText('Page 1 of 2').waitFor({ state: 'detached' });
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export as CSV' }).click();
    const text = await readDownload(download);
    expect(text.split('\r\n')).toHaveLength(3);
    expect(text).toContain('/api/v1/mood');
  });

  test('keeps a line open, or closed, while another filter matches nothing', async () => {
    const session = await signInReader(visits.stack, app, { user: 'web-history-chooser', heartReads: 1 });
    const { page } = await visits.open('/history', { session });
    const line = page.locator('summary', { hasText: 'Morning Run' });
    const rows = page.getByRole('row');
    // As typing “Mood” does, whose first letter selects Mindfulness.
    const chooseAfterMindfulness = async (label: string, reads: string) => {
      const data = page.getByLabel('Data', { exact: true });
      await data.selectOption({ label: 'Mindfulness' });
      await page.getByRole('heading', { name: 'No reads match' }).waitFor();
      await data.selectOption({ label });
      await line.filter({ hasText: reads }).waitFor();
    };
    await line.click();
    await rows.nth(2).waitFor();
    await chooseAfterMindfulness('Mood', '1 read of Mood');
    await rows.nth(1).waitFor();
    expect(await rows.allTextContents()).toHaveLength(2);
    await line.click();
    // The browser hides the rows at once. The page removes them when it has noted, at the event `toggle`, that the line is closed.
    await page.locator('details table').waitFor({ state: 'detached' });
    await chooseAfterMindfulness('All data', '2 reads of Heart and Mood');
    expect(await line.locator('xpath=..').getAttribute('open')).toBeNull();
  });

  test('tells blocked reads from shared ones in the lines, the chart and its table', async () => {
    const session = await signInReader(visits.stack, app, { user: 'web-history-blocked', heartReads: 1 });
    const visitor = await visits.open('/', { session });
    const { page } = visitor;
    await page.route(SUMMARY, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { data: { refused: number }[] };
      for (const day of body.data) day.refused = 3;
      await route.fulfill({ response, json: body });
    });
    await page.getByRole('link', { name: 'Access history' }).first().click();
    const line = page.locator('summary', { hasText: 'Morning Run' });
    await line.waitFor();
    expect(await line.textContent()).toBe('Morning Run 2 reads of Heart and Mood · 3 blocked');
    const chart = page.getByRole('figure');
    expect(await chart.getByRole('listitem').allTextContents()).toEqual(['Shared', 'Blocked']);
    await chart.getByText('Show as a table').click();
    await chart.getByRole('table').waitFor();
    expect(await chart.getByRole('columnheader').allTextContents()).toEqual(['Day', 'Shared', 'Blocked']);
    expect((await chart.getByRole('cell').allTextContents()).slice(1)).toEqual(['2', '3']);
    // Not by colour alone.
    expect(await chart.locator('rect[fill^="url(#"]').count()).toBe(2);
    await expectUsable(visitor);
    await visitor.takePictures('access-history-blocked');
  });

  test('names the day of the browser, also for a person far from UTC', async () => {
    const session = await signInReader(visits.stack, app, { user: 'web-history-traveller', heartReads: 1 });
    const visitor = await visits.open('/', { session });
    const { page } = visitor;
    const asked = page.waitForRequest(/\/accesses\/summary/);
    await page.getByRole('link', { name: 'Access history' }).first().click();
    expect(new URL((await asked).url()).searchParams.get('timeZone')).toBe('Europe/Berlin');
    await page.getByText('Days and times are those of Europe/Berlin.').waitFor();
  });

  test('tells apps of the same name apart', async () => {
    const session = await signInReader(visits.stack, app, { user: 'web-history-alike', heartReads: 1 });
    const alike = await registerApp(visits.stack.gateway, developer, { name: 'Morning Run' });
    await alike.read((await alike.connect(session, [HEART])).accessToken, '/api/v1/health-data/heart');
    const { page } = await visits.open('/history', { session });
    await page.locator('summary strong').nth(1).waitFor();
    const names = await page.locator('summary strong').allTextContents();
    expect(new Set(names).size).toBe(2);
    for (const { clientId } of [app, alike]) expect(names.join()).toContain(clientId);
    const options = await page.getByLabel('App', { exact: true }).locator('option').allTextContents();
    expect(options.toSorted()).toEqual(['All apps', ...names].toSorted());
  });

  test('shows older days on request, and the day of the latest read if there was none lately', async () => {
    const session = await signInReader(visits.stack, app, { user: 'web-history-old', heartReads: 1 });
    const visitor = await visits.open('/', { session });
    const { page } = visitor;
    await page.route(SUMMARY, async (route) => {
      const { searchParams } = new URL(route.request().url());
      if (searchParams.get('from') === searchParams.get('to')) return route.continue();
      return route.fulfill({
        json: { data: [], pagination: { page: 1, pageSize: 100, total: 0, totalPages: 0 } },
      });
    });
    await page.getByRole('link', { name: 'Access history' }).first().click();
    await page.getByRole('heading', { name: 'No reads in these 30 days' }).waitFor();
    await expectUsable(visitor);
    await visitor.takePictures('access-history-none-lately');
    await page.getByRole('button', { name: 'Show that day' }).click();
    await page.locator('summary', { hasText: 'Morning Run' }).waitFor();
    await page.getByRole('button', { name: 'Show the day before' }).click();
    await page.locator('summary', { hasText: 'Morning Run' }).waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'No reads match' }).waitFor();
  });
}
