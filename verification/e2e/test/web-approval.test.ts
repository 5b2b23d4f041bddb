import { beforeAll, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type Screen, Visitor } from '@phds/running-system/visitor';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { pickPerson } from '../src/sign-in-page.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
describeWithChromium('the approval screen', approvalScreen);

function approvalScreen(): void {
  const visits = prepareVisits();
  let app: PartnerApp;
  let session: string;
  let developer: string;

  beforeAll(async () => {
    const { stack } = visits;
    developer = await signIn(stack, 'developer');
    session = await signIn(stack, 'web-approval-ada');
    app = await registerApp(stack.gateway, developer, { name: 'Morning Run' });
  });

  const visit = (path: string, options: { session?: string; screen?: Screen } = { session }) =>
    visits.open(path, options);
  const ask = async (scopes: readonly string[], extra: Readonly<Record<string, string>> = {}) => {
    const { body } = expectStatus(201, await app.authorize([...scopes], extra));
    return body as { approval_uri: string; pending_id: string };
  };
  const press = (visitor: Visitor, name: RegExp) =>
    visitor.leave(() => visitor.page.getByRole('button', { name }).click());

  test('shows who requests what, with nothing chosen, accessibly on every screen size', async () => {
    const { approval_uri } = await ask([HEART, 'read:mood', 'read:trends', 'read:profile'], {
      purpose: 'To pace your runs.',
    });
    const visitor = await visit(approval_uri);
    const { page } = visitor;
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      'Morning Run wants to read your health data',
    );
    const facts = ['To pace your runs.', 'localhost:9999', "Morning Run's registered app sent this."];
    for (const text of facts) await page.getByText(text).first().waitFor();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    const groups = page.getByRole('region', { name: 'What to share' }).locator('legend');
    expect(await groups.allTextContents()).toEqual([
      'Vital signs',
      'About you',
      'Very personal',
      'Summaries',
    ]);
    for (const screen of ['phone', 'desktop', 'dark'] as const) {
      await visitor.lookAs(screen);
      expect(await visitor.findBarriers()).toEqual([]);
      expect([await visitor.findOverflow(), await visitor.findOverflow(2)]).toEqual([[], []]);
    }
    await visitor.takePictures('approval');
  });

  test('leads from "connect" to data with the chosen scopes', async () => {
    const { approval_uri } = await ask([HEART, 'read:weight', 'read:profile'], { state: 'a state' });
    const visitor = await visit(approval_uri);
    const screen = new ApprovalScreen(visitor.page);
    await screen.choose('Heart', 'Weight by day');
    await screen.chooseLife('30 days');
    const callback = await press(visitor, /^Share 2 types of data$/);
    expect(callback.searchParams.get('state')).toBe('a state');
    const tokens = expectStatus(200, await app.exchange(callback.searchParams.get('code') ?? '')).body;
    expect(tokens.scope.split(' ').toSorted()).toEqual([HEART, 'read:weight']);
    expect((await app.read(tokens.access_token, '/api/v1/health-data/heart')).status).toBe(200);
    expect((await app.read(tokens.access_token, '/api/v1/profile')).status).toBe(403);
  });

  test('of an app with the longest name and all scopes fits a small phone', async () => {
    const long = await registerApp(visits.stack.gateway, developer, { name: 'Wellbeing'.repeat(11) });
    const purpose = `To ${'understand '.repeat(15)}you.`;
    const { body } = expectStatus(201, await long.authorize([...SCOPE_NAMES], { purpose }));
    const visitor = await visit(body.approval_uri, { session, screen: 'phone' });
    await visitor.takePictures('approval-long-name-everything-asked');
    await visitor.page.setViewportSize({ width: 320, height: 640 });
    expect(await visitor.findOverflow()).toEqual([]);
  });

  test('keeps every choice when the service is unreachable, and continues afterwards', async () => {
    const { approval_uri, pending_id } = await ask([HEART, 'read:mood', 'read:profile']);
    const visitor = await visit(approval_uri);
    const { page } = visitor;
    const screen = new ApprovalScreen(page);
    await screen.choose('Heart', 'Mood', 'Profile');
    await screen.chooseLife('Other');
    await page.getByRole('radiogroup', { name: 'For longer' }).getByText('365 days').click();
    await screen.chooseFirstDay('2026-01-01');
    await page.context().setOffline(true);
    await visitor.loseAnswer(() => screen.share.click());
    await page.getByRole('alert').getByText("We couldn't confirm that. Try again.").waitFor();
    await visitor.takePictures('approval-service-away');
    await page.context().setOffline(false);
    const pending = `${visits.stack.gateway}/partner/consent/pending/${pending_id}`;
    expect((await send(pending, { bearer: session })).body.data.status).toBe('pending');
    const code = (await press(visitor, /^Agree to these changes$/)).searchParams.get('code') ?? '';
    const { grant_id } = expectStatus(200, await app.exchange(code)).body;
    const grant = await send(`${visits.stack.gateway}/partner/consent/grants/${grant_id}`, {
      bearer: session,
    });
    expect(grant.body.data).toMatchObject({ dataFrom: '2026-01-01' });
    expect(grant.body.data.scopes).toContain('read:mood');
    expect(Date.parse(grant.body.data.expiresAt)).toBeGreaterThan(Date.now() + 364 * 86_400_000);
  });

  test('denies the request and confirms it', async () => {
    const { approval_uri } = await ask([HEART]);
    const callback = await press(await visit(approval_uri), /^Don't share$/);
    expect(callback.searchParams.get('error')).toBe('access_denied');
    const later = await visit(approval_uri);
    await later.page.getByRole('heading', { name: 'You declined' }).waitFor();
    expect(await later.findBarriers()).toEqual([]);
    await later.takePictures('approval-denied-before');
  });

  test('asks a signed-out person to sign in, shows nothing of the request, and returns afterwards', async () => {
    const { approval_uri } = await ask([HEART]);
    const visitor = await visit(approval_uri, {});
    expect(await visitor.page.content()).not.toContain('Morning Run');
    await visitor.takePictures('approval-signed-out');
    await visitor.page.getByRole('link', { name: 'Sign in' }).first().click();
    await visitor.page.waitForURL(`${visits.stack.identityProviderUrl}/**`);
    await pickPerson(visitor.page, 'web-approval-arrival');
    await visitor.page.waitForURL(approval_uri);
    await visitor.page.getByRole('heading', { level: 1, name: /Morning Run/ }).waitFor();
  });

  test('shows nothing of a request that another person has opened', async () => {
    const { approval_uri } = await ask([HEART]);
    await visit(approval_uri);
    const other = await visit(approval_uri, { session: await signIn(visits.stack, 'web-approval-mallory') });
    await other.page.getByRole('heading', { name: "This request isn't available" }).waitFor();
    expect(await other.page.content()).not.toContain('Morning Run');
    expect(await other.findBarriers()).toEqual([]);
    await other.takePictures('approval-claimed-by-somebody-else');
  });

  test('of an app that was revoked in the meantime keeps the choices and explains why', async () => {
    const brief = await registerApp(visits.stack.gateway, developer, { name: 'Brief' });
    const { body } = expectStatus(201, await brief.authorize([HEART]));
    const visitor = await visit(body.approval_uri);
    const setStatus = (status: string) =>
      send(`${brief.gateway}/developer/apps/${brief.clientId}/status`, {
        json: { status },
        bearer: developer,
      });
    await setStatus('suspended');
    const screen = new ApprovalScreen(visitor.page);
    await screen.choose('Heart');
    await screen.share.click();
    expect(await visitor.page.getByRole('alert').textContent()).toContain('Nothing was changed.');
    expect(await visitor.page.getByRole('checkbox', { checked: true }).count()).toBe(1);
    await visitor.takePictures('approval-app-suspended-meanwhile');
    await setStatus('revoked');
    const later = await visit(body.approval_uri);
    await later.page.getByRole('heading', { name: 'Brief is no longer active' }).waitFor();
    await later.takePictures('approval-app-revoked');
  });

  test('shows texts of apps as plain text', async () => {
    const hostile = await registerApp(visits.stack.gateway, developer, {
      name: '<img src=x onerror=alert(1)>',
    });
    const { body } = expectStatus(201, await hostile.authorize([HEART], { purpose: '"><b>x' }));
    const { page } = await visit(body.approval_uri);
    await page.getByText('"><b>x').waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
  });

  test('cannot be framed, and a foreign page cannot act', async () => {
    const { approval_uri, pending_id } = await ask([HEART]);
    const foreign = await Visitor.open(visits.browser, { gateway: visits.stack.gateway, session });
    const attack = `<iframe src="${approval_uri}"></iframe>
<form method="post" action="${visits.stack.gateway}/partner/consent/pending/${pending_id}/approve"><button>win</button></form>`;
    await foreign.page.route('http://evil.example/**', (route) =>
      route.fulfill({ body: attack, contentType: 'text/html' }),
    );
    await foreign.page.goto('http://evil.example/', { waitUntil: 'load' });
    const frame = foreign.page.frames().find((candidate) => candidate !== foreign.page.mainFrame());
    expect(frame?.url()).toMatch(/^chrome-error:/);
    const answer = foreign.page.waitForResponse(/\/approve$/);
    await foreign.page.getByRole('button', { name: 'win' }).click();
    expect((await answer).status()).toBe(401);
    await foreign[Symbol.asyncDispose]();
    const url = `${visits.stack.gateway}/partner/consent/pending/${pending_id}`;
    expect((await send(url, { bearer: session })).body.data.status).toBe('pending');
  });
}
