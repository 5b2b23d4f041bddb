import { expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { type BodyOf, example, LOST } from '../kit/answers.ts';
import { answersOf, grantOf } from '../kit/grants.ts';
import { openPage, screen, textOf, within } from '../kit/page.ts';
import { after, afterDays } from '../kit/times.ts';

type Preview = BodyOf<'previewData'>['data'];
const openPreview = (preview: object, path = '/data/read:health-data:heart') =>
  openPage(path, {
    answers: { previewData: { data: { total: 1, newest: [], trend: [], ...preview } as unknown as Preview } },
  });
const cellsOf = (table: string) =>
  within(screen.getByRole('table', { name: table }))
    .getAllByRole('cell')
    .map(textOf);
const figureOf = (name: string) =>
  within(screen.getByRole('region', { name: new RegExp(`^${name}, `) })).getByRole('figure');
const point = (type: string, daysAgo: number, value: number) => ({
  ...{ type, start: afterDays(-daysAgo), end: afterDays(1 - daysAgo), bucket: 'day', count: 3, value },
  ...{ unit: type === 'Steps' ? '{steps}' : 'kcal', average: value, min: 1, max: value, sum: value },
});

test('the latest records and the days are in the zone of the person, by scope', async () => {
  const { data } = example('previewData');
  const trend = [{ ...point('Weight', 0, 65), start: '2026-11-28T00:00:00+14:00', unit: 'kg' }];
  await using page = await openPreview({ ...data, total: 68, trend }, '/data/read:weight');
  screen.getByRole('heading', { name: 'Latest records: 5 of 68' });
  await page.press(screen.getByText('Show as a table'));
  expect(textOf(screen.getAllByRole('cell')[0] as Element)).toBe('28 Nov');
  expect(page.requests.at(-1)?.query).toEqual({ scope: 'read:weight' });
});

test.each([
  ['/data/read:mood', 'No data here'],
  ['/data/read:everything', 'There is no such page'],
])('at %s it says “%s”', async (path, title) => {
  await using page = await openPreview({ scope: 'read:mood', total: 0 }, path);
  page.see(title);
});

test('all types are listed with how much there is, the newest and the apps that can read it, and each has a page', async () => {
  const body = ['read:health-data:body-composition'] as const;
  const grants = [
    grantOf(),
    grantOf({ id: 'grt_2', scopes: body }),
    grantOf({ id: 'grt_3', status: 'expired' }),
  ];
  const timestamp = after(0);
  const heart = { id: 'rdg_1', type: 'Heart Rate', value: 69, unit: '/min', timestamp, source: 'iphone' };
  const listOwnData = {
    data: [
      { scope: 'read:health-data:heart', total: 7135, latest: heart },
      { scope: 'read:weight', total: 1, latest: { id: 'wgt_1', weightKg: 65.2, date: '2026-11-22' } },
      { scope: 'read:conditions', total: 1, latest: { id: 'cnd_1', name: 'Asthma', sinceDate: '2019' } },
      { scope: 'read:mood', total: 0, latest: null },
      { scope: 'read:medications', total: 3, latest: null },
    ],
  } as BodyOf<'listOwnData'>;
  await using page = await openPage('/data', { answers: { ...answersOf(...grants), listOwnData } });
  const rows = screen.getAllByRole('listitem').map(textOf);
  expect(rows).toHaveLength(SCOPE_NAMES.length);
  expect(rows).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        /^HeartHeart rate: 69 beats per minute · \d+ \w+ 20\d\d, [\d:]{5}7,135 records · shared with 1 app$/,
      ),
      'Weight by day65.2 kg · 22 Nov 20261 record · shared with 1 app',
      'ConditionsAsthma · 20191 record · not shared',
      'Moodnothing yetshared with 1 app',
      'Medications3 medicationsnot shared',
      'Trends of all health datanot shared',
    ]),
  );
  const archive = screen.getByRole('link', { name: 'Download all of it' });
  expect(archive.getAttribute('href')).toBe('/partner/consent/own-data.zip?lang=en');
  expect(archive.getAttribute('referrerpolicy')).toBe('same-origin');
  await page.press('Heart', 'link');
  expect(page.path).toBe('/data/read:health-data:heart');
  page.see(/^Latest records: 5 of /);
  screen.getByRole('heading', { level: 1, name: 'Heart' });
  expect(document.activeElement).toBe(screen.getByRole('main'));
  await page.press(within(screen.getByRole('main')).getByRole('link', { name: '‹ My data' }));
  expect(page.path).toBe('/data');
});

