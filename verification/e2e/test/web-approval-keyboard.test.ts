import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { Keyboard } from '../src/keyboard.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const MANY = [
  HEART,
  'read:health-data:sleep',
  'read:health-data:activity',
  'read:weight',
  'read:mood',
  'read:medications',
  'read:trends',
];
describeWithChromium('with the keyboard and the roles of a screen reader alone, an approval', keyboardAlone);

function keyboardAlone(): void {
  const visits = prepareVisits();
  let app: PartnerApp;

  beforeAll(async () => {
    const { stack } = visits;
    app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Morning Run' });
  });

  const open = async (user: string, scopes: readonly string[]) => {
    const session = await signIn(visits.stack, user);
    const { body } = expectStatus(201, await app.authorize(scopes));
    const visitor = await visits.open(body.approval_uri, { session });
    const { page } = visitor;
    const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
    const keyboard = new Keyboard(page);
    const screen = new ApprovalScreen(page);
    return { session, visitor, page, screen, keyboard, button, approvalUri: body.approval_uri as string };
  };

  test('is read, previewed, made, seen again, changed by a second one, and declined by a third', async () => {
    const { session, visitor, page, screen, keyboard, button, approvalUri } = await open('keys-life', MANY);
    // Every question has a role and a name.
    await page
      .getByRole('heading', { level: 1, name: 'Morning Run wants to read your health data' })
      .waitFor();
    const what = page.getByRole('region', { name: 'What to share' });
    await what.getByText('Nothing is selected yet.').waitFor();
    const activity = button(/^Activity, sleep and body/);
    expect(await activity.getAttribute('aria-expanded')).toBe('false');
    await keyboard.activate(activity);
    await keyboard.tabTo(
      page.getByRole('group', { name: 'Activity, sleep and body' }).getByRole('checkbox').first(),
    );
    await keyboard.press('Space');
    await screen.summary.getByText(/can read your activity, including new data/).waitFor();
    await what.getByText('1 of 7 selected').waitFor();
    expect(await what.getByText('Nothing is selected yet.').count()).toBe(0);

    await keyboard.activate(button('Preview Activity'));
    const sheet = page.getByRole('dialog', { name: 'Preview: Activity' });
    await keyboard.waitForFocusIn(sheet);
    await keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await button('Preview Activity').and(page.locator(':focus')).waitFor();

    await keyboard.activate(button(/^Very personal/));
    await keyboard.tabTo(screen.scope('Mood'));
    await keyboard.press('Space');
    // The chosen radio button of each group is a stop; arrows choose another.
    await keyboard.tabTo(screen.life.getByRole('radio', { checked: true }));
    await keyboard.press('ArrowLeft');
    await keyboard.tabTo(screen.lookBack.getByRole('radio', { checked: true }));
    await keyboard.press('ArrowRight');
    expect(await screen.limits()).toEqual(['30 days', 'Everything']);
    await keyboard.tabTo(screen.deny);
    const arrival = await visitor.leave(() => keyboard.activate(button('Share 2 types of data')));
    const { body } = expectStatus(200, await app.exchange(arrival.searchParams.get('code') ?? ''));
    expect(body.scope.split(' ')).toEqual(['read:health-data:activity', 'read:mood']);

    await visitor.goto(approvalUri);
    await page.getByRole('heading', { name: "You're sharing with Morning Run" }).waitFor();
    expect(await page.getByRole('definition').first().textContent()).toBe('Activity and Mood');
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-approved-before');

    const second = await open('keys-life', ['read:mood', HEART]);
    await second.keyboard.tabTo(second.screen.scope('Heart'));
    await second.keyboard.press('Space');
    await second.keyboard.tabTo(second.screen.scope('Mood'));
    await second.keyboard.press('Space');
    await second.screen.changes.getByRole('listitem').getByText('Mood will stop.').waitFor();
    await second.visitor.leave(() => second.keyboard.activate(second.button('Agree to these changes')));
    const grant = await send(`${app.gateway}/partner/consent/grants/${body.grant_id}`, { bearer: session });
    expect(grant.body.data.scopes).toEqual([HEART, 'read:health-data:activity']);

    const third = await open('keys-life', ['read:mood']);
    const back = await third.visitor.leave(() => third.keyboard.activate(third.button("Don't share")));
    expect(back.searchParams.get('error')).toBe('access_denied');
  });

  test('is given to another account', async () => {
    const { page, keyboard, button, approvalUri } = await open('keys-switcher', [HEART]);
    const left = page.waitForRequest((request) => request.url().includes('/sign-in?'));
    await keyboard.activate(button('Switch account'));
    const { pathname, searchParams } = new URL((await left).url());
    const path = new URL(approvalUri).pathname;
    expect([pathname, searchParams.get('return_to'), searchParams.get('switch')]).toEqual([
      '/sign-in',
      path,
      '1',
    ]);
    const session = await signIn(visits.stack, 'keys-other');
    const other = await visits.open(approvalUri, { session });
    await other.page.getByRole('heading', { name: 'Morning Run wants to read your health data' }).waitFor();
  });

  test('whose removed scope was narrowed elsewhere keeps it removed', async () => {
    const session = await signIn(visits.stack, 'keys-undecided');
    const { grantId } = await app.connect(session, ['read:weight', 'read:profile', 'read:mood']);
    const { page, visitor, screen, keyboard, button } = await open('keys-undecided', [
      HEART,
      'read:weight',
      'read:profile',
    ]);
    expect(await screen.count()).toBe('Agree');
    const url = `${visits.stack.gateway}/partner/consent/grants/${grantId}`;
    const less = { scopes: ['read:profile'], dataFrom: '2026-02-01' };
    expectStatus(200, await send(url, { method: 'PATCH', json: less, bearer: session }));
    // As if returning from another window.
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    await screen.lookBack.getByText('As now, from 1 Feb 2026').waitFor();
    await page.getByRole('status').getByText('has changed since you opened this page').waitFor();
    await keyboard.activate(button('Agree'));
    await screen.summary.and(page.locator(':focus')).waitFor();
    await visitor.leave(() => keyboard.activate(button('Agree')));
    expect((await send(url, { bearer: session })).body.data).toMatchObject(less);
  });

  test('previews the data of a scope in a sheet, and the choices stay', async () => {
    const { visitor, page, screen } = await open('keys-previewer', [HEART, 'read:weight']);
    await screen.toggle('Weight by day');
    const preview = page.getByRole('button', { name: 'Preview Heart' });
    await preview.click();
    const sheet = page.getByRole('dialog', { name: 'Preview: Heart' });
    await sheet.locator('[data-loading]').waitFor({ state: 'detached' });
    await sheet.getByText(/^Only data from .* on\.$/).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-preview');
    await sheet.getByRole('button', { name: 'Close' }).click();
    await preview.and(page.locator(':focus')).waitFor();
    await screen.chooseLookBack('From today');
    const asked = page.waitForRequest(/consent\/preview/);
    await preview.click();
    const today = await page.evaluate("new Date().toLocaleDateString('sv')");
    expect(new URL((await asked).url()).searchParams.get('dataFrom')).toBe(today);
    await sheet.getByRole('button', { name: 'Close' }).click();
    expect(await screen.count()).toBe('Share 1 type of data');
  });

  test('keeps the choices when the preview cannot be loaded', async () => {
    const { visitor, page, screen } = await open('keys-unlucky', [HEART]);
    await screen.toggle('Heart');
    await page.route('**/assets/scope-preview*.js', (route) => route.abort());
    await page.getByRole('button', { name: 'Preview Heart' }).click();
    const sheet = page.getByRole('dialog');
    await sheet.getByText('The preview could not be loaded.').waitFor();
    await sheet.getByRole('button', { name: 'Close' }).click();
    expect(await screen.count()).toBe('Share 1 type of data');
    // The blocked script.
    visitor.complaints.length = 0;
  });
}
