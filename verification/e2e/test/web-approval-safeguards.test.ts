import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { dayText, dayTextBefore, textsSince } from '../src/day-texts.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const DAY_MS = 86_400_000;
describeWithChromium('the approval screen shares nothing by accident:', safeguards);

function safeguards(): void {
  const visits = prepareVisits();
  let app: PartnerApp;

  beforeAll(async () => {
    const { stack } = visits;
    app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Morning Run' });
  });

  const open = async (user: string, scopes: readonly string[], parameters = {}) => {
    const session = await signIn(visits.stack, user);
    const { body } = expectStatus(201, await app.authorize(scopes, parameters));
    const visitor = await visits.open(body.approval_uri, { session });
    const url = `${app.gateway}/partner/consent/pending/${body.pending_id}`;
    const find = async () => (await send(url, { bearer: session })).body.data;
    const { page } = visitor;
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') sent.push(new URL(request.url()).pathname.split('/').at(-1) ?? '');
    });
    const screen = new ApprovalScreen(page);
    return { visitor, page, screen, find, sent, approvalUri: body.approval_uri as string };
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
}
