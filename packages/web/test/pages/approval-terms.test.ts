import { expect, test } from '@jest/globals';
import { SCOPE_NAMES, type Scope } from '@phds/catalog/scopes';
import { LOST, listOf, problem } from '../kit/answers.ts';
import { type Approval, approvalOf, connectionOf, openApproval } from '../kit/approval-screen.ts';
import { Page, screen, textOf } from '../kit/page.ts';
import { after } from '../kit/times.ts';

const HEART = 'read:health-data:heart';
const SLEEP = 'read:health-data:sleep';
const MOOD = 'read:mood';
const WEIGHT = 'read:weight';
const MINUTE_MS = 60_000;

const open = (scopes: readonly Scope[], members: Partial<Approval> = {}) =>
  openApproval(approvalOf(scopes, members));

test('Enter in any field sends nothing', async () => {
  await using opened = await open([HEART, MOOD]);
  const { page, approvals } = opened;
  await approvals.choose('Heart', 'Other');
  await approvals.chooseFirstDay('2026-01-01');
  const fields = [...screen.getAllByRole('checkbox'), ...screen.getAllByRole('radio'), approvals.firstDay];
  for (const field of [...fields, approvals.summary]) {
    await page.focus(field);
    await page.keys('{Enter}');
  }
  expect(page.changes).toEqual([]);
});

test('a double click decides once', async () => {
  await using opened = await open([HEART]);
  const { page, approvals } = opened;
  await approvals.choose('Heart');
  const answer = page.hold('approve');
  await page.user.dblClick(approvals.share);
  await answer();
  expect(page.changes.map(([operation]) => operation)).toEqual(['approve']);
  expect(page.leavings).toEqual([
    { how: 'assign', url: expect.stringMatching(/^https:\/\/app\.example\/callback\?code=/) },
  ]);
});

const FULL = 'Profile: no dates, so Morning Run can read all of it.';

test.each<[string, readonly string[], string]>([
  ['nothing', [], 'Nothing is selected, so Morning Run gets nothing.'],
  [
    'a scope with the usual terms',
    ['Heart'],
    'Morning Run can read your heart, including new data, until 25 Feb 2027, going back to 28 Oct 2026.',
  ],
  [
    'everything of two scopes',
    ['Heart', 'Sleep', 'Everything'],
    'Morning Run can read your heart and sleep, including new data, until 25 Feb 2027, going back to your first record.',
  ],
  [
    'a summary and data without dates',
    ['Heart', 'Sleep', 'Trends of all', 'Profile', 'From today', '30 days'],
    `Morning Run can read your heart, sleep, trends of all health data and profile, including new data, until 27 Dec 2026, starting with today, 27 Nov 2026. Trends of all health data: this covers everything you measure, including types you have not selected: latest, lowest, highest and average values of each hour or day. With one reading in an hour, that is the reading. ${FULL}`,
  ],
  [
    'a single day, to the minute',
    ['Heart', '1 day', 'Everything'],
    'Morning Run can read your heart, including new data, until 28 Nov 2026, 12:00, going back to your first record.',
  ],
  ['a date that is not chosen yet', ['Heart', 'Choose a date'], 'Choose the first day that the app can see.'],
])('the sentence says all of a choice: %s', async (_, choices, sentence) => {
  await using opened = await open([HEART, SLEEP, 'read:trends', 'read:profile']);
  const { approvals } = opened;
  await approvals.choose(...choices);
  expect([...approvals.summary.querySelectorAll('p')].map(textOf).join(' ')).toBe(sentence);
  const count = choices.filter((choice) => /^(Heart|Sleep|Trends|Profile)/.test(choice)).length;
  const order = screen.getByRole('region', { name: 'In short' }).querySelectorAll('[role=status], button');
  const share = count === 0 ? 'Share' : `Share ${count} type${count === 1 ? '' : 's'} of data`;
  expect([...order].slice(1).map(textOf)).toEqual(["Don't share", share]);
  opened.page.see("If you don't share, Morning Run gets no data and learns only that you declined.");
  expect(order[0]).toBe(approvals.summary);
  expect(approvals.share.getAttribute('aria-disabled')).toBe(count === 0 ? 'true' : null);
});

