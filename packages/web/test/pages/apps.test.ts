import { expect, test } from '@jest/globals';
import { type Answers, example, listOf, problem } from '../kit/answers.ts';
import { answersOf, type GrantChanges, grantOf, recordedGrant } from '../kit/grants.ts';
import { openPage, screen, textOf, within } from '../kit/page.ts';
import { after, afterDays, NOW } from '../kit/times.ts';

const PAGE = `/apps/${recordedGrant.id}`;
const HEART = 'read:health-data:heart';
const TWIN = 'app_RbhTQ90y4LF4kleyVgd427';
const stopped = {
  status: 'revoked',
  revokedAt: afterDays(-1),
  endedBy: 'person',
  revokedBy: 'person',
} as const;
const read = { accessCount: 3, lastAccessAt: afterDays(-2) };
const NOW_CALLED = 'Diabetes Diary (now: Data Broker)';
const renamed = {
  app: {
    name: 'Diabetes Diary',
    currentName: 'Data Broker',
    privacyPolicyUrl: 'https://diary.example/privacy',
  },
  appChanges: [
    { field: 'name', from: 'Diabetes Diary', to: 'Data Broker', at: afterDays(-3) },
    { field: 'privacyPolicyUrl', from: 'https://diary.example/privacy', to: null, at: afterDays(-2) },
    { field: 'description', from: null, to: 'We sell.', at: afterDays(-1) },
    { field: 'developerName', from: 'Ada', to: 'Grace', at: afterDays(-1) },
  ] as const,
};
const rowsOf = (title: string) =>
  within(screen.getByRole('region', { name: title }))
    .getAllByRole('listitem')
    .map(textOf);
const openApp = (changes: GrantChanges = {}, answers: Answers = {}) =>
  openPage(PAGE, { answers: { ...answersOf(grantOf(changes)), ...answers } });

test.each(['/apps?from=link', '/apps/grt_1', '/history', '/data', '/console'])(
  'a signed-out person is asked to sign in at %s, and nothing is loaded',
  async (path) => {
    await using page = await openPage(path, { isSignedIn: false });
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Please sign in');
    const link = screen.getAllByRole('link', { name: 'Sign in' }).at(-1);
    expect(link?.getAttribute('href')).toBe(`/sign-in?return_to=${encodeURIComponent(path)}`);
    expect(page.requests.map(({ operation }) => operation)).toEqual(['getSession']);
  },
);

test.each([
  ['/', 'No app can read your health data', 'See what an app would get'],
  ['/history', 'No reads yet', 'Export as CSV'],
])('a person who shares with nobody is told so at %s', async (path, title, link) => {
  await using page = await openPage(path, { answers: { ...answersOf(), summarizeAccesses: listOf() } });
  screen.getByRole('heading', { name: title });
  screen.getByRole('link', { name: link });
  expect(page.find('Ended')).toBeNull();
});

test.each([
  ['/', 'getSession', '1 app can read your health data'],
  ['/history', 'getSession', 'Access history'],
  ['/apps', 'listGrants', '1 app can read your health data'],
  [PAGE, 'getGrant', 'Morning Run'],
  ['/approve/apr_1', 'getPendingApproval', 'Morning Run wants to read your health data'],
  ['/console/app_1', 'getApp', 'Morning Run'],
] as const)(
  '%s that cannot be loaded explains why under a heading, and can retry',
  async (path, operation, title) => {
    await using page = await openPage(path, { answers: { [operation]: problem('RATE_LIMITED') } });
    const heading = () => screen.getByRole('heading', { level: 1 }).textContent;
    expect(heading()).toBe('This page did not load');
    expect(page.alerts).toEqual(['That was too often. Wait a minute, then try again.']);
    expect(await page.findBarriers()).toEqual([]);
    delete page.answers[operation];
    await page.press('Try again');
    expect([page.alerts, heading()]).toEqual([[], title]);
  },
);

