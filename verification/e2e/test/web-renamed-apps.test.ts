import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const DIARY = { name: 'Diabetes Diary', privacyPolicyUrl: 'https://diary.example/privacy' };
const BROKER = { name: 'Data Broker', privacyPolicyUrl: 'https://broker.example/terms' };
const BOTH = 'Diabetes Diary (now: Data Broker)';

describeWithChromium('an app that changes its name and links', pagesOfRenamedApps);

function pagesOfRenamedApps(): void {
  const visits = prepareVisits();
  let developer: string;
  let app: PartnerApp;
  let people = 0;
  let session: string;

  beforeAll(async () => {
    developer = await signIn(visits.stack, 'developer');
  });
  beforeEach(async () => {
    people += 1;
    session = await signIn(visits.stack, `web-renamed-apps-${people}`);
    app = await registerApp(visits.stack.gateway, developer, DIARY);
  });

  const rename = async () => {
    const url = `${visits.stack.gateway}/developer/apps/${app.clientId}`;
    expectStatus(200, await send(url, { method: 'PATCH', bearer: developer, json: BROKER }));
  };

  test("appears with both names on the person's pages, with each change and its time", async () => {
    const { accessToken, grantId } = await app.connect(session, [HEART]);
    await app.read(accessToken, '/api/v1/health-data/heart');
    await rename();
    const visitor = await visits.open('/apps', { session });
    const { page } = visitor;
    await page.getByText('This app has changed its name and its links since you agreed.').waitFor();
    await visitor.takePictures('connected-apps-renamed');
    expect(await visitor.findBarriers()).toEqual([]);
    await page.getByRole('link', { name: BOTH }).click();
    await page.getByRole('heading', { level: 1, name: BOTH }).waitFor();
    const changes = await page.getByRole('listitem').filter({ hasText: 'It changed' }).allTextContents();
    const url = `${visits.stack.gateway}/partner/consent/grants/${grantId}`;
    const { appChanges } = (await send(url, { bearer: session })).body.data;
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'Europe/Berlin' });
    const on = day.format(new Date(appChanges[0].at));
    expect(changes).toEqual([
      `It changed its name on ${on} from “Diabetes Diary” to “Data Broker”.`,
      `It changed the link to its privacy policy on ${on} from ${DIARY.privacyPolicyUrl} to ${BROKER.privacyPolicyUrl}.`,
    ]);
    const policy = page.getByRole('link', { name: 'Privacy policy when you agreed' });
    expect(await policy.getAttribute('href')).toBe(DIARY.privacyPolicyUrl);
    await visitor.takePictures('connected-app-renamed');
    await visitor.lookAs('phone');
    expect([await visitor.findBarriers(), await visitor.findOverflow(2)]).toEqual([[], []]);
    await visitor.lookAs('desktop');
    await visitor.goto('/history');
    await page.locator('summary', { hasText: BOTH }).waitFor();
    expect(await page.getByLabel('App', { exact: true }).locator('option').allTextContents()).toEqual([
      'All apps',
      BOTH,
    ]);
    await visitor.takePictures('access-history-renamed');
  });

  test('keeps its name on an open approval screen; the next request shows the new name beside the old one', async () => {
    const { body } = expectStatus(201, await app.authorize([HEART]));
    const first = await visits.open(body.approval_uri, { session });
    const heading = 'Diabetes Diary wants to read your health data';
    await first.page.getByRole('heading', { name: heading }).waitFor();
    await rename();
    await first.page.reload();
    await first.page.getByRole('heading', { name: heading }).waitFor();
    const screen = new ApprovalScreen(first.page);
    await screen.choose('Heart');
    await first.leave(() => screen.share.click());
    const next = expectStatus(201, await app.authorize([MOOD])).body;
    const visitor = await visits.open(next.approval_uri, { session });
    const { page } = visitor;
    await page.getByRole('heading', { name: 'Data Broker wants to read your health data' }).waitFor();
    await page.getByText('It was called “Diabetes Diary” when you agreed to that.').waitFor();
    await visitor.takePictures('approval-renamed-since');
    expect(await visitor.findBarriers()).toEqual([]);
  });
}