test('the head of the page says until when the app could read, by the present choice', async () => {
  await using opened = await open([HEART]);
  const { page, approvals } = opened;
  page.see('Until 25 Feb 2027. Stop any time; access ends immediately.');
  await approvals.choose('30 days');
  page.see('Until 27 Dec 2026.');
  await approvals.choose('1 day');
  page.see('Until 28 Nov 2026, 12:00.');
  page.see('Stops automatically on 28 Nov 2026, 12:00;');
});

test('many types of data are counted in the sentence, and named after it in groups', async () => {
  await using opened = await open(SCOPE_NAMES, { connection: connectionOf(SCOPE_NAMES) });
  const [sentence, personal, others] = [...opened.approvals.summary.children].map(textOf);
  expect(sentence).toMatch(/^Morning Run can read 22 types of data, including new data, until /);
  expect(personal).toMatch(/^Very personal: Summary of all health data, .+ and Records from .+\.$/);
  expect(others).toMatch(/^Other types of data: Heart, .+ and Profile\.$/);
});

test('the button first brings the sentence onto the screen', async () => {
  await using opened = await open([HEART]);
  const { page, approvals } = opened;
  await approvals.choose('Heart');
  const { summary } = approvals;
  summary.getBoundingClientRect = () => new DOMRect(0, 2_000, 300, 100);
  await page.press(approvals.share);
  expect([document.activeElement === summary, page.changes]).toEqual([true, []]);
  await page.press(approvals.share);
  expect(page.changes).toHaveLength(1);
});

test('a future first day is refused at once, and a missing one does not mean everything', async () => {
  await using opened = await open([HEART]);
  const { page, approvals } = opened;
  await approvals.choose('Heart');
  await approvals.chooseFirstDay('2026-11-30');
  page.see('This day is in the future. Choose today or an earlier day.', approvals.summary);
  await page.press(approvals.share);
  expect([document.activeElement === approvals.firstDay, await page.findBarriers()]).toEqual([true, []]);
  await page.fill('First day that the app can see', '');
  expect(approvals.firstDay.getAttribute('aria-invalid')).toBeNull();
  await page.press(approvals.share);
  expect(document.activeElement).toBe(approvals.firstDay);
  expect([approvals.firstDay.getAttribute('aria-invalid'), page.changes]).toEqual(['true', []]);
  await page.fill('First day that the app can see', '2026-01-01');
  await page.press(approvals.share);
  expect(page.changes).toEqual([['approve', expect.objectContaining({ dataFrom: '2026-01-01' })]]);
});

test('of a connection, a first day that is missing or in the future is not said to change nothing', async () => {
  await using opened = await open([HEART], { connection: connectionOf([HEART]) });
  const { approvals } = opened;
  await approvals.choose('Choose a date');
  for (const day of ['', '2026-11-30']) {
    await opened.page.fill('First day that the app can see', day);
    expect([approvals.changes, textOf(approvals.share)]).toEqual([[], 'Agree to these changes']);
  }
  expect(await opened.page.findBarriers()).toEqual([]);
});

test('a first day that the service refuses is explained at its field', async () => {
  await using opened = await open([HEART]);
  const { page, approvals } = opened;
  const errors = [{ parameter: 'dataFrom', message: 'must not be in the future' }];
  page.answers.approve = problem('INVALID_REQUEST', { errors });
  await approvals.choose('Heart');
  await approvals.chooseFirstDay('2026-11-27');
  await page.press(approvals.share);
  page.see('This day is not possible. Choose today or an earlier day.');
  expect(approvals.firstDay.getAttribute('aria-invalid')).toBe('true');
});

test('data that a first day does not limit is named', async () => {
  await using opened = await open([HEART, 'read:medications', 'read:profile']);
  const { page, approvals } = opened;
  const fact =
    'Medications and Profile: no dates, so Morning Run can read all of it, whatever you choose here.';
  page.see(fact);
  await approvals.choose('Everything');
  expect(page.find(fact)).toBeNull();
});

