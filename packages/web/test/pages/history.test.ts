import { expect, test } from '@jest/globals';
import { type BodyOf, example, inTurn, listOf, problem } from '../kit/answers.ts';
import { openPage, type Page, screen, textOf, within } from '../kit/page.ts';
import { after } from '../kit/times.ts';

type Day = BodyOf<'summarizeAccesses'>['data'][number];
const [recorded] = example('listAccesses').data;
const app = { clientId: 'app_RbhTQ90y4LF4kleyVgd426', name: 'Morning Run' };
const alike = { ...app, clientId: 'app_RbhTQ90y4LF4kleyVgd427' };
const countOf = (scope: string, released = 1, refused = 0) => ({ scope, released, refused });
const dayOf = (changes: Partial<Day> = {}): Day =>
  ({
    date: '2026-11-27',
    app,
    released: 2,
    refused: 0,
    scopes: [countOf('read:health-data:heart'), countOf('read:mood')],
    attempts: 0,
    ...changes,
  }) as Day;
const accessOf = (changes: object) => ({ ...recorded, app, at: after(0), ...changes }) as never;
const openHistory = (days: readonly Day[] = [dayOf()], answers: object = {}): Promise<Page> => {
  const known = listOf({ ...app, redirectHost: 'app.example', developerName: null });
  return openPage('/history', {
    answers: { summarizeAccesses: listOf(...days), listConnectedApps: known, ...answers },
  });
};
/** The lines of the history, and the part that opens one. */
const lines = () =>
  [...document.querySelectorAll('summary')]
    .map(textOf)
    .filter((text) => !/^(Show as a table|App, type of data, other days)$/.test(text));
const line = () => screen.getByText('Morning Run', { selector: 'strong' });
const lastQuery = (page: Page, wanted: string) =>
  page.requests.findLast(({ operation }) => operation === wanted)?.query;

test('there is a line for each day and app, with what it read and the zone of the days', async () => {
  const many = ['read:mood', 'read:weight', 'read:profile', 'read:ehr', 'read:reports'].map((scope) =>
    countOf(scope),
  );
  const yesterday = dayOf({ date: '2026-11-26', released: 1, scopes: [countOf('read:mood')] });
  await using page = await openHistory([dayOf({ released: 23, scopes: many }), yesterday]);
  const [first = '', ...others] = lines();
  expect(first).toMatch(/^Morning Run 23 reads of .+, .+, .+ and 2 more$/);
  expect(others).toEqual(['Morning Run 1 read of Mood']);
  const days = screen
    .getAllByRole('heading', { level: 2 })
    .map((heading) => heading.textContent?.replace(',', ''));
  expect(days).toEqual(['Friday 27 November 2026', 'Thursday 26 November 2026']);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  expect(lastQuery(page, 'summarizeAccesses')).toMatchObject({
    from: '2026-10-29',
    to: '2026-11-27',
    timeZone: zone,
  });
  page.see(`Days and times are those of ${zone}.`);
  expect(screen.queryByRole('region', { name: /operators/ })).toBeNull();
});

test('a line says how often the app tried since the person stopped, also on a day without reads', async () => {
  const tried = { released: 0, scopes: [], attempts: 14, date: '2026-11-26' };
  await using _ = await openHistory([dayOf({ attempts: 1 }), dayOf(tried)]);
  expect(lines()).toEqual([
    'Morning Run 2 reads of Heart and Mood · tried once since you stopped',
    'Morning Run tried 14 times since you stopped',
  ]);
});