test('the types and who can read them are there while it is not known how much is held, and when that fails', async () => {
  await using page = await openPage('/data', { answers: { ...answersOf(grantOf()), listOwnData: LOST } });
  expect(screen.getAllByRole('listitem').map(textOf)).toContain('Heartshared with 1 app');
  await page.pass(5_000);
  page.see('This could not be loaded.', screen.getByRole('alert'));
  page.answers.listOwnData = example('listOwnData');
  await page.press('Try again');
  expect([page.alerts, page.find(/record/, screen.getByRole('main')) === null]).toEqual([[], false]);
});

test('values are said with their units, and heart rates have no sum', async () => {
  const reading = { id: 'rdg_1', timestamp: after(0), sum: 1_200 };
  const newest = [
    { ...reading, type: 'Heart Rate', value: 69, unit: '/min' },
    { ...reading, id: 'rdg_2', type: 'ECG', value: 71, unit: '/min' },
  ];
  await using page = await openPreview({ scope: 'read:health-data:heart', newest });
  expect(screen.queryByRole('columnheader', { name: 'Total' })).toBeNull();
  page.see('69 beats per minute');
  page.see('Heart rate in the ECG');
});

test('minutes of sleep are said in hours', async () => {
  const newest = [{ id: 'rdg_3', timestamp: after(0), type: 'Sleep', value: 460, unit: 'min' }];
  const trend = [point('Sleep', 1, 460), point('Sleep', 2, 425)].map((each) => ({ ...each, unit: 'min' }));
  await using page = await openPreview({ scope: 'read:health-data:sleep', newest, trend });
  page.see('7 h 40 min');
  const figure = figureOf('Sleep');
  expect(figure.querySelector('figcaption')?.textContent).toBe('Sleep h');
  expect([...figure.querySelectorAll('[aria-hidden=true] > div > span')].map(textOf)).toContain('8');
  await page.press(within(figure).getByText('Show as a table'));
  within(figure).getAllByRole('cell', { name: '7 h 5 min' });
});

test('medications are shown with their doses, and codes in words of the language', async () => {
  const medication = {
    name: 'Metformin',
    dosage: '500 mg',
    frequency: 'with dinner',
    condition: null,
    pattern: 'BID',
  };
  const dose = {
    medication: 'Metformin',
    scheduledAt: after(0),
    status: 'skipped',
    takenAt: null,
    dose: null,
    reason: 'Felt fine',
  };
  const preview = {
    scope: 'read:medications',
    newest: [{ id: 'med_1', ...medication }],
    doses: { total: 9, newest: [dose] },
  };
  await using page = await openPreview(preview);
  expect(cellsOf('All records')).toEqual(['Metformin', '500 mg', 'with dinner', '–', 'Twice a day']);
  expect(cellsOf('Latest doses: 1 of 9')).toEqual([
    'Metformin',
    '27 Nov 2026, 12:00',
    'Skipped',
    '–',
    '–',
    'Felt fine',
  ]);
  await page.press('Deutsch');
  page.see('Zweimal täglich');
});

test('a report is shown with the period that it covers', async () => {
  const report = {
    id: 'rpt_1',
    generatedAt: after(0),
    dateRange: { from: '2026-01-01', to: '2026-02-28' },
    summary: 'All well.',
  };
  await using _ = await openPreview({ scope: 'read:reports', newest: [report] });
  expect(cellsOf('All records')).toEqual(['27 Nov 2026, 12:00', '1 Jan 2026 to 28 Feb 2026', 'All well.']);
});

test('every field of a summary is shown, which has too many for a table', async () => {
  const [metric] = example('getAggregations').data.metrics;
  const summary = { ...metric, latest: { value: 64, timestamp: after(0) } };
  await using page = await openPreview({ scope: 'read:aggregations', newest: [summary] });
  expect(screen.queryByRole('table')).toBeNull();
  const facts = [/TypeHeart rate/, /Latest64 beats per minute, 27 Nov 2026/, /Usual range41 to 130 \(/];
  for (const fact of [...facts, /Outside that range\d+ of the readings: \d+ below, \d+ above/])
    page.see(fact);
});

test('the total of a day that is not over is marked, and a single point names its day and value', async () => {
  const steps = [point('Steps', 0, 310), point('Steps', 1, 7_000), point('Steps', 2, 7_400)];
  const item = { id: 'rdg_1', type: 'Steps', value: 310, unit: '{steps}', timestamp: after(0) };
  const trend = [...steps, point('Calories', 4, 412)];
  await using page = await openPreview({ scope: 'read:health-data:activity', newest: [item], trend });
  const figure = figureOf('Steps');
  expect(within(figure).getAllByRole('listitem').map(textOf)).toEqual(['Today so far']);
  await page.press(within(figure).getByText('Show as a table'));
  within(figure).getByRole('cell', { name: '310 (today so far)' });
  const energy = figureOf('Active energy');
  page.see('23 Nov: 412', energy);
  expect(page.find('Today so far', energy)).toBeNull();
});
