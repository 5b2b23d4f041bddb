import { expect, test } from '@jest/globals';
import { Answer, type Answers, example, inTurn, LOST, listOf, problem } from '../kit/answers.ts';
import { type GrantChanges, grantOf } from '../kit/grants.ts';
import { openPage, type Page, screen, within } from '../kit/page.ts';
import { after } from '../kit/times.ts';

const HEART = 'read:health-data:heart';
const WEIGHT = 'read:weight';
const PORTAL = new Answer(200, '<h1>Welcome to our hotel</h1>', 'text/html', false);
/** After a lost answer, until the service has finished for certain. */
const DOUBT_MS = 23_000;

const grantWith = (changes: GrantChanges) => ({ data: grantOf({ scopes: [HEART, WEIGHT], ...changes }) });
const active = grantWith({});
const { data: grant } = active;
const revoked = grantWith({ status: 'revoked', revokedAt: after(0), revokedBy: 'person', endedBy: 'person' });

const openGrant = (answers: Answers = {}) =>
  openPage(`/apps/${grant.id}`, { answers: { getGrant: active, listGrantAccesses: listOf(), ...answers } });
const stop = (page: Page) => page.confirm('Stop sharing', 'Stop sharing');

test('active sharing is reported as active after a check, and no longer once it has ended elsewhere', async () => {
  await using page = await openGrant({ revokeGrant: problem('INTERNAL_ERROR') });
  await stop(page);
  await page.pass(DOUBT_MS);
  page.see('Sharing has not stopped yet.', screen.getByRole('alert'));
  expect(await page.findBarriers()).toEqual([]);
  page.answers.getGrant = revoked;
  await page.comeBack();
  page.see('Morning Run no longer has access.');
  expect(page.alerts).toEqual([]);
});

test('a change that the gateway may still make by its settings is not reported as failed, and is shown once it is made', async () => {
  await using page = await openGrant({ revokeGrant: LOST });
  document.head.innerHTML = '<meta name="change-limit-ms" content="60000" />';
  await stop(page);
  await page.pass(60_000);
  expect(page.alerts).toEqual([]);
  page.answers.getGrant = revoked;
  await page.pass(1_000);
  page.see('Morning Run no longer has access.');
  expect(page.alerts).toEqual([]);
});

test('a state that cannot be read is shown as unknown until the next successful check', async () => {
  await using page = await openGrant({ revokeGrant: LOST });
  page.answers.getGrant = LOST;
  await stop(page);
  await page.pass(DOUBT_MS);
  page.see("We couldn't confirm that sharing has stopped.", screen.getByRole('alert'));
  page.answers.getGrant = active;
  await page.comeBack();
  page.see('Sharing has not stopped yet.', screen.getByRole('alert'));
  page.answers.revokeGrant = () => {
    page.answers.getGrant = revoked;
    return example('revokeGrant');
  };
  await stop(page);
  page.see('Morning Run no longer has access.');
  expect(page.alerts).toEqual([]);
});

test('removed scopes are shown as removed', async () => {
  await using page = await openGrant({ narrowGrant: LOST });
  await page.press('Change');
  await page.press('Heart', 'checkbox');
  page.answers.getGrant = grantWith({ scopes: [WEIGHT] });
  await page.press('Save changes');
  page.see('Saved.');
  expect([screen.getAllByRole('checkbox').length, page.alerts]).toEqual([1, []]);
});

test('edits made during a change are kept, and the outcome of the change is shown', async () => {
  await using page = await openGrant();
  const narrowed = grantWith({ scopes: [WEIGHT] });
  page.answers.narrowGrant = narrowed;
  const answer = page.hold('narrowGrant');
  await page.press('Change');
  await page.press('Heart', 'checkbox');
  await page.press('Save changes');
  await page.fill('Earliest data shared', '2026-01-01');
  const save = screen.getByRole('button', { name: 'Save changes' });
  expect(save.getAttribute('aria-disabled')).toBe('true');
  page.answers.getGrant = narrowed;
  await answer();
  page.see('Saved. Morning Run can no longer read Heart. Your later changes are not saved yet.');
  const firstDay = screen.getByLabelText<HTMLInputElement>('Earliest data shared');
  expect([screen.getAllByRole('checkbox').length, firstDay.value]).toEqual([1, '2026-01-01']);
  const limited = grantWith({ scopes: [WEIGHT], dataFrom: '2026-01-01' });
  Object.assign(page.answers, { narrowGrant: limited, getGrant: limited });
  await page.press(save);
  page.see(/^Saved\. Morning Run can no longer read Heart\.$/);
  page.see('from 1 Jan 2026');
  expect(firstDay.value).toBe('');
  expect(page.changes).toEqual([
    ['narrowGrant', { scopes: [WEIGHT] }],
    ['narrowGrant', { scopes: [WEIGHT], dataFrom: '2026-01-01' }],
  ]);
});

test('ended sharing of all apps is shown as ended', async () => {
  const other = { ...grant, id: 'grt_2', app: { ...grant.app, clientId: 'app_2', name: 'Second' } };
  const listGrants = listOf(grant, other);
  await using page = await openPage('/apps', { answers: { listGrants, revokeAllGrants: LOST } });
  page.answers.listGrants = listOf();
  await page.confirm('Stop sharing with all', 'Stop sharing with all');
  page.see('No app can read your health data');
  expect(page.alerts).toEqual([]);
});