test('an approval keeps a longer end and a later first day, and shares only what was added', async () => {
  const connection = connectionOf([HEART, MOOD], { days: 365, dataFrom: '2026-01-01' });
  await using opened = await open([HEART, WEIGHT], { connection });
  const { page, approvals } = opened;
  expect(approvals.limits).toEqual(['As now, until 27 Nov 2027', 'As now, from 1 Jan 2026']);
  expect(approvals.chosen).toEqual(['HeartShared already']);
  page.see('Until 27 Nov 2027.');
  page.see('Untick to stop sharing.');
  page.see('2 types of data. Only what you share already is selected.');
  expect([approvals.changes[0], textOf(approvals.share)]).toEqual(['Everything stays as it is.', 'Agree']);
  screen.getByRole('heading', { level: 1, name: 'Morning Run wants to read more' });
  await approvals.choose('Weight by day');
  page.see('2 of 2 selected');
  expect([...approvals.changes, textOf(approvals.share)]).toEqual([
    'New: Weight by day.',
    'Morning Run can already read Mood. That continues. Change or stop this',
    'Agree to these changes',
  ]);
  expect(textOf(approvals.summary.children[0] as Element)).toBe(
    'Morning Run can read your heart, weight by day and mood, including new data, until 27 Nov 2027, going back to 1 Jan 2026.',
  );
  await page.press(approvals.share);
  const scopes = [HEART, WEIGHT];
  const sent = { scopes, keepExpiry: true, dataFrom: '2026-01-01', language: 'en', revision: 'r1' };
  expect(page.changes).toEqual([['approve', sent]]);
});

test('an approval keeps a shorter end, at midnight after the last day, and an unlimited look-back', async () => {
  await using opened = await open([SLEEP], { connection: connectionOf([HEART], { days: 1.5 }) });
  const { page, approvals } = opened;
  expect(approvals.limits).toEqual(['As now, until 28 Nov 2026', 'As now, everything']);
  await approvals.choose('Sleep');
  page.see('going back to your first record', approvals.summary);
  await page.press(approvals.share);
  expect(page.changes).toEqual([['approve', expect.objectContaining({ keepExpiry: true, dataFrom: null })]]);
});

test('the old end and first day are shown beside the new ones, also for what was not asked for', async () => {
  const connection = connectionOf([HEART, MOOD], { days: 365, dataFrom: '2026-01-01' });
  await using opened = await open([HEART, WEIGHT], { connection });
  const { page, approvals } = opened;
  await approvals.choose('Heart', 'Weight by day', '30 days', 'Everything');
  expect(approvals.changes).toEqual([
    'New: Weight by day.',
    'Heart will stop.',
    'End: 27 Nov 2027 → 27 Dec 2026.',
    'How far back: from 1 Jan 2026 → everything.',
    'Morning Run can already read Mood. That continues. Your new end date and look-back apply to these too. Change or stop this',
  ]);
  expect(textOf(approvals.summary.children[0] as Element)).toBe(
    'Morning Run can read your weight by day and mood, including new data, until 27 Dec 2026, going back to your first record.',
  );
  expect(await page.findBarriers()).toEqual([]);
  await page.press(approvals.share);
  const sent = { scopes: [WEIGHT], expiresInDays: 30, dataFrom: null };
  expect(page.changes).toEqual([['approve', expect.objectContaining(sent)]]);
});

test('a type that summaries still cover is not said to stop, and those can be stopped too', async () => {
  const scopes = [HEART, SLEEP, MOOD, 'read:trends'] as const;
  await using opened = await open(scopes, { connection: connectionOf(scopes) });
  const { page, approvals } = opened;
  await approvals.choose('Sleep', 'Mood');
  const stays = [
    'Morning Run can no longer read your sleep one by one.',
    'Morning Run still gets sleep through Trends of all health data.',
  ];
  expect(approvals.changes).toEqual(['Mood will stop.', ...stays]);
  for (const sentence of stays) page.see(sentence, approvals.summary);
  await page.press('Stop those too');
  expect([approvals.chosen, page.find('still gets')]).toEqual([['HeartShared already'], null]);
});

