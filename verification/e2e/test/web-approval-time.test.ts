import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { expireApproval } from '../src/approval-expiry.ts';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const MINUTE_MS = 60_000;
describeWithChromium('a request that runs out while its page is open', runningOut);

function runningOut(): void {
  const visits = prepareVisits();
  let app: PartnerApp;

  beforeAll(async () => {
    const { stack } = visits;
    app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Morning Run' });
  });

  /** Opens a request on a page whose clock the test moves. */
  const open = async (user: string) => {
    const session = await signIn(visits.stack, user);
    const { body } = expectStatus(201, await app.authorize([HEART]));
    const visitor = await visits.open('/signed-in', { session });
    const { page } = visitor;
    await page.clock.install();
    await visitor.goto(body.approval_uri);
    const url = `${app.gateway}/partner/consent/pending/${body.pending_id}`;
    const find = async () => (await send(url, { bearer: session })).body.data;
    return { visitor, page, screen: new ApprovalScreen(page), id: body.pending_id as string, find };
  };

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
}