const app = { ...example('getApp').data, secretLast4: 'old1' };

test.each<[string, string, Answers, (page: Page) => Promise<void>, string]>([
  [
    'a rotated secret',
    `/console/${app.clientId}/credentials`,
    { rotateSecret: LOST },
    (page) => page.confirm('Rotate the secret', 'Rotate'),
    'The old one may no longer work.',
  ],
  [
    'changed settings',
    `/console/${app.clientId}/settings`,
    { changeApp: LOST },
    (page) => page.press('Save'),
    'It does no harm to repeat it.',
  ],
  [
    'a registered app',
    '/console/new',
    { registerApp: LOST },
    async (page) => {
      await page.fill('Name', 'Lost and Found');
      await page.fill('Redirect URIs', 'http://localhost:9999/callback');
      await page.press(/read:profile/, 'checkbox');
      await page.press('Register');
    },
    'Look for it in “Apps” before you register it again.$',
  ],
])('of %s the console says that it is not known, and reads again', async (_, path, answers, act, advice) => {
  await using page = await openPage(path, { answers: { getApp: { data: app }, ...answers } });
  const reads = page.requests.length;
  await act(page);
  expect(page.alerts).toEqual([expect.stringMatching(`^We couldn't confirm .*${advice}`)]);
  expect(page.requests.slice(reads).map(({ method }) => method)).toContain('GET');
});

test.each([
  ['a secret is rotated', 'credentials', 'rotateSecret', 'Rotate the secret', 'Rotate', 1],
  ['a status is set', 'settings', 'setAppStatus', 'Suspend', 'Suspend', 2],
] as const)('while %s, no other change can be made', async (_, tab, operation, trigger, name, count) => {
  await using page = await openPage(`/console/${app.clientId}/${tab}`);
  const answer = page.hold(operation);
  await page.press(trigger);
  await page.user.dblClick(within(screen.getByRole('alertdialog')).getByRole('button', { name }));
  await page.settle();
  const busy = screen.getAllByRole('button', { name: 'One moment…' });
  expect(busy.map((button) => button.getAttribute('aria-disabled'))).toEqual(Array(count).fill('true'));
  for (const button of busy) await page.focus(button);
  await page.keys('{Enter}');
  expect(screen.queryByRole('alertdialog')).toBeNull();
  await answer();
  expect(page.changes.map(([sent]) => sent)).toEqual([operation]);
});

test('a request that takes too long is aborted with an explanation', async () => {
  await using page = await openPage('/history');
  page.hold('listGrants');
  await page.press(screen.getAllByRole('link', { name: /^Connected apps/ })[0] as Element);
  await page.pass(19_000);
  expect(page.alerts).toEqual([]);
  await page.pass(2_000);
  page.see('The service did not answer within 20 seconds.', screen.getByRole('alert'));
});

test('an error of the service names its request for the operator', async () => {
  await using page = await openGrant({ getGrant: problem('INTERNAL_ERROR') });
  await page.pass(DOUBT_MS);
  page.see(/give the operator this code: req_\w+$/, screen.getByRole('alert'));
});

test('a response that is not JSON counts as no response', async () => {
  await using page = await openGrant({ revokeGrant: PORTAL });
  await stop(page);
  await page.pass(DOUBT_MS);
  page.see('Sharing has not stopped yet.');
  page.answers.summarizeAccesses = PORTAL;
  await page.press(/^Access history/, 'link');
  page.see('A proxy or network answered instead of the service.');
});

test('a sign-out that fails leaves the person signed in; the next one leads away', async () => {
  const signOut = inTurn(problem('INTERNAL_ERROR'), { data: { continueTo: null, signedOut: true as const } });
  await using page = await openPage('/apps', { answers: { signOut } });
  await page.press('Sign out');
  await page.pass(DOUBT_MS);
  page.see('You are still signed in.', screen.getByRole('alert'));
  expect(await page.findBarriers()).toEqual([]);
  await page.press('Sign out');
  expect(page.leavings).toEqual([{ how: 'assign', url: '/' }]);
});

test.each([
  ['/histroy', false, '/'],
  ['/console/new/x/y', true, '/console'],
])('the mistyped address %s is told, with a way to the start page', async (path, isSignedIn, start) => {
  await using page = await openPage(path, { isSignedIn });
  page.see('There is no such page');
  expect(document.title).toMatch(/^There is no such page · /);
  await page.press('Go to the start page', 'link');
  expect([page.path, page.find('no such page')]).toEqual([start, null]);
});

test('a browser that blocks storage shows the pages, in the language that is chosen', async () => {
  await using page = await openPage('/histroy');
  const storage = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');
  const blocked = () => {
    throw new Error('The storage is blocked.');
  };
  Object.defineProperty(globalThis, 'localStorage', { get: blocked, configurable: true });
  try {
    await page.press('Deutsch');
    page.see('Diese Seite gibt es nicht');
  } finally {
    Object.defineProperty(globalThis, 'localStorage', storage ?? {});
  }
});