test.each<[string, string, string, string]>([
  [
    'en',
    'Change nothing',
    'If you change nothing, Morning Run keeps reading heart and mood until 25 Feb 2027.',
    'Morning Run keeps reading heart and mood until 25 Feb 2027.',
  ],
  [
    'de',
    'Nichts ändern',
    'Wenn Sie nichts ändern, liest Morning Run weiter Herz und Stimmung, bis 25. Feb. 2027.',
    'Morning Run liest weiter Herz und Stimmung, bis 25. Feb. 2027.',
  ],
])(
  'in %s, declining what would change a connection is called “%s”, and the ended request says what goes on',
  async (language, label, before, after) => {
    const connection = connectionOf([HEART, MOOD]);
    const asked = approvalOf([HEART, WEIGHT], { connection });
    await using opened = await openApproval(asked, { language: language as 'de' });
    const { page } = opened;
    page.see(before);
    page.answers.deny = LOST;
    page.answers.getPendingApproval = { data: { ...asked, status: 'denied' } };
    await page.press(label);
    page.see(after);
  },
);

test('with everything unticked nothing is shared, and the page says how to stop what is shared', async () => {
  await using opened = await open([HEART, WEIGHT], { connection: connectionOf([HEART]) });
  const { page, approvals } = opened;
  await approvals.choose('Heart');
  page.see('Nothing is selected.', approvals.summary);
  expect(screen.getByRole('link', { name: 'stop sharing' }).getAttribute('href')).toBe('/apps/grt_1');
  await page.press(approvals.share);
  await page.keys('{Enter}');
  expect(page.changes).toEqual([]);
});

test('an approval is refused when the sharing was narrowed in another window; the page shows what changed and keeps the choices', async () => {
  await using opened = await open([HEART, WEIGHT], {
    connection: connectionOf([HEART, MOOD], { days: 365 }),
  });
  const { page, approvals } = opened;
  await approvals.choose('Weight by day');
  const connection = connectionOf([MOOD], { days: 365, dataFrom: '2026-02-01' });
  const data = approvalOf([HEART, WEIGHT], { connection, revision: 'r2' });
  Object.assign(page.answers, { approve: problem('CONFLICT'), getPendingApproval: { data } });
  await page.press(approvals.share);
  const [alert = ''] = page.alerts;
  expect(alert).toContain('has changed in the meantime');
  expect(alert).toContain('Your choices are still there.');
  page.see('Now: Mood, until 27 Nov 2027, from 1 Feb 2026.');
  expect([approvals.chosen, await page.findBarriers()]).toEqual([['Weight by day'], []]);
  delete page.answers.approve;
  // Two presses: the first one shows the new terms.
  await page.press(approvals.share);
  expect([document.activeElement === approvals.summary, page.changes]).toEqual([true, [expect.anything()]]);
  await page.press(approvals.share);
  const sent = { scopes: [WEIGHT], dataFrom: '2026-02-01', revision: 'r2' };
  expect(page.changes[1]).toEqual(['approve', expect.objectContaining(sent)]);
});

test('sharing that was changed while the screen is read is not decided by a second press that comes at once', async () => {
  await using opened = await open([HEART], { connection: connectionOf([HEART, MOOD], { days: 365 }) });
  const { page, approvals } = opened;
  const connection = connectionOf([HEART], { days: 365, dataFrom: '2026-02-01' });
  const data = approvalOf([HEART], { connection, revision: 'r2' });
  Object.assign(page.answers, { approve: problem('CONFLICT'), getPendingApproval: { data } });
  // The first press is refused, and the new terms replace the old ones under the finger.
  await page.focus(approvals.share);
  await page.keys('{Enter}');
  page.see('Now: Heart, until');
  await page.keys('{Enter}');
  expect(document.activeElement).toBe(approvals.summary);
  await page.keys('{Enter}');
  expect(page.changes).toHaveLength(1);
});

