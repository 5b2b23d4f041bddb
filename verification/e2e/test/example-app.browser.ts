import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ingestReadings } from '@phds/running-system/ingestion';
import { expectStatus } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { eventually } from '@phds/test-kit/conditions';
import type { Page } from 'playwright-core';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { type RunningExampleApp, startExampleApp } from '../src/example-app.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const USER = 'example-app';
const HOUR_MS = 3_600_000;
const FORMS = ['server', 'page'] as const;

/** What the page keeps: whether tokens are bound, and whether the private key can be copied. */
const KEPT = `new Promise((resolve) => {
  indexedDB.open('phds').onsuccess = ({ target }) => {
    const all = target.result.transaction('entries').objectStore('entries').getAll();
    all.onsuccess = () => resolve(all.result.map((entry) => entry.tokenType ?? entry.privateKey.extractable));
  };
})`;

/** How many tabs wait for another one. */
const WAITING = 'navigator.locks.query().then(({ pending }) => pending.length)';

describeWithChromium('the example app', () => {
  const visits = prepareVisits();
  let apps: Record<(typeof FORMS)[number], RunningExampleApp>;

  beforeAll(async () => {
    const { stack } = visits;
    apps = { server: await startExampleApp(stack, 'server'), page: await startExampleApp(stack, 'page') };
    const readings = Array.from({ length: 40 }, (_, hour) => ({
      type: 'Heart Rate',
      // Within the month that the approval screen proposes.
      start: new Date(Date.now() - (hour + 1) * HOUR_MS).toISOString(),
      value: 60 + ((hour * 7) % 40),
    }));
    await ingestReadings(stack, USER, readings);
  });
  afterAll(async () => {
    for (const app of Object.values(apps ?? {})) await app[Symbol.asyncDispose]();
  });

  const connect = async (page: Page) => {
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.waitForURL('**/approve/*');
  };
  const open = async (form: (typeof FORMS)[number]) => {
    const visitor = await visits.open('/signed-in', { session: await signIn(visits.stack, USER) });
    const { page } = visitor;
    await page.goto(apps[form].url);
    await connect(page);
    return { visitor, page, screen: new ApprovalScreen(page) };
  };
  const seeChart = async (page: Page) => {
    await page.getByRole('img', { name: /^Heart rate from .+ to .+, per minute$/ }).waitFor();
    await page.getByText('Your newest 40 readings, beats per minute.').waitFor();
  };
  const seeConnect = (page: Page) => page.getByRole('button', { name: 'Connect', exact: true }).waitFor();

  test.each(FORMS)(
    'as a %s, says that the person shares nothing or has ended the connection elsewhere, and offers to connect again',
    async (form) => {
      const { visitor, page, screen } = await open(form);
      await screen.deny.click();
      await page.getByText('You did not share your heart rate.').waitFor();
      await connect(page);
      await screen.shareOnly('Heart');
      await seeChart(page);
      expect(await visitor.findBarriers()).toEqual([]);
      const url = `${visits.stack.gateway}/partner/consent/grants/revoke-all`;
      const bearer = await signIn(visits.stack, USER);
      expectStatus(200, await send(url, { method: 'POST', bearer }));
      await page.reload();
      await page.getByText('The connection has ended').waitFor();
      await seeConnect(page);
      expect(await visitor.findBarriers()).toEqual([]);
      if (form === 'page') expect(await page.evaluate(KEPT)).toEqual([false]);
      if (form === 'page') return;
      await connect(page);
      await screen.shareOnly('Heart');
      await page.getByRole('button', { name: 'Disconnect' }).click();
      await seeConnect(page);
      const { body } = await send(`${visits.stack.gateway}/partner/consent/grants`, { bearer });
      expect(body.data[0]).toMatchObject({ status: 'revoked', revokedBy: 'app' });
    },
  );

  test('as a page, stays connected with a key that nobody can copy, renews in one tab at a time, and keeps no token after Disconnect', async () => {
    const { page, screen } = await open('page');
    const context = page.context();
    await screen.shareOnly('Heart');
    await seeChart(page);
    expect(page.url()).toBe(`${apps.page.url}/`);
    expect(await page.evaluate(KEPT)).toEqual(['DPoP', false]);

    await context.route('**/api/v1/**', (route) => route.abort('connectionreset'));
    await page.reload();
    await page.getByText('The service does not answer. Try again later.').waitFor();
    await context.unroute('**/api/v1/**');

    // Both tabs find the access token expired, and the second one waits while the first one renews it.
    const tab = await context.newPage();
    const renewals = new Set<string | null>();
    const waiting = Promise.withResolvers<void>();
    await context.route('**/oauth/token', async (route) => {
      renewals.add(route.request().postData());
      await waiting.promise;
      await route.continue();
    });
    await context.clock.setFixedTime(Date.now() + HOUR_MS);
    await Promise.all([page.reload(), tab.goto(apps.page.url)]);
    await eventually(async () => expect(await page.evaluate(WAITING)).toBe(1));
    waiting.resolve();
    await Promise.all([page, tab].map(seeChart));
    // Repeated, because the service refuses its proof for the time of a wrong clock.
    expect(renewals.size).toBe(1);

    const revoked = page.waitForResponse('**/oauth/revoke');
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await seeConnect(page);
    expect((await revoked).status()).toBe(200);
    expect(await page.evaluate(KEPT)).toEqual([false]);
    await tab.reload();
    await seeConnect(tab);
  });
});
