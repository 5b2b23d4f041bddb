import { beforeAll, expect, test } from '@jest/globals';
import { ingestReadings, setTimeZone } from '@phds/running-system/ingestion';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import type { Visitor } from '@phds/running-system/visitor';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const DAY_MS = 86_400_000;
const SMALL = { width: 320, height: 568 };
const PREVIEW = '**/partner/consent/preview*';

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

describeWithChromium('my data', myData);

function myData(): void {
  const visits = prepareVisits();
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

  async function expectUsable(visitor: Visitor): Promise<void> {
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.page.setViewportSize(SMALL);
    expect([await visitor.findOverflow(), await visitor.findOverflow(2)]).toEqual([[], []]);
    await visitor.lookAs('desktop');
  }

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
}
