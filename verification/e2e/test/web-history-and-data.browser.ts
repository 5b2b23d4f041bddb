import { beforeAll, expect, test } from '@jest/globals';
import { OBSERVATION_SCOPES } from '@phds/catalog/fhir/observation-kinds';
import { ingestReadings, setTimeZone } from '@phds/running-system/ingestion';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import type { Visitor } from '@phds/running-system/visitor';
import { signInReader } from '../src/history-readers.ts';
import { runAsOperator } from '../src/operator-command.ts';
import { describeWithChromium, prepareVisits, readDownload } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const SUMMARY = '**/partner/consent/accesses/summary*';
const SMALL = { width: 320, height: 568 };
const DAY_MS = 86_400_000;
const PREVIEW = '**/partner/consent/preview*';

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

describeWithChromium('the access history', () => {
  test('has a line for each day and app that opens to the single reads, and is exported', async () => {
    const observed = OBSERVATION_SCOPES.filter((scope) => scope !== 'read:profile');
    const reader = { user: 'web-history-reader', heartReads: 21, observed };
    const session = await signInReader(visits.stack, app, reader);
    const visitor = await visits.open('/history', { session });
    const { page } = visitor;
    const line = page.locator('summary', { hasText: 'Morning Run' });
    const heartAndMore = 'Heart, Blood pressure, Blood oxygen and 10 more';
    expect(await line.textContent()).toBe(`Morning Run 23 reads of ${heartAndMore}`);
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
      expect.stringMatching(/^Heart, Blood pressure, .*, Weight by day and Mood$/),
      'All dates',
      '0',
    ]);
    await expectUsable(visitor);
    await visitor.takePictures('access-history-open');
    await page.getByLabel('Data', { exact: true }).selectOption({ label: 'Mood' });
    await line.filter({ hasText: `2 reads of ${heartAndMore}` }).waitFor();
    await page.getByText('Page 1 of 2').waitFor({ state: 'detached' });
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export as CSV' }).click();
    const text = await readDownload(download);
    expect(text.split('\r\n')).toHaveLength(4);
    expect(text).toMatch(/\/fhir\/R4\/Observation.*\/api\/v1\/mood/s);
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

  test('also shows what operators did about the person, and nothing of it while they did nothing', async () => {
    const session = await signInReader(visits.stack, app, { user: 'web-history-operated', heartReads: 1 });
    const visitor = await visits.open('/history', { session });
    const { page } = visitor;
    const acts = page.getByRole('region', { name: 'By the operators of this service' });
    await page.locator('summary', { hasText: 'Morning Run' }).waitFor();
    expect(await acts.count()).toBe(0);
    const { grantId } = await app.connect(session, [HEART]);
    const { code } = await runAsOperator(visits.stack, [
      'grants',
      'revoke',
      grantId,
      '--reason',
      'A phone call.',
    ]);
    expect(code).toBe(0);
    await visitor.goto('/history');
    await acts.getByText('Stopped sharing with Morning Run').waitFor();
    await expectUsable(visitor);
    await visitor.takePictures('access-history-operators');
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
});

/** A preview as the service returns it, with an item of each kind of value. */
const MEDICATIONS = {
  scope: 'read:medications',
  total: 1,
  newest: [
    {
      id: 'med_1',
      name: 'Metformin',
      dosage: '500 mg',
      frequency: 'with breakfast and dinner',
      condition: null,
      pattern: 'BID',
    },
  ],
  trend: [],
  doses: {
    total: 9,
    newest: [
      {
        medication: 'Metformin',
        scheduledAt: '2026-03-02T07:00:00.000Z',
        status: 'skipped',
        takenAt: null,
        dose: null,
        reason: 'Felt fine',
      },
    ],
  },
};
const REPORTS = {
  scope: 'read:reports',
  total: 1,
  newest: [
    {
      id: 'rpt_1',
      generatedAt: '2026-03-02T07:00:00.000Z',
      dateRange: { from: '2026-01-01', to: '2026-02-28' },
      summary: 'All well.',
    },
  ],
  trend: [],
};

describeWithChromium('my data', () => {
  let session: string;

  beforeAll(async () => {
    const { stack } = visits;
    session = await signIn(stack, 'web-my-data');
    const readings = Array.from({ length: 20 }, (_, day) => ({
      type: 'Heart Rate',
      start: new Date(Date.now() - day * DAY_MS).toISOString(),
      value: 60 + (day % 7),
      source: 'apple-watch',
    }));
    await ingestReadings(stack, 'web-my-data', readings);
    // In this time zone, her midnights fall on other days than in the browser's.
    await setTimeZone(stack, 'web-my-data', 'Pacific/Kiritimati');
  });

  /** Opens a page whose preview is this one. */
  async function openPreview(preview: object, scope: string): Promise<Visitor> {
    const visitor = await visits.open('/', { session });
    await visitor.page.route(PREVIEW, (route) => route.fulfill({ json: { data: preview } }));
    await visitor.goto(`/data?scope=${scope}`);
    return visitor;
  }

  const cellsOf = (visitor: Visitor, table: string) =>
    visitor.page.getByRole('table', { name: table }).getByRole('cell').allTextContents();

  test('shows the latest records and the days in the zone of the person', async () => {
    const visitor = await visits.open('/data', { session });
    const { page } = visitor;
    await page.getByRole('heading', { name: 'Latest records: 5 of 20' }).waitFor();
    await expectUsable(visitor);
    await visitor.takePictures('my-data');
    expect(await page.getByRole('figure').first().textContent()).toContain('Heart rate');
    const url = `${visits.stack.gateway}/partner/consent/preview?scope=${HEART}`;
    const { start } = (await send(url, { bearer: session })).body.data.trend[0];
    await page.getByText('Show as a table').first().click();
    const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
    const [newest] = await page.locator('tbody tr td').allTextContents();
    expect(newest).toBe(day.format(new Date(start.slice(0, 10))));
    await page.getByLabel('Type of data').selectOption('read:mood');
    await page.getByRole('heading', { name: 'No data here' }).waitFor();
    await visitor.takePictures('my-data-none');
  });

  test('shows medications with their doses, and codes in words', async () => {
    const visitor = await openPreview(MEDICATIONS, 'read:medications');
    await visitor.page.getByRole('heading', { name: 'All records' }).waitFor();
    expect(await cellsOf(visitor, 'All records')).toContain('Twice a day');
    await visitor.page.getByRole('heading', { name: 'Latest doses: 1 of 9' }).waitFor();
    expect(await cellsOf(visitor, 'Latest doses: 1 of 9')).toEqual(
      expect.arrayContaining(['Metformin', 'Skipped', 'Felt fine']),
    );
    await expectUsable(visitor);
    await visitor.takePictures('my-data-medications');
    await visitor.speak('de');
    await visitor.page.getByRole('cell', { name: 'Zweimal täglich' }).waitFor();
  });

  test('shows the period that a report covers', async () => {
    const visitor = await openPreview(REPORTS, 'read:reports');
    expect(await cellsOf(visitor, 'All records')).toContain('1 Jan 2026 to 28 Feb 2026');
    await expectUsable(visitor);
    await visitor.takePictures('my-data-reports');
  });

  test('shows every field of a summary, which has too many for a table', async () => {
    const visitor = await visits.open('/data?scope=read:aggregations', { session });
    const { page } = visitor;
    await page.getByRole('heading', { name: 'All records' }).waitFor();
    const facts = page.locator('main dl').first();
    expect(await facts.locator('dt').allTextContents()).toEqual(
      expect.arrayContaining(['Type', 'Latest', 'Usual range', 'Outside that range']),
    );
    const values = await facts.locator('dd').allTextContents();
    expect(values).toEqual(expect.arrayContaining(['Heart rate', expect.stringMatching(/^41 to 130 \(/)]));
    await expectUsable(visitor);
    await visitor.takePictures('my-data-summaries');
  });

  test('marks the total of a day that is not over, and names a single point', async () => {
    const now = Date.now();
    const point = (type: string, daysAgo: number, value: number) => ({
      type,
      start: new Date(now - daysAgo * DAY_MS).toISOString(),
      end: new Date(now + (1 - daysAgo) * DAY_MS).toISOString(),
      unit: type === 'Steps' ? '{steps}' : 'kcal',
      count: 3,
      value,
      min: 1,
      max: value,
    });
    const trend = [
      point('Steps', 0, 310),
      ...Array.from({ length: 9 }, (_, day) => point('Steps', day + 1, 7_000 + 400 * (day % 4))),
      point('Calories', 4, 412),
    ];
    const item = {
      id: 'rdg_1',
      type: 'Steps',
      value: 310,
      unit: '{steps}',
      timestamp: new Date(now).toISOString(),
    };
    const preview = { scope: 'read:health-data:activity', total: 1, newest: [item], trend };
    const visitor = await openPreview(preview, 'read:health-data:activity');
    const { page } = visitor;
    const steps = page.getByRole('figure').filter({ hasText: 'Steps' });
    await steps.getByRole('listitem').getByText('Today so far').waitFor();
    await steps.getByText('Show as a table').click();
    await steps.getByRole('cell', { name: '310 (today so far)' }).waitFor();
    const energy = page.getByRole('figure').filter({ hasText: 'Active energy' });
    expect(await energy.locator('svg text').allTextContents()).toContainEqual(
      expect.stringMatching(/: 412$/),
    );
    expect(await energy.getByText('Today so far').count()).toBe(0);
    await expectUsable(visitor);
    await visitor.takePictures('my-data-activity');
  });
});

describeWithChromium('the start page', () => {
  test('names the requests that wait for a decision and leads to them', async () => {
    const session = await signIn(visits.stack, 'web-home-undecided');
    const asked = await app.authorize(['read:health-data:heart', 'read:mood']);
    const { approval_uri: uri } = expectStatus(201, asked).body;
    // The first person who opens a request claims it.
    const visitor = await visits.open(uri, { session });
    const { page } = visitor;
    await visitor.goto('/');
    await page.getByText('Morning Run wants to read your health data.').waitFor();
    await page.getByText('It asks for 2 types of data. Nothing is shared until you decide.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('start-waiting');
    await visitor.speak('de');
    await page.getByRole('link', { name: 'Anfrage ansehen' }).click();
    await page.waitForURL(uri);
  });
});
