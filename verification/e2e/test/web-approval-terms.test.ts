import { beforeAll, expect, test } from '@jest/globals';
import { type Approval, expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { expireApproval } from '../src/approval-expiry.ts';
import { ApprovalScreen, openApproval } from '../src/approval-screen.ts';
import { dayText, dayTextBefore, textsSince } from '../src/day-texts.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const DAY_MS = 86_400_000;
const MOOD = 'read:mood';
const WEIGHT = 'read:weight';
const SLEEP = 'read:health-data:sleep';
const MINUTE_MS = 60_000;

const visits = prepareVisits();
let app: PartnerApp;

beforeAll(async () => {
  const { stack } = visits;
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Morning Run' });
});

describeWithChromium('the approval screen shares nothing by accident:', () => {
  const open = async (user: string, scopes: readonly string[], parameters = {}) => {
    const opened = await openApproval(visits, app, user, scopes, { parameters });
    const sent: string[] = [];
    opened.page.on('request', (request) => {
      if (request.method() !== 'GET') sent.push(new URL(request.url()).pathname.split('/').at(-1) ?? '');
    });
    return { ...opened, sent };
  };

  test('Enter in any field sends nothing', async () => {
    const { page, screen, find, sent } = await open('guards-enter', [HEART, 'read:mood']);
    await screen.toggle('Heart');
    await screen.chooseLife('Other');
    await screen.chooseFirstDay('2026-01-01');
    for (const role of ['checkbox', 'radio'] as const) {
      for (const field of await page.getByRole(role).all()) await field.press('Enter');
    }
    await screen.firstDay.press('Enter');
    await screen.summary.press('Enter');
    expect([sent, (await find()).status]).toEqual([[], 'pending']);
  });

  test('a double click decides once', async () => {
    const { visitor, screen, sent } = await open('guards-double-click', [HEART]);
    await screen.toggle('Heart');
    const callback = await visitor.leave(() => screen.share.dblclick());
    expect(sent).toEqual(['approve']);
    expect((await app.exchange(callback.searchParams.get('code') ?? '')).body.scope).toBe(HEART);
  });

  test('the buttons come after the sentence, which is complete for every choice', async () => {
    const openedAt = Date.now();
    const { page, screen } = await open('guards-sentence', [
      HEART,
      'read:health-data:sleep',
      'read:trends',
      'read:profile',
    ]);
    const read = async () => (await screen.summary.locator('p').allTextContents()).join(' ');
    const expectSentence = async (toSentence: (now: number) => string) => {
      const sentence = await read();
      expect(textsSince(openedAt, toSentence)).toContain(sentence);
    };
    const after = (now: number, days: number) => dayText(now + days * DAY_MS);
    expect(await read()).toBe('Nothing is selected, so Morning Run gets nothing.');
    expect(await screen.share.getAttribute('aria-disabled')).toBe('true');
    await screen.toggle('Heart');
    await expectSentence(
      (now) =>
        `Morning Run can read your heart, including new data, until ${after(now, 90)}, going back to ${dayTextBefore(now, 30)}.`,
    );
    await screen.toggle('Sleep');
    await screen.chooseLookBack('Everything');
    await expectSentence(
      (now) =>
        `Morning Run can read your heart and sleep, including new data, until ${after(now, 90)}, going back to your first record.`,
    );
    await screen.toggle('Trends of all health data', 'Profile');
    await screen.chooseLookBack('From today');
    await screen.chooseLife('30 days');
    await expectSentence(
      (now) =>
        `Morning Run can read your heart, sleep, trends of all health data and profile, including new data, until ${after(now, 30)}, starting with today, ${dayText(now)}. Trends of all health data: this covers everything you measure, including types you have not selected, but not individual readings. Profile: no dates, so Morning Run can read all of it.`,
    );
    await screen.chooseLookBack('Choose a date');
    expect(await read()).toBe('Choose the first day that the app can see.');
    const order = await page
      .getByRole('region', { name: 'In short' })
      .locator('[role=status], button')
      .evaluateAll((elements) => elements.map(({ textContent }) => textContent));
    expect(order).toEqual([
      expect.stringMatching(/^Choose the first/),
      "Don't share",
      'Share 4 types of data',
    ]);
  });

  test('the button first brings the sentence onto the screen', async () => {
    const { visitor, page, screen, find } = await open('guards-unseen', [HEART]);
    await screen.toggle('Heart');
    // As large text on a small screen: the sentence and the button do not fit.
    await page.setViewportSize({ width: 320, height: 150 });
    await screen.share.evaluate((button) => button.scrollIntoView({ block: 'start' }));
    await screen.share.evaluate((button) => button.click());
    await screen.summary.and(page.locator(':focus')).waitFor();
    expect((await find()).status).toBe('pending');
    await visitor.leave(() => screen.share.click());
    expect((await find()).status).toBe('approved');
  });

  test('the bar leads to the sentence, never shares, and hides no focused element', async () => {
    const { page, screen, find } = await open('guards-bar', [
      HEART,
      'read:mood',
      'read:weight',
      'read:profile',
    ]);
    await page.setViewportSize({ width: 320, height: 568 });
    await screen.toggle('Heart');
    const review = page.getByRole('button', { name: 'Review choices' });
    await review.waitFor();
    const bar = await review.locator('..').boundingBox();
    expect(bar?.height).toBeLessThan(568 / 6);
    for (let stops = 0; stops < 30; stops += 1) {
      await page.keyboard.press('Tab');
      const hidden = await page.locator(':focus').evaluateAll((elements) =>
        elements.flatMap((element) => {
          const drawn = element.closest('label') ?? element;
          const { left, top, width, height } = drawn.getBoundingClientRect();
          const bottom = drawn.ownerDocument.elementFromPoint(left + width / 2, top + height - 2);
          return bottom === null || drawn.contains(bottom) || bottom.contains(drawn) ? [] : [drawn.outerHTML];
        }),
      );
      expect(hidden).toEqual([]);
    }
    await page.evaluate('scrollTo(0, 0)');
    await review.click();
    await screen.summary.and(page.locator(':focus')).waitFor();
    await review.waitFor({ state: 'hidden' });
    expect((await find()).status).toBe('pending');
  });

  test('a future first day is refused at once, and a missing one does not mean everything', async () => {
    const { visitor, page, screen, find } = await open('guards-days', [HEART]);
    await screen.toggle('Heart');
    await screen.chooseFirstDay(new Date(Date.now() + 3 * DAY_MS).toISOString().slice(0, 10));
    await page.getByText('This day is in the future. Choose today or an earlier day.').first().waitFor();
    await screen.share.click();
    await screen.firstDay.and(page.locator(':focus')).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-first-day-in-the-future');
    await screen.firstDay.fill('');
    await screen.firstDay.press('1');
    await screen.share.click();
    await screen.firstDay.and(page.locator(':focus')).and(page.locator('[aria-invalid=true]')).waitFor();
    expect((await find()).status).toBe('pending');
    await screen.firstDay.fill('2026-01-01');
    await visitor.leave(() => screen.share.click());
    expect((await find()).approved).toMatchObject({ dataFrom: '2026-01-01' });
  });

  test('data that a first day does not limit is named', async () => {
    const asked = [HEART, 'read:medications', 'read:profile'];
    const { visitor, page, screen } = await open('guards-facts', asked);
    const standing = page.getByText(
      'Medications and Profile: no dates, so Morning Run can read all of it, whatever you choose here.',
    );
    await standing.waitFor();
    await visitor.takePictures('approval-standing-facts');
    await screen.chooseLookBack('Everything');
    await standing.waitFor({ state: 'detached' });
    const other = await open('guards-measured', [HEART]);
    expect(await other.page.getByText('no dates', { exact: false }).count()).toBe(0);
  });

  test('what an app marks as needed is not chosen because of it', async () => {
    const asked = { needed_scope: HEART };
    const { page, screen } = await open('guards-needed', [HEART, 'read:weight'], asked);
    await page.getByText('Needed', { exact: true }).waitFor();
    await page.getByText('Optional', { exact: true }).waitFor();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    await screen.toggle('Weight by day');
    await screen.summary
      .getByText('Morning Run says that it needs heart, which you have not selected.')
      .waitFor();
  });
});

describeWithChromium('an approval for an app that reads already', () => {
  /** Connects a person to the app on these terms, and opens the screen of its next request. */
  const open = async (user: string, shared: readonly string[], terms: Approval, asked: readonly string[]) => {
    const session = await signIn(visits.stack, user);
    const { grantId } = await app.connect(session, shared, terms);
    const { visitor, screen } = await openApproval(visits, app, user, asked);
    const url = `${app.gateway}/partner/consent/grants/${grantId}`;
    const find = async () => (await send(url, { bearer: session })).body.data;
    return { visitor, screen, before: await find(), find, session, url };
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
    await screen.changes.getByText('Morning Run can already read Mood. That continues.').waitFor();
    expect(await screen.summary.textContent()).toBe(
      `Morning Run can read your heart, weight by day and mood, including new data, until ${end}, going back to 1 Jan 2026.`,
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
      `Morning Run can read your weight by day and mood, including new data, until ${newEnd(now)}, going back to your first record.Morning Run can no longer read your heart.`;
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
      .getByText("If you don't share, Morning Run keeps what you share with it now.")
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
    const twin = await registerApp(visits.stack.gateway, developer, { name: 'morning-run' });
    const session = await signIn(visits.stack, 'web-twins');
    await app.connect(session, [HEART]);
    const { body } = expectStatus(201, await twin.authorize([HEART]));
    const visitor = await visits.open(body.approval_uri, { session });
    await visitor.page.getByText('You already know another app called Morning Run.').waitFor();
    await visitor.page.getByText('The other app belongs to localhost:9999').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-look-alike');
  });
});

describeWithChromium('a request that runs out while its page is open', () => {
  /** Opens a request on a page whose clock the test moves. */
  const open = (user: string) => openApproval(visits, app, user, [HEART], { movableClock: true });

  test('says when it ends, warns two minutes before, and the person can get more time', async () => {
    const { visitor, page, screen, find } = await open('time-more');
    await screen.toggle('Heart');
    await page.getByText(/^You have until \d\d:\d\d to decide\.$/).waitFor();
    const warning = page.getByText(/^This request ends in less than two minutes, at \d\d:\d\d\.$/);
    await page.clock.fastForward(7 * MINUTE_MS);
    expect(await warning.count()).toBe(0);
    await page.clock.fastForward(1.2 * MINUTE_MS);
    await page
      .getByRole('status')
      .getByText(/^This request ends in less than two minutes/)
      .waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-ends-soon');
    await page.clock.fastForward(1.4 * MINUTE_MS);
    await page.getByRole('alert').getByText('This request ends in less than 30 seconds.').waitFor();
    const before = await find();
    await page.getByRole('button', { name: 'I need more time' }).click();
    await page
      .getByRole('status')
      .getByText(/^You now have until \d\d:\d\d\.$/)
      .waitFor();
    await page.locator(':focus', { hasText: 'You now have until' }).waitFor();
    expect(Date.parse((await find()).expiresAt)).toBeGreaterThan(Date.parse(before.expiresAt));
    expect(await warning.count()).toBe(0);
    expect(await screen.count()).toBe('Share 1 type of data');
    await visitor.takePictures('approval-more-time');
    for (const key of ['Shift', 'ArrowDown']) await page.keyboard.press(key);
    await page.locator(':focus', { hasText: 'You now have until' }).waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.getByText(/^You now have until/).waitFor({ state: 'detached' });
    expect(await page.locator(':focus').count()).toBe(1);
    await visitor.leave(() => screen.share.click());
  });

  test('says so when there is no more time to get', async () => {
    const { page } = await open('time-none');
    const refusal = { status: 409, json: { code: 'CONFLICT', detail: 'Not again.' } };
    await page.route('**/extend', (route) => route.fulfill(refusal));
    await page.clock.fastForward(8.2 * MINUTE_MS);
    await page.getByRole('button', { name: 'I need more time' }).click();
    await page.getByText("You can't get more time for this request.").waitFor();
  });

  test('shows by itself that it has expired, and shares nothing', async () => {
    const { visitor, page, screen, id, find } = await open('time-over');
    await screen.toggle('Heart');
    await expireApproval(visits.stack, id);
    await page.clock.fastForward(10.5 * MINUTE_MS);
    await page.getByRole('heading', { name: 'This request expired' }).and(page.locator(':focus')).waitFor();
    await page.getByText('Start again in Morning Run.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-expired');
    expect((await find()).status).toBe('expired');
  });

  test('shows that it has expired also when the service takes longer to answer than the page waits to look again', async () => {
    const { page, id } = await open('time-slow');
    await expireApproval(visits.stack, id);
    const answers: (() => void)[] = [];
    await page.route(`**/consent/pending/${id}`, async (route) => {
      await new Promise<void>((answer) => answers.push(answer));
      await route.continue();
    });
    const asked = page.waitForRequest((request) => request.url().endsWith(id));
    await page.clock.fastForward(10.5 * MINUTE_MS);
    await asked;
    await page.clock.runFor(12_000);
    // Every request that the page has begun before is known then.
    await page.evaluate("fetch('/partner/consent/pending').then(({ status }) => status)");
    expect(answers).toHaveLength(1);
    answers[0]?.();
    await page.getByRole('heading', { name: 'This request expired' }).waitFor();
  });

  test('is not taken for expired because of a wrong clock of the browser', async () => {
    const { page, screen, find } = await open('time-wrong-clock');
    await page.clock.setSystemTime(Date.now() + 3 * 60 * MINUTE_MS);
    await page.reload();
    await screen.toggle('Heart');
    await page.getByText(/^You have until/).waitFor();
    await page.clock.runFor(3_000);
    expect(await page.getByText(/This request ends|is over/).count()).toBe(0);
    expect((await find()).status).toBe('pending');
  });

  test('and is decided too late is refused, and the page shows that it expired', async () => {
    const { page, screen, id, find } = await open('time-late');
    await screen.toggle('Heart');
    await expireApproval(visits.stack, id);
    await screen.share.click();
    await page.getByRole('heading', { name: 'This request expired' }).waitFor();
    expect((await find()).status).toBe('expired');
  });
});

describeWithChromium('when an app removes its redirect URI while a request is open', () => {
  let session: string;

  beforeAll(async () => {
    session = await signIn(visits.stack, 'web-changed-app-ada');
  });

  /** Opens the approval screen of such an app. */
  async function openMoved() {
    const developer = await signIn(visits.stack, 'developer');
    const app = await registerApp(visits.stack.gateway, developer, { name: 'Morning Run' });
    const { approval_uri } = expectStatus(201, await app.authorize([HEART])).body;
    const visitor = await visits.open(approval_uri, { session });
    const url = `${app.gateway}/developer/apps/${app.clientId}`;
    const json = { redirectUris: ['https://moved.example/callback'] };
    expectStatus(200, await send(url, { method: 'PATCH', bearer: developer, json }));
    return visitor;
  }

  test('approving is refused with an explanation of what the person can do', async () => {
    const visitor = await openMoved();
    const { page } = visitor;
    const screen = new ApprovalScreen(page);
    await screen.choose('Heart');
    await screen.share.click();
    const alert = page.getByRole('alert');
    await alert.getByText('Nothing was shared: Morning Run has changed its settings').waitFor();
    await alert.getByText('Start again in Morning Run.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
  });

  test('denying succeeds, and the page says that the app cannot be informed', async () => {
    const visitor = await openMoved();
    const { page } = visitor;
    // The skip link leaves a fragment in the address.
    await page.evaluate("location.hash = 'main'");
    await page.getByRole('button', { name: "Don't share" }).click();
    await page.getByRole('heading', { name: 'You declined' }).waitFor();
    await page.getByRole('button', { name: 'Return to Morning Run' }).click();
    await page.getByRole('alert').getByText('Go back to Morning Run yourself.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
  });
});
