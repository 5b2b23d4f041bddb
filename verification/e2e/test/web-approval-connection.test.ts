import { beforeAll, expect, test } from '@jest/globals';
import { type Approval, expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { dayText, textsSince } from '../src/day-texts.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const WEIGHT = 'read:weight';
const SLEEP = 'read:health-data:sleep';
const DAY_MS = 86_400_000;

describeWithChromium('an approval for an app that reads already', existingConnection);

function existingConnection(): void {
  const visits = prepareVisits();
  let app: PartnerApp;

  beforeAll(async () => {
    const { stack } = visits;
    app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Sleep Well' });
  });

  /** Connects a person to the app on these terms, and opens the screen of its next request. */
  const open = async (user: string, shared: readonly string[], terms: Approval, asked: readonly string[]) => {
    const session = await signIn(visits.stack, user);
    const { grantId } = await app.connect(session, shared, terms);
    const { body } = expectStatus(201, await app.authorize(asked));
    const visitor = await visits.open(body.approval_uri, { session });
    const url = `${app.gateway}/partner/consent/grants/${grantId}`;
    const find = async () => (await send(url, { bearer: session })).body.data;
    return {
      visitor,
      screen: new ApprovalScreen(visitor.page),
      before: await find(),
      find,
      session,
      url,
      pendingUrl: body.approval_uri as string,
    };
  };

  test('keeps a longer end and a later first day, and shares only what was added', async () => {
    const terms = { expiresInDays: 365, dataFrom: '2026-01-01' };
    const { visitor, screen, before, find } = await open('web-longer', [HEART, MOOD], terms, [HEART, WEIGHT]);
    const end = dayText(Date.parse(before.expiresAt));
    expect(await screen.limits()).toEqual([`As now, until ${end}`, 'As now, from 1 Jan 2026']);
    expect(await screen.page.getByRole('checkbox', { checked: true }).count()).toBe(1);
    await screen.page.getByText('Untick to stop sharing.').waitFor();
    await screen.changes.getByText('Everything stays as it is.').waitFor();
    await screen.page.getByText('Only what you share already is selected.').waitFor();
    expect(await screen.count()).toBe('Agree');
    await visitor.takePictures('approval-shared-already');
    await screen.toggle('Weight by day');
    await screen.page.getByText('2 of 2 selected').waitFor();
    expect(await screen.count()).toBe('Agree to these changes');
    await screen.changes.getByRole('listitem').getByText('New: Weight by day.').waitFor();
    await screen.changes.getByText('Sleep Well can already read Mood. That continues.').waitFor();
    expect(await screen.summary.textContent()).toBe(
      `Sleep Well can read your heart, weight by day and mood, including new data, until ${end}, going back to 1 Jan 2026.`,
    );
    await visitor.leave(() => screen.share.click());
    const { expiresAt, dataFrom } = before;
    expect(await find()).toMatchObject({ expiresAt, dataFrom, scopes: [HEART, WEIGHT, MOOD] });
  });

  test('keeps a shorter end and an unlimited look-back', async () => {
    const { screen, before, find, visitor } = await open('web-shorter', [HEART], { expiresInDays: 1 }, [
      SLEEP,
    ]);
    const end = dayText(Date.parse(before.expiresAt));
    expect(await screen.limits()).toEqual([`As now, until ${end}`, 'As now, everything']);
    await screen.toggle('Sleep');
    await screen.summary.getByText('going back to your first record').waitFor();
    await visitor.leave(() => screen.share.click());
    expect(await find()).toMatchObject({ expiresAt: before.expiresAt, dataFrom: null });
  });

  test('shows the old end and first day beside the new ones, also for what was not asked for', async () => {
    const openedAt = Date.now();
    const terms = { expiresInDays: 365, dataFrom: '2026-01-01' };
    const { visitor, screen, before, find } = await open('web-wider', [HEART, MOOD], terms, [HEART, WEIGHT]);
    await screen.toggle('Heart', 'Weight by day');
    await screen.chooseLife('30 days');
    await screen.chooseLookBack('Everything');
    const changes = screen.changes.getByRole('listitem');
    await changes.getByText('Heart will stop.').waitFor();
    const newEnd = (now: number) => dayText(now + 30 * DAY_MS);
    const ends = await changes.filter({ hasText: /^End:/ }).textContent();
    const oldEnd = dayText(Date.parse(before.expiresAt));
    expect(textsSince(openedAt, (now) => `End: ${oldEnd} → ${newEnd(now)}.`)).toContain(ends);
    const looks = await changes.filter({ hasText: /^How far back:/ }).textContent();
    expect(looks).toBe('How far back: from 1 Jan 2026 → everything.');
    await changes.getByText('Your new end date and look-back apply to these too.').waitFor();
    const sentence = await screen.summary.textContent();
    const toSentence = (now: number) =>
      `Sleep Well can read your weight by day and mood, including new data, until ${newEnd(now)}, going back to your first record.Sleep Well can no longer read your heart.`;
    expect(textsSince(openedAt, toSentence)).toContain(sentence);
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-changes-a-connection');
    await visitor.leave(() => screen.share.click());
    const after = await find();
    expect(after).toMatchObject({ dataFrom: null, scopes: [WEIGHT, MOOD] });
    expect(Date.parse(after.expiresAt)).toBeLessThan(Date.now() + 31 * DAY_MS);
  });

  test('with everything unticked shares nothing, and says how to stop what is shared', async () => {
    const { screen, before, find } = await open('web-narrower', [HEART], {}, [HEART, WEIGHT]);
    await screen.toggle('Heart');
    await screen.summary
      .getByText("If you don't share, Sleep Well keeps what you share with it now.")
      .waitFor();
    const link = screen.page.getByRole('link', { name: 'stop sharing' });
    expect(await link.getAttribute('href')).toBe(`/apps/${before.id}`);
    await screen.share.click({ force: true });
    await screen.share.press('Enter');
    expect(await find()).toEqual(before);
  });

  test('is refused when the sharing was narrowed in another window, shows what changed, and keeps the choices', async () => {
    const opened = await open('web-two-windows', [HEART, MOOD], { expiresInDays: 365 }, [HEART, WEIGHT]);
    const { visitor, screen, find, session, url } = opened;
    const { page } = screen;
    await screen.toggle('Weight by day');
    const less = { scopes: [MOOD], dataFrom: '2026-02-01' };
    expectStatus(200, await send(url, { method: 'PATCH', json: less, bearer: session }));
    await screen.share.click();
    const alert = page.getByRole('alert').filter({ hasText: 'has changed in the meantime' });
    await alert.getByText('Your choices are still there.').waitFor();
    await page.getByText('Now: Mood, until').waitFor();
    expect(await find()).toMatchObject(less);
    expect([await screen.scope('Weight').isChecked(), await screen.scope('Heart').isChecked()]).toEqual([
      true,
      false,
    ]);
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-changed-meanwhile');
    await screen.share.click();
    await screen.summary.and(page.locator(':focus')).waitFor();
    expect(await find()).toMatchObject(less);
    await visitor.leave(() => screen.share.click());
    expect(await find()).toMatchObject({ scopes: [WEIGHT, MOOD], dataFrom: '2026-02-01' });
  });

  test('that was changed while the screen is read is not decided by a second press that comes at once', async () => {
    const { screen, find, session, url } = await open(
      'web-second-press',
      [HEART, MOOD],
      { expiresInDays: 365 },
      [HEART],
    );
    await screen.summary.waitFor();
    const less = { scopes: [HEART], dataFrom: '2026-02-01' };
    expectStatus(200, await send(url, { method: 'PATCH', json: less, bearer: session }));
    // The first press is refused, and the new terms replace the old ones under the finger.
    await screen.share.press('Enter');
    await screen.page.getByText('Now: Heart, until').waitFor();
    await screen.share.press('Enter');
    await screen.summary.and(screen.page.locator(':focus')).waitFor();
    // What follows the press on the keyboard does not reach the button.
    await screen.page.keyboard.press('Enter');
    expect(await find()).toMatchObject(less);
  });

  test('which ends while the screen is open is a new connection with the usual terms, and says so', async () => {
    const { screen, session, url } = await open('web-ended-since', [HEART], { expiresInDays: 365 }, [HEART]);
    expectStatus(200, await send(url, { method: 'DELETE', bearer: session }));
    // As if returning from another window.
    await screen.page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    await screen.page.getByText('Now: nothing.').waitFor();
    expect(await screen.limits()).toEqual(['90 days', 'Last 30 days']);
    expect(await screen.page.getByRole('checkbox', { checked: true }).count()).toBe(0);
  });

  test('warns when another app of the person has the same name', async () => {
    const developer = await signIn(visits.stack, 'developer');
    const twin = await registerApp(visits.stack.gateway, developer, { name: 'sleep-well' });
    const session = await signIn(visits.stack, 'web-twins');
    await app.connect(session, [HEART]);
    const { body } = expectStatus(201, await twin.authorize([HEART]));
    const visitor = await visits.open(body.approval_uri, { session });
    await visitor.page.getByText('You already know another app called Sleep Well.').waitFor();
    await visitor.page.getByText('The other app belongs to localhost:9999').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-look-alike');
  });
}