test('the apps are shown once it is known whether requests wait, so that nothing moves them', async () => {
  const [asked] = example('listPendingApprovals').data;
  if (asked === undefined) throw new Error('No request is recorded.');
  const [scope] = asked.requestedScopes;
  const weight = { ...scope, scope: 'read:weight', sensitive: false };
  const waiting = { ...asked, expiresAt: after(9), requestedScopes: [scope, weight] } as typeof asked;
  const grant = grantOf({ app: { name: 'Diary' } });
  await using page = await openPage('/history', { answers: answersOf(grant) });
  page.answers.listPendingApprovals = listOf(waiting, { ...waiting, id: 'apr_older' });
  const release = page.hold('listPendingApprovals');
  await page.press('Your health data', 'link');
  expect(page.find('Diary')).toBeNull();
  await release();
  const section = screen.getByRole('region', { name: 'Waiting for your decision' });
  expect(within(section).getAllByRole('listitem').map(textOf)).toEqual([
    'Morning Run app.exampleAsks for 2 types of data, 1 very personal. Waits until 12:09.Review',
  ]);
  screen.getByRole('region', { name: 'Also connected' });
  await page.press('Deutsch');
  page.see('Fragt nach 2 Datenarten, davon 1 sehr persönliche. Wartet bis 12:09 Uhr.');
  page.answers.listPendingApprovals = listOf({
    ...waiting,
    expiresAt: after(12),
    requestedScopes: [scope] as never,
  });
  await page.pass(9 * 60_000);
  page.see('Fragt nach 1 sehr persönlichen Datenart. Wartet bis 12:12 Uhr.');
  await page.press('Morning Run ansehen', 'link');
  expect(page.path).toBe(`/approve/${asked.id}`);
});

test('requests that cannot be loaded are not said to be none, and the apps are shown', async () => {
  const failing = { listPendingApprovals: problem('RATE_LIMITED') };
  await using page = await openPage('/apps', { answers: { ...answersOf(grantOf()), ...failing } });
  page.see('This could not be loaded.', screen.getByRole('region', { name: 'Waiting for your decision' }));
  page.see('None has read anything yet. See every read');
  expect(rowsOf('Also connected')).toHaveLength(1);
});

test('a connection that is not the person’s is missing, with a way on', async () => {
  await using page = await openApp({}, { getGrant: problem('NOT_FOUND') });
  screen.getByRole('heading', { level: 1, name: 'There is no such connection' });
  await page.press(within(screen.getByRole('main')).getByRole('link', { name: 'Connected apps' }));
  expect(page.path).toBe('/apps');
});

test('apps of the same name are told apart, and each row says what the app reads and until when', async () => {
  const grants = [
    grantOf(read),
    grantOf({ id: 'grt_3', app: { clientId: TWIN }, scopes: recordedGrant.scopes }),
    grantOf({ id: 'grt_2', ...stopped, ...read, lastAccessAt: afterDays(-1), app: { name: 'Diary' } }),
    grantOf({ id: 'grt_4', status: 'expired', expiresAt: afterDays(-1), app: { name: 'Sleeper' } }),
  ];
  await using page = await openPage('/apps', { answers: answersOf(...grants) });
  expect(rowsOf('Connected apps')).toEqual([
    `MMorning Run app.example · ${recordedGrant.app.clientId}Heart and Mood, until 5 Feb 2027 · last read 25 Nov 2026`,
    `MMorning Run app.example · ${TWIN}9 very personal and 6 other types, until 5 Feb 2027 · hasn't read anything yet`,
  ]);
  const links = within(screen.getByRole('region', { name: 'Connected apps' })).getAllByRole('link');
  for (const link of links)
    expect(document.getElementById(link.getAttribute('aria-describedby') ?? '')?.textContent).toMatch(/app_/);
  page.see('Last read: Diary (ended), on 26 Nov 2026 at 12:00. See every read');
  await page.press(screen.getByText('Ended: 2 connections'));
  page.see('Stopped · 7 Nov 2026 – 26 Nov 2026');
  page.see('Expired · 7 Nov 2026 – 26 Nov 2026');
  expect(await page.findBarriers()).toEqual([]);
});