test('removed scopes stay removed when the sharing is narrowed elsewhere', async () => {
  const asked = [HEART, WEIGHT, 'read:profile'] as const;
  await using opened = await open(asked, { connection: connectionOf([WEIGHT, 'read:profile', MOOD]) });
  const { page, approvals } = opened;
  const connection = connectionOf(['read:profile'], { dataFrom: '2026-02-01' });
  page.answers.getPendingApproval = { data: approvalOf(asked, { connection, revision: 'r2' }) };
  await page.comeBack();
  expect(approvals.limits[1]).toBe('As now, from 1 Feb 2026');
  page.see('has changed since you opened this page');
  await page.press(approvals.share);
  expect(document.activeElement).toBe(approvals.summary);
  await page.press(approvals.share);
  const sent = { scopes: ['read:profile'], dataFrom: '2026-02-01' };
  expect(page.changes).toEqual([['approve', expect.objectContaining(sent)]]);
});

test('a connection that ends while the screen is open is a new one with the usual terms, and the page says so', async () => {
  await using opened = await open([HEART], { connection: connectionOf([HEART], { days: 365 }) });
  const { page, approvals } = opened;
  page.answers.getPendingApproval = { data: approvalOf([HEART]) };
  await page.comeBack();
  page.see('Now: nothing.');
  expect([approvals.limits, approvals.chosen]).toEqual([['90 days', 'Last 30 days'], []]);
});

const TWIN = { clientId: 'app_other', name: 'morning-run', redirectHost: 'run.example', developerName: null };

test.each([
  ['run.example', null, 'The other app belongs to run.example, this one to app.example.'],
  ['app.example', 'Real Run', 'The other app says it is by “Real Run”, this one by “Ada’s Apps”.'],
  ['app.example', 'Ada’s Apps', 'Check in Connected apps what you share with the other one.'],
])(
  'the page warns when another app of the person, of %s and %s, has the same name, and tells the two apart',
  async (redirectHost, developerName, difference) => {
    const twin = { ...TWIN, redirectHost, developerName };
    const request = approvalOf([HEART]);
    const app = { ...request.app, developerName: 'Ada’s Apps' };
    const answers = { listConnectedApps: listOf(twin) };
    await using opened = await openApproval({ ...request, app }, { answers });
    const { page } = opened;
    page.see('You already know another app called morning-run.');
    page.see(difference);
    expect(await page.findBarriers()).toEqual([]);
  },
);

test('the request waits no longer than two seconds for the apps of the same name, and warns of them when they are known', async () => {
  await using page = new Page(`/approve/${approvalOf([]).id}`, {
    answers: { getPendingApproval: { data: approvalOf([HEART]) }, listConnectedApps: listOf(TWIN) },
  });
  const answer = page.hold('listConnectedApps');
  await page.pass(2_000);
  page.see("We couldn't check whether you know another app called Morning Run.");
  await answer();
  page.see('You already know another app called morning-run.');
});

test('the page says when it could not look for apps of the same name', async () => {
  const answers = { listConnectedApps: problem('RATE_LIMITED') };
  await using opened = await openApproval(approvalOf([HEART]), { answers });
  opened.page.see("We couldn't check whether you know another app called Morning Run.");
});

