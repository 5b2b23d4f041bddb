import { expect, test } from '@jest/globals';
import { example, LOST, problem } from '../kit/answers.ts';
import { openPage, screen } from '../kit/page.ts';
import { after, afterDays } from '../kit/times.ts';

const { data: recorded } = example('getPendingApproval');
const pending = { ...recorded, createdAt: after(-1), expiresAt: after(9) };
const PATH = `/approve/${pending.id}`;
const approved = { scopes: ['read:mood'], expiresInDays: 90, dataFrom: '2026-10-28' } as const;
const connection = {
  ...{ grantId: 'grt_1', appName: 'Morning Run', scopes: approved.scopes },
  ...{ expiresAt: afterDays(90), dataFrom: approved.dataFrom },
};
const MOOD = /^Mood/;

test('an approval whose answer is lost is shown as made once the service says so', async () => {
  await using page = await openPage(PATH);
  await page.press(MOOD, 'checkbox');
  Object.assign(page.answers, {
    approve: LOST,
    getPendingApproval: { data: { ...pending, status: 'approved', approved, connection } },
  });
  await page.press('Share 1 type of data');
  page.see("You're sharing with Morning Run");
  expect(document.activeElement).toBe(screen.getByRole('heading', { level: 1 }));
  expect([page.alerts, page.leavings]).toEqual([[], []]);
});

test('choices stay when the service is unreachable', async () => {
  await using page = await openPage(PATH);
  await page.press(MOOD, 'checkbox');
  Object.assign(page.answers, { approve: LOST, getPendingApproval: LOST });
  await page.press('Share 1 type of data');
  expect(page.alerts).toEqual([]);
  await page.pass(23_000);
  page.see("We couldn't confirm that. Try again.", screen.getByRole('alert'));
  expect(screen.getByRole<HTMLInputElement>('checkbox', { name: MOOD }).checked).toBe(true);
});

test('a signed-out person is asked to sign in and sees nothing of the request', async () => {
  const answers = { getPendingApproval: problem('UNAUTHORIZED') };
  await using page = await openPage(PATH, { isSignedIn: false, answers });
  page.see('Please sign in');
  expect(page.find('Morning Run')).toBeNull();
});