test('a suspended app is not said to be able to read, and what it was allowed stays in sight', async () => {
  const suspended = { app: { name: 'Diary', suspended: true }, scopes: [HEART] } as const;
  const sleeping = grantOf({ id: 'grt_2', ...suspended, expiresAt: afterDays(1) });
  await using page = await openPage('/apps', { answers: answersOf(grantOf(suspended), sleeping) });
  screen.getByRole('heading', { name: 'No app can read your health data' });
  expect(rowsOf('Look at these')[0]).toContain("Suspended, can't read now · Ends tomorrow");
  expect(rowsOf('Also connected')[0]).toContain("Suspended, can't read now · Heart, until 5 Feb 2027");
  expect(page.find(/By type of data|When an app asks/)).toBeNull();
  const rows = within(screen.getByRole('region', { name: 'Also connected' }));
  await page.press(rows.getByRole('link', { name: 'Diary' }));
  page.see(/^Can't read anything now, because the app is suspended\. Your sharing of 1 type of data lasts/);
});

test('for each type of data there are the apps that can read it, also through summaries', async () => {
  const trends = grantOf({ id: 'grt_2', app: { name: 'Diary' }, scopes: ['read:trends'] });
  await using page = await openPage('/apps', { answers: answersOf(grantOf({ scopes: [HEART] }), trends) });
  await page.press(screen.getByText('By type of data: who can read what'));
  page.see('HeartMorning Run Diary (through Trends of all health data)');
  expect(page.find('Medications')).toBeNull();
});

test('changed apps, near ends and unused apps are on top in this order, and pointed out on their pages', async () => {
  const quiet = { grantedAt: afterDays(-40), app: { name: 'Quiet' } };
  const ending = { expiresAt: new Date(NOW + 5.2 * 86_400_000).toISOString(), app: { name: 'Ending' } };
  const grants = [grantOf(quiet), grantOf({ ...ending, ...read }), grantOf(renamed), grantOf(read)];
  const answers = answersOf(...grants.map((grant, index) => ({ ...grant, id: `grt_${index}` })));
  await using page = await openPage('/apps', { answers });
  expect(rowsOf('Look at these')).toEqual([
    `D${NOW_CALLED} app.exampleHas changed its name, the link to its privacy policy, its description and the name of its developer since you agreed · hasn't read anything yet`,
    'EEnding app.exampleEnds in 5 days · last read 25 Nov 2026',
    "QQuiet app.exampleHasn't read anything since you agreed on 18 Oct 2026; you can stop sharing",
  ]);
  expect(rowsOf('Also connected')).toHaveLength(1);
  page.answers.getGrant = { data: grantOf({ ...quiet, ...ending }) };
  await page.press('Ending', 'link');
  page.see('until 2 Dec 2026.');
  page.see('To share longer, start in Ending.');
  page.see("Hasn't read anything since you agreed on 18 Oct 2026; you can stop sharing.");
});

test('the page of an app says what is shared, and unfolds its purpose, domain and links', async () => {
  const app = {
    developerName: 'Run Labs GmbH',
    homepageUrl: 'https://run.example/',
    privacyPolicyUrl: 'https://run.example/privacy',
  };
  const grant = { app, purpose: 'Your heart rate shows how hard you train.', dataFrom: '2026-01-01' };
  await using page = await openApp({ ...grant, ...read });
  page.see('Can read 2 types of data until 5 Feb 2027. Read 3 times, last on 25 Nov 2026 at 12:00.');
  page.see('You agreed on 7 Nov 2026. Data: from 1 Jan 2026.');
  expect([page.find('you can stop sharing'), page.find('To share longer')]).toEqual([null, null]);
  await page.press(screen.getByText('About Morning Run'));
  for (const text of ['app.example', 'Run Labs GmbH', 'Shows your heart rate', grant.purpose]) page.see(text);
  for (const [name, url] of [
    ['Website', app.homepageUrl],
    ['Privacy policy', app.privacyPolicyUrl],
  ] as const)
    expect(screen.getByRole('link', { name }).getAttribute('href')).toBe(url);
  await page.press(screen.getByText('See what Morning Run sees'));
  await page.press('Preview Mood');
  const { query } = page.requests.at(-1) ?? {};
  expect(query).toEqual({ scope: 'read:mood', dataFrom: '2026-01-01' });
});

test('each type of data has its last read in one of two groups, and each day its reads', async () => {
  const day = {
    ...{
      date: '2026-11-26',
      app: { clientId: recordedGrant.app.clientId, name: 'Morning Run' },
      released: 2,
      refused: 0,
      attempts: 0,
    },
    scopes: [{ scope: `${HEART} read:weight`, released: 2, refused: 0 }],
  } as const;
  await using page = await openApp(
    { ...read, scopes: [HEART, 'read:weight', 'read:mood'] },
    { summarizeAccesses: listOf(day) },
  );
  expect(rowsOf('Very personal')).toEqual(['Moodnot read yet']);
  expect(rowsOf('Other types of data')).toEqual([
    'Heartlast read 26 Nov 2026',
    'Weight by daylast read 26 Nov 2026',
  ]);
  await page.press(screen.getByText('26 Nov 2026', { selector: 'strong' }));
  const { query } = page.requests.findLast(({ operation }) => operation === 'listAccesses') ?? {};
  expect(query).toMatchObject({ grantId: recordedGrant.id, from: new Date(2026, 10, 26).toISOString() });
  page.answers.getGrant = { data: grantOf({ ...read, scopes: recordedGrant.scopes }) };
  await page.comeBack();
  expect(rowsOf('Very personal')).toHaveLength(2);
  await page.press('11 more types');
  expect(rowsOf('Very personal')).toHaveLength(9);
  const rows = within(screen.getByRole('region', { name: 'Very personal' })).getAllByRole('listitem');
  expect(document.activeElement).toBe(rows[2]);
});

test('in German, sharing without a first day has no bound, rather than all of the data', async () => {
  const ending = {
    scopes: [HEART],
    expiresAt: afterDays(1),
    accessCount: 1,
    lastAccessAt: after(-1),
  } as const;
  await using page = await openPage(PAGE, { language: 'de', answers: answersOf(grantOf(ending)) });
  page.see('Zeitraum: unbegrenzt.');
  page.see('Kann 1 Datenart lesen, bis morgen, 28. Nov. 2026. 1 Zugriff, heute um 11:59 Uhr.');
  screen.getByRole('region', { name: 'Datenarten' });
});

test('all sharing stops with one confirmation, which is offered for more than one app', async () => {
  await using page = await openPage('/apps', {
    answers: answersOf(grantOf(), grantOf({ id: 'grt_2', app: { clientId: TWIN } })),
  });
  page.answers.revokeAllGrants = () => {
    Object.assign(page.answers, answersOf());
    return { data: { revoked: 2 } };
  };
  await page.confirm('Stop sharing with all', 'Stop sharing with all');
  page.see('No app can read your health data');
  expect([page.changes, screen.queryByRole('button', { name: 'Stop sharing with all' })]).toEqual([
    [['revokeAllGrants', null]],
    null,
  ]);
});

test.each([
  ['Earliest data shared', '2026-11-30', 'This day is in the future. Choose today or an earlier day.'],
  ['Last day of sharing', '2026-11-26', 'This day is over. Choose today or a later day.'],
])('%s %s is refused at its field, and nothing is sent', async (label, day, text) => {
  await using page = await openApp();
  await page.press('Change');
  await page.fill(label, day);
  await page.press('Save changes');
  page.see(text);
  expect(await page.findBarriers()).toEqual([]);
  expect(document.activeElement).toBe(screen.getByLabelText(label));
  expect(document.activeElement?.getAttribute('aria-invalid')).toBe('true');
  expect(page.changes).toEqual([]);
});

test('neither Enter in a field, nor nothing, nor everything unticked changes what is shared', async () => {
  await using page = await openApp();
  await page.press('Change');
  await page.press('Save changes');
  page.see('Nothing has changed yet. Untick something or choose a day.');
  await page.fill('Earliest data shared', '2026-01-01');
  await page.keys('{Enter}');
  for (const scope of ['Heart', 'Mood']) await page.press(scope, 'checkbox');
  await page.press('Save changes');
  page.see('To stop sharing everything, select “Stop sharing” above.');
  expect(page.changes).toEqual([]);
});

test('a type that summaries still cover is said to be so, before and after it is withdrawn, with a way to stop those too', async () => {
  const kept = ['read:health-data:body-composition', 'read:trends'] as const;
  const scopes = [HEART, kept[0], 'read:weight', 'read:mood', kept[1]] as const;
  await using page = await openApp({ scopes });
  await page.press('Change');
  expect(
    ['Very personal', 'Other types of data'].map(
      (name) => within(screen.getByRole('group', { name })).getAllByRole('checkbox').length,
    ),
  ).toEqual([2, 3]);
  for (const title of ['Mood', 'Heart', 'Weight by day']) await page.press(title, 'checkbox');
  await page.fill('Last day of sharing', '2026-12-24');
  const form = screen.getByRole('main');
  const goesOn =
    'Morning Run still gets heart and weight by day through Body measurements and Trends of all health data.';
  page.see(goesOn, form);
  page.answers.getGrant = { data: grantOf({ scopes: kept }) };
  await page.press('Save changes');
  page.see('Saved. Morning Run can no longer read Mood.', form);
  page.see('Morning Run can no longer read your heart one by one.', form);
  page.see(goesOn, form);
  expect(screen.getByLabelText<HTMLInputElement>('Last day of sharing').value).toBe('');
  page.answers.getGrant = { data: grantOf({ scopes: [...kept, 'read:mood'] }) };
  await page.comeBack();
  await page.press('Stop those too');
  expect(page.changes).toEqual([
    ['narrowGrant', { scopes: kept, expiresAt: new Date(2026, 11, 25).toISOString() }],
    ['narrowGrant', { scopes: ['read:mood'] }],
  ]);
});

const { clientId } = recordedGrant.app;

test.each([
  [
    'https://help.clinic.test/contact?topic=apps',
    `https://help.clinic.test/contact?topic=apps&app=${clientId}`,
  ],
  ['mailto:help@clinic.test', `mailto:help@clinic.test?subject=${clientId}`],
])(
  'support of the deployment at %s is told which app a person has a question about',
  async (supportUrl, href) => {
    await using _ = await openPage(PAGE, { answers: answersOf(grantOf()), deployment: { supportUrl } });
    expect(screen.getByRole('link', { name: 'Report this app or get help' }).getAttribute('href')).toBe(href);
  },
);

test('an app whose access has stopped is asked to delete what it has read, once', async () => {
  await using page = await openApp({ ...read, ...stopped }, { requestDeletion: problem('RATE_LIMITED') });
  page.see('It may keep what it already read; ask Morning Run to delete it.');
  await page.press('Ask Morning Run to delete my data');
  page.see('Your request was not sent.', screen.getByRole('alert'));
  const asked = grantOf({ ...read, ...stopped, deletionRequestedAt: afterDays(0) });
  Object.assign(page.answers, { ...answersOf(asked), requestDeletion: undefined });
  await page.press('Ask Morning Run to delete my data');
  page.see('You asked Morning Run on 27 Nov 2026 to delete your data.');
  expect([page.alerts, screen.queryByRole('button', { name: /delete/ })]).toEqual([[], null]);
  expect(document.activeElement).toBe(screen.getByRole('heading', { level: 1 }));
});

test('an app that has read nothing is not asked to delete anything', async () => {
  await using page = await openApp(stopped);
  expect(screen.getAllByText('It read none of your data.')).toHaveLength(1);
  page.see('Moodnot read');
  expect([page.find("Hasn't read anything yet"), screen.queryByRole('button', { name: /delete/ })]).toEqual([
    null,
    null,
  ]);
});

test.each([
  ['developer', 'because the app was shut down'],
  ['app', 'by the app'],
  ['operator', 'by the operators of this service'],
  ['person', 'by you'],
])('sharing that ended by the %s says so', async (endedBy, words) => {
  await using page = await openApp({ ...stopped, endedBy: endedBy as 'app' });
  page.see(`Stopped on 26 Nov 2026, 12:00, ${words}.`);
});

test('a changed field that this version of the pages does not know has its own name', async () => {
  const change = { field: 'logoUrl', from: null, to: 'https://diary.example/logo', at: afterDays(-1) };
  const grant = grantOf({ app: { name: 'Diary' }, appChanges: [change] });
  await using page = await openPage('/apps', { answers: answersOf(grant) });
  page.see('Has changed logoUrl since you agreed');
  await page.press('Diary', 'link');
  page.see('On 26 Nov 2026 it added logoUrl: https://diary.example/logo');
});

test('an app that changed its name and links has both names, with each change and its day', async () => {
  await using page = await openPage('/apps', { answers: answersOf(grantOf(renamed)) });
  await page.press(NOW_CALLED, 'link');
  screen.getByRole('heading', { level: 1, name: NOW_CALLED });
  expect(
    screen
      .getAllByRole('listitem')
      .map(textOf)
      .filter((text) => text.startsWith('On ')),
  ).toEqual([
    'On 24 Nov 2026 it changed its name from “Diabetes Diary” to “Data Broker”.',
    'On 25 Nov 2026 it removed a link to its privacy policy: https://diary.example/privacy',
    'On 26 Nov 2026 it added a description: “We sell.”',
    'On 26 Nov 2026 it changed the name of its developer from “Ada” to “Grace”.',
  ]);
  await page.press(screen.getByText(`About ${NOW_CALLED}`));
  const policy = screen.getByRole('link', { name: 'Privacy policy when you agreed' });
  expect(policy.getAttribute('href')).toBe('https://diary.example/privacy');
});
