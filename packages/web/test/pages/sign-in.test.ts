import { expect, test } from '@jest/globals';
import { type Answer, type BodyOf, example, listOf, problem } from '../kit/answers.ts';
import { openPage, type Page, screen } from '../kit/page.ts';

const APPROVAL = `/approve/${example('getPendingApproval').data.id}`;
const MOOD = /^Mood/;
const SHARE = 'Share 1 type of data';
const ENDED = problem('UNAUTHORIZED');
const STEP_UP = problem('STEP_UP_REQUIRED', { status: 403, type: '/problems/step-up-required' });
const newsOf = (kind: string, userId = 'ada') => ({ kind, userId });
/** The focus moves with a frame or two. */
const FRAMES_MS = 100;
const findDialog = () => screen.queryByRole('alertdialog');

/** Opens an approval, chooses something, and presses the button that shares; the service demands a sign-in. */
async function askInVain(approve: Answer = ENDED): Promise<Page> {
  const page = await openPage(APPROVAL, { answers: { approve } });
  await page.press(MOOD, 'checkbox');
  await page.press(SHARE);
  await page.pass(FRAMES_MS);
  return page;
}

test.each([
  ['the session has ended', ENDED, 'Your session has ended', '', true],
  ['a recent sign-in is needed', STEP_UP, 'Please confirm that it is you', '&step_up=1', false],
])(
  'when %s, an approval asks for a sign-in in a new tab and keeps its choices',
  async (_, refusal, title, query, isAnyEnough) => {
    await using page = await askInVain(refusal);
    const dialog = screen.getByRole('alertdialog', { name: title });
    const link = screen.getByRole<HTMLAnchorElement>('link', { name: 'Sign in' });
    expect(dialog.contains(document.activeElement)).toBe(true);
    expect(link.getAttribute('href')).toBe(`/sign-in?return_to=%2Fsigned-in${query}`);
    expect([link.target, link.rel, dialog.contains(link)]).toEqual(['_blank', 'opener', true]);
    // Another page of the browser was opened with a session. That is no new sign-in.
    await page.hear(newsOf('session'));
    expect(findDialog() === null).toBe(isAnyEnough);
    await page.hear(newsOf('new-session'));
    await page.pass(FRAMES_MS);
    expect(findDialog()).toBeNull();
    expect(page.alerts).toEqual([expect.stringContaining('You have signed in again. Please try once more.')]);
    expect(screen.getByRole<HTMLInputElement>('checkbox', { name: MOOD }).checked).toBe(true);
    expect(document.activeElement).toBe(screen.getByRole('button', { name: SHARE }));
    expect([page.changes.length, page.leavings]).toEqual([1, []]);
  },
);

test('the dialog keeps the focus, can be closed to read the page, and opens again on demand', async () => {
  await using page = await askInVain();
  for (let stops = 0; stops < 4; stops += 1) {
    await page.keys('{Tab}');
    expect(findDialog()?.contains(document.activeElement)).toBe(true);
  }
  await page.keys('{Escape}');
  await page.pass(FRAMES_MS);
  expect(findDialog()).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: SHARE }));
  expect(page.alerts).toEqual([expect.stringMatching(/Nothing was changed\..*Your session has ended\./)]);
  await page.press('Sign in again');
  expect(findDialog()).not.toBeNull();
  await page.press('Not now');
  await page.pass(FRAMES_MS);
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Sign in again' }));
});

test('a page that reads in the background asks as well, and reads again after the sign-in', async () => {
  await using page = await openPage('/apps');
  const reads = { listAccesses: ENDED, summarizeAccesses: ENDED, listConnectedApps: ENDED };
  Object.assign(page.answers, { ...reads, getSession: ENDED });
  await page.press(/^Access history/, 'link');
  expect(screen.queryByRole('alertdialog', { name: 'Your session has ended' })).not.toBeNull();
  const answers = { listAccesses: listOf(), summarizeAccesses: listOf(), listConnectedApps: listOf() };
  Object.assign(page.answers, { ...answers, getSession: example('getSession') });
  await page.hear(newsOf('new-session'));
  expect(findDialog()).toBeNull();
  page.see('No reads yet');
});

test.each([
  ['of a person', 'that they signed out', true, { kind: 'signed-out' }, true],
  ['of a person', 'that somebody else signed in', true, newsOf('new-session', 'grace'), true],
  ['of a person', 'that somebody else is signed in', true, newsOf('session', 'grace'), true],
  ['of a person', 'that they signed in once more', true, newsOf('new-session'), false],
  ['of nobody', 'that somebody signed in', false, newsOf('session'), true],
  ['of nobody', 'that somebody signed out', false, { kind: 'signed-out' }, false],
])('a page %s that hears %s is right afterwards', async (_, __, isSignedIn, news, isReloaded) => {
  await using page = await openPage('/apps', { isSignedIn });
  await page.hear(news);
  expect(page.leavings.map(({ how }) => how)).toEqual(isReloaded ? ['reload'] : []);
});

test('a page opened with an ended session signs in silently, once', async () => {
  await (await openPage('/apps'))[Symbol.asyncDispose]();
  const options = { isSameBrowser: true, isSignedIn: false };
  const first = await openPage('/apps?from=link', options);
  const url = '/sign-in?return_to=%2Fapps%3Ffrom%3Dlink&silent=1';
  expect(first.leavings).toEqual([{ how: 'replace', url }]);
  await first[Symbol.asyncDispose]();
  await using page = await openPage('/apps?from=link#sign-in-required', options);
  page.see('Please sign in');
  expect([page.leavings, page.path, location.hash]).toEqual([[], '/apps?from=link', '']);
});

const leaveTo = (continueTo: string | null): BodyOf<'signOut'> => ({ data: { continueTo, signedOut: true } });

test.each([
  ['the page of the provider', leaveTo('https://idp.example/end'), 'https://idp.example/end'],
  ['the start page', leaveTo(null), '/'],
  [
    'the start page, which says that the session may go on elsewhere, if that could not be stored',
    problem('INTERNAL_ERROR', { status: 503 }),
    '/?signed-out=here',
  ],
])('a sign-out leads to %s, and no later page signs in silently', async (_, signOut, url) => {
  const page = await openPage('/apps', { answers: { signOut } });
  page.answers.getSession = ENDED;
  await page.press('Sign out');
  expect(page.leavings).toEqual([{ how: 'assign', url }]);
  expect(page.told.at(-1)).toEqual({ kind: 'signed-out' });
  await page[Symbol.asyncDispose]();
  const path = url.startsWith('/') ? url : '/';
  for (const next of [path, '/apps']) {
    await using opened = await openPage(next, { isSameBrowser: true, isSignedIn: false });
    expect(opened.leavings).toEqual([]);
    const says = opened.find('You are signed out in this browser.') !== null;
    expect(says).toBe(next === '/?signed-out=here');
  }
});

test.each([
  [true, 'You are signed in', ['close'], [newsOf('session'), newsOf('new-session')]],
  [false, 'The sign-in was not finished.', [], []],
])(
  'the tab of a sign-in (done: %s) says so, and closes when the other tabs know',
  async (isSignedIn, text, how, told) => {
    await using page = await openPage('/signed-in', { isSignedIn });
    page.see(text);
    expect(page.leavings.map((leaving) => leaving.how)).toEqual(how);
    expect(page.told).toEqual(told);
  },
);