test('a line opens to the single reads of its day; equal ones are one row, and blocked ones say why', async () => {
  const blocked = { scope: 'read:mood', outcome: 'refused', recordCount: 0 };
  const listAccesses = listOf(
    accessOf({ id: 'acc_1', scope: 'read:mood', recordCount: 1_200 }),
    accessOf({ id: 'acc_2', scope: 'read:mood', recordCount: 34, at: after(-20) }),
    accessOf({ id: 'acc_3', scope: 'read:symptoms read:mood', recordCount: 1 }),
    accessOf({ id: 'acc_4', ...blocked, reason: 'GRANT_REVOKED' }),
    accessOf({ id: 'acc_5', ...blocked, reason: 'SCOPE_WITHDRAWN' }),
    accessOf({ id: 'acc_6', ...blocked, reason: 'APP_NOT_ALIVE' }),
  );
  await using page = await openHistory([dayOf()], { listAccesses });
  expect(page.requests.map(({ operation }) => operation)).not.toContain('listAccesses');
  await page.press(line());
  const rows = within(line().closest('details') as HTMLElement).getAllByRole('listitem');
  expect(rows.map(textOf)).toEqual([
    'Mood 2 reads · 1,234 records · 11:40 – 12:00',
    'Symptoms and Mood 1 read · 1 record · 12:00',
    'Mood Blocked The sharing had ended.1 read · 0 records · 12:00',
    'Mood Blocked You had stopped sharing this type of data.1 read · 0 records · 12:00',
    'Mood Blocked The app was suspended or removed.1 read · 0 records · 12:00',
  ]);
  const [from, to] = [new Date(2026, 10, 27).toISOString(), new Date(2026, 10, 28).toISOString()];
  expect(lastQuery(page, 'listAccesses')).toMatchObject({ clientId: app.clientId, from, to });
});

test('a filter selects what is shown and exported, and a line stays open, or closed, while it matches nothing', async () => {
  const none = listOf<Day>();
  const days = listOf(dayOf());
  const summarizeAccesses = ({ query }: { query: Record<string, string> }) =>
    query['scope'] === 'read:health-data:mindfulness' ? none : days;
  const listAccesses = listOf(accessOf({}));
  await using page = await openHistory([], { summarizeAccesses, listAccesses });
  const chooseAfterMindfulness = async (label: string) => {
    // As typing “Mood” does, whose first letter selects Mindfulness.
    await page.fill('Type of data', 'Mindfulness');
    page.see('No reads match');
    await page.fill('Type of data', label);
  };
  await page.press(line());
  await chooseAfterMindfulness('Mood');
  page.see(/^1 read · /);
  expect(lastQuery(page, 'listAccesses')).toMatchObject({ scope: 'read:mood' });
  const link = screen.getByRole('link', { name: 'Export as CSV' });
  const [, query] = link.getAttribute('href')?.split('/partner/consent/accesses.csv?') ?? [];
  expect(Object.fromEntries(new URLSearchParams(query))).toEqual({
    ...{
      scope: 'read:mood',
      from: new Date(2026, 9, 29).toISOString(),
      to: new Date(2026, 10, 28).toISOString(),
    },
  });
  expect(link.getAttribute('download')).toBe('access-history.csv');
  await page.press(line());
  await chooseAfterMindfulness('All types');
  expect(page.find(/^1 read · /)).toBeNull();
  await page.fill('Type of data', 'Mindfulness');
  await page.press('7 days', 'radio');
  await page.press('Remove the filters');
  expect(lines()).toHaveLength(1);
  expect(screen.getByRole('radio', { checked: true })).toBe(screen.getByLabelText('7 days'));
});

test('blocked reads are told from shared ones in the lines, the chart and its table, not by color alone', async () => {
  const blocked = dayOf({
    date: '2026-11-26',
    released: 0,
    refused: 2,
    scopes: [countOf('read:mood', 0, 2)],
  });
  await using page = await openHistory([dayOf({ refused: 3 }), blocked]);
  expect(lines()).toEqual([
    'Morning Run 2 reads of Heart and Mood · 3 blocked',
    'Morning Run 2 blocked reads of Mood',
  ]);
  const chart = screen.getByRole('figure');
  expect(within(chart).getAllByRole('listitem').map(textOf)).toEqual(['Shared', 'Blocked']);
  await page.press(within(chart).getByText('Show as a table'));
  expect(
    within(chart)
      .getAllByRole('row')
      .map((row) => [...row.children].map(textOf)),
  ).toEqual([
    ['Day', 'Shared', 'Blocked'],
    ['27 Nov 2026', '2', '3'],
    ['26 Nov 2026', '0', '2'],
  ]);
  expect(chart.querySelectorAll('.bars .refused')).toHaveLength(2);
});

