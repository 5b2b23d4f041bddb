import { expect, test } from '@jest/globals';
import { type BodyOf, example, listOf, problem } from '../kit/answers.ts';
import { openPage, type Page, screen } from '../kit/page.ts';

const APPROVAL = `/approve/${example('getPendingApproval').data.id}`;
const MOOD = /^Mood/;
const SHARE = 'Share 1 type of data';
const ENDED = problem('UNAUTHORIZED');
const newsOf = (userId = 'ada') => ({ kind: 'session', userId });
/** The focus moves with a frame or two. */
const FRAMES_MS = 100;
const findDialog = () => screen.queryByRole('alertdialog');

/** Opens an approval, chooses something, and presses the button that shares; the service demands a sign-in. */
async function askInVain(): Promise<Page> {
  const page = await openPage(APPROVAL, { answers: { approve: ENDED } });
  await page.press(MOOD, 'checkbox');
  await page.press(SHARE);
  await page.pass(FRAMES_MS);
  return page;
}

test('an approval asks at every click of its button until the person has signed in', async () => {
  await using page = await askInVain();
  for (let clicks = 0; clicks < 2; clicks += 1) {
    await page.press('Not now');
    await page.pass(FRAMES_MS);
    expect(findDialog()).toBeNull();
    await page.press(SHARE);
    await page.pass(FRAMES_MS);
    expect(findDialog()).not.toBeNull();
  }
  page.answers.approve = example('approve');
  await page.hear(newsOf());
  await page.pass(FRAMES_MS);
  expect(page.alerts).toEqual([expect.stringContaining('You have signed in again. Please try once more.')]);
  await page.press(SHARE);
  expect(page.leavings).toEqual([{ how: 'assign', url: example('approve').data.redirectUri }]);
});

test('the dialog can be closed to read the page, and opens again on demand', async () => {
  await using page = await askInVain();
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
  await page.hear(newsOf());
  expect(findDialog()).toBeNull();
  page.see('No reads yet');
});

test.each([
  ['of a person', 'that they signed out', true, { kind: 'signed-out' }, true],
  ['of a person', 'that somebody else is signed in', true, newsOf('grace'), true],
  ['of a person', 'that they signed in once more', true, newsOf(), false],
  ['of nobody', 'that somebody is signed in', false, newsOf(), true],
  ['of nobody', 'that somebody signed out', false, { kind: 'signed-out' }, false],
])('a page %s that hears %s is right afterwards', async (_, __, isSignedIn, news, isReloaded) => {
  await using page = await openPage('/apps', { isSignedIn });
  await page.hear(news);
  expect(page.leavings.map(({ how }) => how)).toEqual(isReloaded ? ['reload'] : []);
});

const leaveTo = (continueTo: string | null): BodyOf<'signOut'> => ({ data: { continueTo, signedOut: true } });

test.each([
  ['en', 'Go to the start page', 'You are signed out.'],
  ['de', 'Zur Startseite', 'Sie sind abgemeldet.'],
] as const)('the start page confirms a sign-out of its tab (%s)', async (language, link, words) => {
  await using page = await openPage('/histroy', { isSignedIn: false, language });
  sessionStorage.setItem('signed-out', 'yes');
  await page.press(link, 'link');
  page.see(words, screen.getByRole('status'));
});

test.each([
  ['the page of the provider', leaveTo('https://idp.example/end'), 'https://idp.example/end'],
  ['the start page', leaveTo(null), '/'],
  [
    'the start page, which says that the session may go on elsewhere, if that could not be stored',
    problem('INTERNAL_ERROR', { status: 503 }),
    '/?signed-out=here',
  ],
])('a sign-out leads to %s', async (_, signOut, url) => {
  const page = await openPage('/apps', { answers: { signOut } });
  page.answers.getSession = ENDED;
  await page.press('Sign out');
  expect(page.leavings).toEqual([{ how: 'assign', url }]);
  expect(page.told.at(-1)).toEqual({ kind: 'signed-out' });
  expect(sessionStorage.getItem('signed-out')).toBe('yes');
  await page[Symbol.asyncDispose]();
  const path = url.startsWith('/') ? url : '/';
  await using opened = await openPage(path, { isSignedIn: false });
  expect(opened.find('You are signed out in this browser.') !== null).toBe(path === '/?signed-out=here');
});

test.each([
  [true, 'You are signed in', ['close'], [newsOf()]],
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
