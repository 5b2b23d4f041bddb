import { Buffer } from 'node:buffer';
import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import type { Page } from 'playwright-core';
import { Connections, expectToFit, PURPOSE } from '../src/connections.ts';
import { describeWithChromium, prepareVisits, readDownload } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const WEIGHT = 'read:weight';

describeWithChromium('the page of a receipt', pagesOfReceipts);

function pagesOfReceipts(): void {
  const visits = prepareVisits();
  let developer: string;
  let app: Connections;
  let people = 0;

  beforeAll(async () => {
    developer = await signIn(visits.stack, 'developer');
    const settings = {
      name: 'Morning Run',
      developerName: 'Run Labs GmbH',
      homepageUrl: 'https://run.example/',
      privacyPolicyUrl: 'https://run.example/a-rather-long-address/of-the-privacy-policy/2026',
    };
    app = new Connections(await registerApp(visits.stack.gateway, developer, settings));
  });

  const somebody = () => {
    people += 1;
    return signIn(visits.stack, `web-receipts-${people}`);
  };

  test('a receipt tells the whole life of a connection, and its signed file can be saved', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART]);
    await app.connect(user, [MOOD, WEIGHT], { dataFrom: '2026-01-01' });
    await app.narrow(user, tokens, { scopes: [HEART, MOOD] });
    await app.stop(user, tokens);
    const visitor = await visits.open(`/apps/${tokens.grantId}`, { session: user });
    const { page } = visitor;
    await page.getByRole('link', { name: 'View receipt' }).click();
    await page.getByRole('heading', { level: 1, name: 'Receipt for Morning Run' }).waitFor();
    const [first, again] = [page.getByRole('region').nth(0), page.getByRole('region').nth(1)];
    await first.getByRole('heading', { name: /^You agreed on/ }).waitFor();
    await first.getByText(PURPOSE).waitFor();
    await first.getByText('Run Labs GmbH').waitFor();
    await first.getByText('English').waitFor();
    expect(await first.getByRole('listitem').allTextContents()).toHaveLength(1);
    await again.getByRole('heading', { name: /^You agreed again on/ }).waitFor();
    await again.getByText('from 1 Jan 2026').waitFor();
    expect(await again.locator('ul[lang=en] > li').count()).toBe(2);
    const events = page.getByRole('region', { name: 'What happened' }).getByRole('listitem');
    expect((await events.allTextContents()).map((line) => line.replace(/\..*/s, ''))).toEqual([
      'You agreed',
      'You agreed',
      'You changed sharing',
      'You stopped sharing',
    ]);
    await visitor.takePictures('receipt');
    await expectToFit(visitor);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download receipt' }).click();
    const saved = JSON.parse(await readDownload(download));
    expect(saved).toEqual({
      grantId: tokens.grantId,
      receipt: expect.stringMatching(/^[\w-]+(\.[\w-]+){2}$/),
    });
    await expectToPrint(page);
  });

  /** On paper there are only the words of the receipt. */
  const expectToPrint = async (page: Page) => {
    await page.emulateMedia({ media: 'print' });
    await page.getByRole('heading', { name: 'What happened' }).waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.getByRole('banner').count()).toBe(0);
    await page.emulateMedia({ media: 'screen' });
  };

  test('a receipt of an earlier release says what was not stored', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART]);
    const since = '2025-02-01T08:00:00.000Z';
    const recipient = {
      party_name: 'Morning Run',
      party_url: null,
      privacy_notice: null,
      redirect_host: null,
      as_shown: false,
      as_of: since,
    };
    const content = {
      record_id: tokens.grantId,
      pii_principal_id: 'somebody',
      iat: Date.parse(since) / 1_000,
      purposes: [{ purpose: null, language: '', recipient, pii_information: [] }],
      events: [
        {
          event_time: '2025-01-01T08:00:00.000Z',
          event_state: 'given',
          validity_duration: 'PT86400S',
          pii_types: [HEART],
          pii_since: null,
        },
        {
          event_time: '2025-01-02T08:00:00.000Z',
          event_state: 'expired',
          validity_duration: 'PT0S',
          pii_types: [],
          pii_since: null,
        },
      ],
    };
    const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
    const visitor = await visits.open('/apps', { session: user });
    const { page } = visitor;
    const data = { grantId: tokens.grantId, receipt: `e30.${payload}.e30` };
    await page.route('**/receipt', (route) =>
      route.request().resourceType() === 'fetch' ? route.fulfill({ json: { data } }) : route.continue(),
    );
    await visitor.goto(`/apps/${tokens.grantId}/receipt`);
    await page.getByText('Name and links are those of 1 Feb 2025.').waitFor();
    await page.getByText('The words on the screen were not stored at that time.').waitFor();
    await page.getByText('Sharing expired.').waitFor();
    await visitor.takePictures('receipt-of-earlier-release');
    await expectToFit(visitor);
  });

  test('a receipt that the page cannot read is still offered as a file', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART]);
    const visitor = await visits.open('/apps', { session: user });
    const { page } = visitor;
    const data = { grantId: tokens.grantId, receipt: 'e30.bnVsbA.e30' };
    await page.route('**/receipt', (route) =>
      route.request().resourceType() === 'fetch' ? route.fulfill({ json: { data } }) : route.continue(),
    );
    await visitor.goto(`/apps/${tokens.grantId}/receipt`);
    await page.getByText("This receipt can't be shown here. You can still download it.").waitFor();
    await visitor.takePictures('receipt-unreadable');
    await expectToFit(visitor);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download receipt' }).click();
    expect(JSON.parse(await readDownload(download))).toEqual(data);
  });

  test('sharing that ended with its app is explained on the page and on the receipt', async () => {
    const user = await somebody();
    const ended = await registerApp(visits.stack.gateway, developer, { name: 'Short Life' });
    const { grantId } = await ended.connect(user, [HEART]);
    const url = `${ended.gateway}/developer/apps/${ended.clientId}/status`;
    expectStatus(200, await send(url, { bearer: developer, json: { status: 'revoked' } }));
    const visitor = await visits.open(`/apps/${grantId}`, { session: user });
    const { page } = visitor;
    await page.getByText('because the app was shut down').waitFor();
    await visitor.takePictures('connected-app-shut-down');
    await page.getByRole('link', { name: 'View receipt' }).click();
    await page.getByText('Sharing stopped because the app was shut down.').waitFor();
  });

  test('sharing that the app ended itself is told apart from that, on the page and on the receipt', async () => {
    const user = await somebody();
    const leaving = await registerApp(visits.stack.gateway, developer, { name: 'Said Goodbye' });
    const { grantId } = await leaving.connect(user, [HEART]);
    const url = `${leaving.gateway}/oauth/grants/${grantId}`;
    expectStatus(200, await send(url, { method: 'DELETE', bearer: await leaving.userlessToken() }));
    const visitor = await visits.open(`/apps/${grantId}`, { session: user });
    const { page } = visitor;
    await page.getByText(', by the app').waitFor();
    await visitor.takePictures('connected-app-ended-by-the-app');
    await page.getByRole('link', { name: 'View receipt' }).click();
    await page.getByText('The app stopped the sharing.').waitFor();
  });

  test("another person's receipt is reported as missing", async () => {
    const tokens = await app.connect(await somebody(), [HEART]);
    const visitor = await visits.open(`/apps/${tokens.grantId}/receipt`, { session: await somebody() });
    await visitor.page.getByRole('heading', { name: 'There is no such connection' }).waitFor();
  });
}