test('a request that runs out warns two minutes before, and the person can get more time', async () => {
  await using opened = await open([HEART], { expiresAt: after(10) });
  const { page, approvals } = opened;
  const warning = 'This request ends in less than two minutes, at 12:10.';
  await approvals.choose('Heart');
  page.see('You have until 12:10 to decide.');
  await page.pass(7.9 * MINUTE_MS);
  expect(page.find(warning)).toBeNull();
  await page.pass(0.2 * MINUTE_MS);
  expect(page.see(warning).closest('[role=status]')).not.toBeNull();
  expect(await page.findBarriers()).toEqual([]);
  await page.pass(1.5 * MINUTE_MS);
  expect(page.alerts).toEqual([expect.stringContaining('This request ends in less than 30 seconds.')]);
  page.answers.extendPendingApproval = { data: { id: approvalOf([]).id, expiresAt: after(20) } };
  await page.press('I need more time');
  const extended = page.see('You now have until 12:20.');
  expect(extended.closest(':focus')).not.toBeNull();
  expect([page.find(warning), textOf(approvals.share)]).toEqual([null, 'Share 1 type of data']);
  await page.keys('{Shift}{ArrowDown}');
  page.see('You now have until 12:20.');
  await page.keys('{Tab}');
  expect(page.find('You now have until')).toBeNull();
  expect(document.activeElement).not.toBe(document.body);
});

test('the page says when there is no more time to get', async () => {
  await using opened = await open([HEART], { expiresAt: after(1) });
  const { page } = opened;
  page.answers.extendPendingApproval = problem('CONFLICT');
  await page.press('I need more time');
  page.see("You can't get more time for this request.");
});

test('an expired request shows by itself that it has expired, even when the service answers slower than the page looks', async () => {
  await using opened = await open([HEART], { expiresAt: after(1) });
  const { page, approvals } = opened;
  await approvals.choose('Heart');
  await page.focus(approvals.share);
  page.answers.getPendingApproval = { data: approvalOf([HEART], { status: 'expired' }) };
  const answer = page.hold('getPendingApproval');
  const before = page.requests.length;
  await page.pass(MINUTE_MS + 12_000);
  page.see('The time for this request is over.');
  expect(page.requests.slice(before).map(({ operation }) => operation)).toEqual(['getPendingApproval']);
  await answer();
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'This request expired' }));
  page.see('Start again in Morning Run.');
  expect([page.changes, await page.findBarriers()]).toEqual([[], []]);
});

test('a request is not taken for expired because of a wrong clock of the browser', async () => {
  await using opened = await openApproval(approvalOf([HEART]), { clockAheadMs: 3 * 60 * MINUTE_MS });
  const { page } = opened;
  page.see('You have until 12:09 to decide.');
  await page.pass(3_000);
  expect(page.find(/This request ends|is over/)).toBeNull();
});

test('a request that is decided too late is refused, and the page shows that it expired', async () => {
  await using opened = await open([HEART]);
  const { page, approvals } = opened;
  await approvals.choose('Heart');
  const data = approvalOf([HEART], { status: 'expired' });
  Object.assign(page.answers, { approve: problem('PENDING_EXPIRED'), getPendingApproval: { data } });
  await page.press(approvals.share);
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('This request expired');
});

test('when the app has removed its redirect URI, approving is refused with what the person can do', async () => {
  await using opened = await open([HEART]);
  const { page, approvals } = opened;
  page.answers.approve = problem('CONFLICT');
  await approvals.choose('Heart');
  await page.press(approvals.share);
  const [alert = ''] = page.alerts;
  expect(alert).toContain('Nothing was shared: Morning Run has changed its settings');
  expect(alert).toContain('Start again in Morning Run.');
  expect(await page.findBarriers()).toEqual([]);
});

test('when the app has removed its redirect URI, denying succeeds, and the page says that the app cannot be informed', async () => {
  const answers = { deny: { data: { id: approvalOf([]).id, status: 'denied' as const, redirectUri: null } } };
  {
    await using opened = await openApproval(approvalOf([HEART]), { answers });
    await opened.page.press("Don't share");
    // Not an assignment of the address, which would not load the page again if it has the fragment of the skip link.
    expect(opened.page.leavings).toEqual([{ how: 'reload', url: expect.anything() }]);
  }
  await using later = await openApproval(approvalOf([HEART], { status: 'denied' }), { answers });
  const { page } = later;
  page.see('You declined');
  await page.press('Return to Morning Run');
  page.see('Go back to Morning Run yourself.', screen.getByRole('alert'));
  expect(await page.findBarriers()).toEqual([]);
});
