import { expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { example, inTurn, LOST, problem } from '../kit/answers.ts';
import { type Approval, approvalOf, connectionOf, openApproval } from '../kit/approval-screen.ts';
import { openPage, screen, textOf, within } from '../kit/page.ts';

const HEART = 'read:health-data:heart';
const WEIGHT = 'read:weight';
const TERMS = { scopes: [HEART], expiresInDays: 30, dataFrom: '2026-01-01' } as const;
const ID = approvalOf([]).id;
const CALLBACK = 'https://app.example/callback';
const approved = approvalOf([HEART, WEIGHT], {
  ...{ status: 'approved', approved: TERMS },
  connection: connectionOf([HEART], { days: 30, dataFrom: TERMS.dataFrom }),
});

test('the screen says who requests what and why, with nothing chosen', async () => {
  const request = approvalOf([HEART, 'read:profile', 'read:mood', 'read:trends'], {
    purpose: 'To pace your runs.',
  });
  const app = {
    ...request.app,
    developerName: 'Ada’s Apps',
    privacyPolicyUrl: 'https://run.example/privacy',
  };
  await using opened = await openApproval({ ...request, app });
  const { page, approvals } = opened;
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe(
    'Morning Run wants to read your health data',
  );
  expect(document.title).toBe('Morning Run wants to read your health data · Your health data');
  for (const text of [
    'By “Ada’s Apps”',
    `Morning Run says: “${request.app.description}”`,
    "You'll return to app.example",
    'Why Morning Run says it needs this: To pace your runs.',
    "Morning Run's registered app sent this.",
    '4 types of data, 2 very personal. Nothing is selected yet.',
  ]) {
    page.see(text);
  }
  expect(screen.getByRole('link', { name: 'Privacy policy' }).getAttribute('href')).toBe(
    app.privacyPolicyUrl,
  );
  const what = within(screen.getByRole('region', { name: 'What to share' }));
  const legends = what.getAllByRole('group').map((group) => group.querySelector('legend')?.textContent);
  expect(legends).toEqual(['Types of data', 'Very personal']);
  expect(approvals.chosen).toEqual([]);
});

test('the screen is in the language of the browser, in which the approval is made', async () => {
  await using opened = await openApproval(approvalOf([HEART]), { language: 'de' });
  const { page } = opened;
  page.see('Morning Run möchte Ihre Gesundheitsdaten lesen');
  expect(document.documentElement.lang).toBe('de');
  await page.press(/^Herz/, 'checkbox');
  await page.press('1 Datenart freigeben');
  expect(page.changes).toEqual([['approve', expect.objectContaining({ language: 'de' })]]);
});

test('an app that did not prove who it is is pointed out', async () => {
  await using opened = await openApproval(approvalOf([HEART], { clientAuthenticated: false }));
  opened.page.see("We couldn't confirm that Morning Run sent this.");
});

test('many scopes start folded, also those that are shared, each group with its names, and show how many are chosen', async () => {
  const connection = connectionOf([HEART]);
  await using opened = await openApproval(approvalOf(SCOPE_NAMES, { connection }));
  const { page } = opened;
  expect(screen.queryByRole('checkbox')).toBeNull();
  page.see('22 types of data, 9 very personal. Only what you share already is selected.');
  const group = screen.getByRole('button', { name: /^Other types of data/ });
  expect(group.getAttribute('aria-expanded')).toBe('false');
  await page.press(group);
  expect(group.getAttribute('aria-expanded')).toBe('true');
  await page.press(/^Profile/, 'checkbox');
  page.see('1 of 3', group);
  page.see(`2 of ${SCOPE_NAMES.length} selected`);
});

test('texts of apps are plain text', async () => {
  const request = approvalOf([HEART], { purpose: '"><b>x' });
  const app = { ...request.app, name: '<img src=x onerror=alert(1)>', description: '<b>bold</b>' };
  await using opened = await openApproval({ ...request, app });
  for (const text of ['"><b>x', app.name, app.description]) opened.page.see(text);
  expect(document.querySelectorAll('main img, main b')).toHaveLength(0);
});

test('an approval whose answer is lost is shown as made, and leads to the app until it has used the code', async () => {
  await using opened = await openApproval(approvalOf([HEART, WEIGHT]));
  const { page, approvals } = opened;
  await approvals.choose('Heart', '30 days');
  await approvals.chooseFirstDay('2026-01-01');
  Object.assign(page.answers, { approve: LOST, getPendingApproval: { data: approved } });
  await page.press(approvals.share);
  page.see("You approved Morning Run's request.");
  const title = screen.getByRole('heading', { name: "You're sharing with Morning Run" });
  expect(document.activeElement).toBe(title);
  expect([page.alerts, page.leavings, await page.findBarriers()]).toEqual([[], [], []]);
  expect(screen.getAllByRole('definition').map(textOf).slice(0, 1)).toEqual(['Heart']);

  const { data } = example('approve');
  const redirectUri = `${CALLBACK}?code=1`;
  page.answers.approve = inTurn(problem('ALREADY_DECIDED'), { data: { ...data, redirectUri } });
  await page.press('Continue to Morning Run');
  page.see('Morning Run has used this approval already, or its time is over.', screen.getByRole('alert'));
  expect(await page.findBarriers()).toEqual([]);
  await page.press('Continue to Morning Run');
  const [, ...repeated] = page.changes;
  expect(repeated).toEqual([1, 2].map(() => ['approve', { ...TERMS, language: 'en' }]));
  expect(page.leavings).toEqual([{ how: 'assign', url: redirectUri }]);
});

test('a denial is sent once, and leads to the app, also when its answer is lost', async () => {
  const url = `${CALLBACK}?error=access_denied`;
  const deny = { data: { id: ID, status: 'denied', redirectUri: url } } as const;
  const expected = { how: 'assign', url };
  {
    await using opened = await openApproval(approvalOf([HEART]), { answers: { deny } });
    await opened.page.press("Don't share");
    expect([opened.page.changes, opened.page.leavings]).toEqual([[['deny', null]], [expected]]);
  }
  await using opened = await openApproval(approvalOf([HEART]), { answers: { deny: inTurn(LOST, deny) } });
  const { page } = opened;
  page.answers.getPendingApproval = { data: approvalOf([HEART], { status: 'denied' }) };
  await page.press("Don't share");
  page.see('You declined');
  expect(await page.findBarriers()).toEqual([]);
  await page.press('Return to Morning Run');
  expect(page.leavings).toEqual([expected]);
});

test('every choice stays when the service is unreachable, and is sent by the next press', async () => {
  await using opened = await openApproval(approvalOf([HEART, 'read:mood', 'read:profile']));
  const { page, approvals } = opened;
  await approvals.choose('Heart', 'Mood', 'Profile', 'Other', '365 days');
  await approvals.chooseFirstDay('2026-01-01');
  const reads = page.answers.getPendingApproval;
  Object.assign(page.answers, { approve: LOST, getPendingApproval: LOST });
  await page.press(approvals.share);
  await page.pass(20_000);
  expect(page.alerts).toEqual([]);
  await page.pass(3_000);
  page.see(
    /^We couldn't confirm that\..*then do the same again\. Doing it twice does no harm\.$/,
    screen.getByRole('alert'),
  );
  Object.assign(page.answers, { approve: undefined, getPendingApproval: reads });
  await page.press(approvals.share);
  const terms = { scopes: [HEART, 'read:mood', 'read:profile'], expiresInDays: 365, dataFrom: '2026-01-01' };
  expect(page.changes[1]).toEqual(['approve', expect.objectContaining(terms)]);
  expect(page.leavings).toHaveLength(1);
});

test('a denial that the service could not make is reported as not arrived', async () => {
  await using opened = await openApproval(approvalOf([HEART]), {
    answers: { deny: problem('RATE_LIMITED') },
  });
  await opened.page.press("Don't share");
  opened.page.see('Your answer has not reached the app yet.', screen.getByRole('alert'));
});

test('a signed-out person is asked to sign in, sees nothing of the request, and returns to it', async () => {
  const answers = { getPendingApproval: problem('UNAUTHORIZED') };
  await using page = await openPage(`/approve/${ID}`, { isSignedIn: false, answers });
  page.see('Please sign in');
  page.see('An app asks to read your health data. Sign in to see which one, and to decide.');
  expect(page.find('Morning Run')).toBeNull();
  const links = screen.getAllByRole('link', { name: 'Sign in' }).map((link) => link.getAttribute('href'));
  expect(links).toEqual(links.map(() => `/sign-in?return_to=${encodeURIComponent(`/approve/${ID}`)}`));
});

test('nothing is shown of a request that another person has opened', async () => {
  await using page = await openPage(`/approve/${ID}`, {
    answers: { getPendingApproval: problem('NOT_FOUND') },
  });
  page.see("This request isn't available");
  expect([page.find('Morning Run'), await page.findBarriers()]).toEqual([null, []]);
});

test('a decision for an app that is not active keeps the choices and says why; of a revoked app nothing can be decided', async () => {
  {
    await using opened = await openApproval(approvalOf([HEART]), {
      answers: { approve: problem('APP_NOT_ACTIVE') },
    });
    const { page, approvals } = opened;
    await approvals.choose('Heart');
    await page.press(approvals.share);
    expect(page.alerts).toEqual(['Nothing was changed.The app is not active at the moment.']);
    expect(approvals.chosen).toEqual(['Heart']);
  }
  await using later = await openApproval(approvalOf([HEART], { status: 'cancelled' }));
  later.page.see('Morning Run is no longer active');
});

test('a connection that has ended since the approval is not shown as sharing', async () => {
  await using opened = await openApproval({ ...approved, connection: null });
  opened.page.see('You no longer share with Morning Run');
});

test('the preview of a scope shows the data from the chosen first day, and the choices stay', async () => {
  await using opened = await openApproval(approvalOf([HEART, WEIGHT]));
  const { page, approvals } = opened;
  await approvals.choose('Weight by day');
  const preview = screen.getByRole('button', { name: 'Preview Weight by day' });
  await page.press(preview);
  const sheet = screen.getByRole('dialog', { name: 'Preview: Weight by day' });
  page.see('Only data from 28 Oct 2026 on.', sheet);
  const close = within(sheet).getByRole('button', { name: 'Close' });
  // Above the content, which may be longer than the screen.
  expect(close.previousElementSibling?.tagName).toBe('H2');
  expect(await page.findBarriers()).toEqual([]);
  await page.press(close);
  expect([screen.queryByRole('dialog'), document.activeElement === preview]).toEqual([null, true]);
  await approvals.choose('From today');
  await page.press(preview);
  const { query } = page.requests.findLast(({ operation }) => operation === 'previewData') ?? {};
  expect(query).toEqual(expect.objectContaining({ scope: WEIGHT, dataFrom: '2026-11-27' }));
  await page.keys('{Escape}');
  expect([screen.queryByRole('dialog'), textOf(approvals.share)]).toEqual([null, 'Share 1 type of data']);
});

/** Opens a request of its own: the app remembers which ones it gave back. */
const openToSwitch = async (id: string, members: Partial<Approval> = {}) => {
  const opened = await openApproval(approvalOf([HEART], { id, ...members }));
  const countReads = () =>
    opened.page.requests.filter(({ operation }) => operation === 'getPendingApproval').length;
  const leaving = {
    how: 'assign',
    url: `/sign-in?return_to=${encodeURIComponent(`/approve/${id}`)}&switch=1`,
  };
  return { ...opened, countReads, leaving };
};

test('switching the account gives the request back, and the page does not claim it again before it is left', async () => {
  await using opened = await openToSwitch('apr_leaver');
  const { page, countReads, leaving } = opened;
  await page.press('Switch account');
  expect([page.changes, page.leavings]).toEqual([[['releasePendingApproval', null]], [leaving]]);
  const reads = countReads();
  await page.comeBack();
  await page.pass(10 * 60_000);
  page.see('The time for this request is over.');
  expect(countReads()).toBe(reads);
});

test.each(['UNAUTHORIZED', 'INTERNAL_ERROR', 'NOT_FOUND', 'ALREADY_DECIDED', 'PENDING_EXPIRED'])(
  'a release answered with %s leads to the sign-in if there is nothing to give back; else the page says so and reads again',
  async (code) => {
    await using opened = await openToSwitch(`apr_${code}`);
    const { page, countReads, leaving } = opened;
    page.answers.releasePendingApproval = problem(code);
    await page.press('Switch account');
    const hasFailed = ['UNAUTHORIZED', 'INTERNAL_ERROR'].includes(code);
    expect(page.leavings).toEqual(hasFailed ? [] : [leaving]);
    expect(page.find('The account was not switched.') !== null).toBe(hasFailed);
    const reads = countReads();
    await page.comeBack();
    expect(countReads()).toBe(reads + Number(hasFailed));
  },
);