test('apps of the same name are told apart, in the lines and in the filter', async () => {
  await using page = await openHistory([dayOf(), dayOf({ app: alike })]);
  const names = [...document.querySelectorAll('summary strong')].map(textOf);
  expect(names).toEqual(['Morning Run (app.example)', `Morning Run (${alike.clientId})`]);
  const options = within(screen.getByLabelText('App')).getAllByRole('option').map(textOf);
  expect(options).toEqual(['All apps', ...names]);
  await page.fill('App', names[1] ?? '');
  expect(lastQuery(page, 'summarizeAccesses')).toMatchObject({ clientId: alike.clientId });
});

test('what operators did about the person, and their downloads, are shown', async () => {
  const acts = [
    { id: 'act_1', at: after(0), act: 'grant_ended', clientId: app.clientId, appName: app.name },
    { id: 'act_2', at: after(-1), act: 'sessions_ended', clientId: null, appName: null },
    { id: 'act_3', at: after(-2), act: 'own_data_downloaded', clientId: null, appName: null },
  ];
  await using page = await openHistory([dayOf()], { listOperatorActs: listOf(...acts) });
  const shown = within(screen.getByRole('region', { name: 'By you and by the operators of this service' }));
  expect(shown.getAllByRole('listitem').map(textOf)).toEqual([
    'Stopped sharing with Morning Run27 Nov 2026, 12:00',
    'Signed you out everywhere27 Nov 2026, 11:59',
    'You started a download of all of your data27 Nov 2026, 11:58',
  ]);
  expect(page.alerts).toEqual([]);
});

test('older days are shown on request, and the day of the latest read if there was none lately', async () => {
  const replies = inTurn(listOf(), listOf(dayOf({ date: '2026-09-01' })), listOf());
  const listAccesses = listOf(accessOf({ at: new Date(2026, 8, 1, 9).toISOString() }));
  await using page = await openHistory([], { summarizeAccesses: replies, listAccesses });
  page.see('No reads in these 30 days');
  page.see('The latest read was on 1 Sept 2026.');
  await page.press('Show that day');
  expect(lines()).toHaveLength(1);
  expect(lastQuery(page, 'summarizeAccesses')).toMatchObject({ from: '2026-09-01', to: '2026-09-01' });
  await page.press('Show the day before');
  expect(lastQuery(page, 'summarizeAccesses')).toMatchObject({ from: '2026-08-31', to: '2026-08-31' });
  page.see('No reads on this day');
  expect(document.activeElement?.tagName).toBe('H1');
});

test.each([
  ['From', '2026-11-30', { from: '2026-11-30', to: '2026-11-30' }],
  ['To', '2026-01-01', { from: '2025-12-03', to: '2026-01-01' }],
])(
  '%s %s asks for days that the service accepts, also before UTC has reached them',
  async (label, day, query) => {
    await using page = await openHistory();
    await page.fill(label, day);
    expect(lastQuery(page, 'summarizeAccesses')).toMatchObject(query);
  },
);

test('days that cannot be loaded are explained by the label of the field, and the filters stay', async () => {
  const errors = [{ parameter: 'from', message: 'is too early' }];
  const answers = { summarizeAccesses: problem('INVALID_REQUEST', { errors }) };
  await using page = await openPage('/history', { language: 'de', answers });
  page.see('Von wird nicht angenommen (auf Englisch: is too early)', screen.getByRole('alert'));
  screen.getByLabelText('Datenart');
});

test('the page shows 30 days, or 7 or 90, and a bar opens its day', async () => {
  await using page = await openHistory();
  await page.press('7 days', 'radio');
  expect(lastQuery(page, 'summarizeAccesses')).toMatchObject({ from: '2026-11-21', to: '2026-11-27' });
  await page.press('90 days', 'radio');
  expect(lastQuery(page, 'summarizeAccesses')).toMatchObject({ from: '2026-08-30', to: '2026-11-27' });
  page.see('Today', screen.getByRole('figure'));
  await page.press(screen.getByRole('figure').querySelector('.released') as Element);
  expect(lastQuery(page, 'summarizeAccesses')).toMatchObject({ from: '2026-11-27', to: '2026-11-27' });
  expect(screen.queryByRole('radio', { checked: true })).toBeNull();
});
