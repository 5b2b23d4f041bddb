import { expect, test } from '@jest/globals';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { HEART_PATH } from '@phds/running-system/working-system';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { Keyboard } from '../src/keyboard.ts';
import { openSignInTab, pickPerson } from '../src/sign-in-page.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const SCOPES = ['read:health-data:heart', 'read:weight', 'read:mood'];

describeWithChromium('people sign in at an OpenID provider', () => {
  const visits = prepareVisits();

  const ask = async () => {
    const developer = await signIn(visits.stack, 'web-sessions-developer');
    const app = await registerApp(visits.stack.gateway, developer, { name: 'Morning Run' });
    return { app, asked: expectStatus(201, await app.authorize(SCOPES)).body };
  };

  test('an approval link leads through the sign-in and the decision back to the app, which can read', async () => {
    const { app, asked } = await ask();
    const { stack } = visits;
    const visitor = await visits.open(asked.approval_uri, {});
    const { page } = visitor;
    await page.getByRole('link', { name: 'Sign in' }).first().click();
    await page.waitForURL(`${stack.identityProviderUrl}/**`);
    await pickPerson(page, 'sign-in-ada');
    await page.getByRole('heading', { name: /wants to read your health data$/ }).waitFor();
    const cookies = await page.context().cookies(stack.gateway);
    expect(cookies.find(({ name }) => name === 'session')).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    expect(cookies.filter(({ name }) => name.startsWith('sign-in'))).toEqual([]);
    const screen = new ApprovalScreen(page);
    await screen.choose('Heart', 'Weight by day');
    const callback = await visitor.leave(() => screen.share.click());
    const { body } = expectStatus(200, await app.exchange(callback.searchParams.get('code') ?? ''));
    expect((await app.read(body.access_token, HEART_PATH)).status).toBe(200);
  });

  test('an approval whose session ends keeps its choices, and continues after a sign-in in a new tab, which closes', async () => {
    const { app, asked } = await ask();
    const { stack } = visits;
    const session = await signIn(stack, 'web-ended-ada');
    const visitor = await visits.open(asked.approval_uri, { session });
    const { page } = visitor;
    // The page knows the person then.
    await page.getByRole('button', { name: 'Switch account' }).waitFor();
    const screen = new ApprovalScreen(page);
    await screen.choose('Heart', 'Mood');
    await screen.chooseLife('30 days');
    await screen.chooseFirstDay('2026-01-01');
    await page.context().clearCookies();
    await screen.share.click();
    const dialog = page.getByRole('alertdialog', { name: 'Your session has ended' });
    await new Keyboard(page).waitForFocusIn(dialog.getByRole('link', { name: 'Sign in' }));
    expect(await visitor.findBarriers()).toEqual([]);
    await page.setViewportSize({ width: 320, height: 480 });
    expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);

    const tab = await openSignInTab(page);
    const closed = tab.waitForEvent('close');
    await pickPerson(tab, 'web-ended-ada');
    await closed;
    await dialog.waitFor({ state: 'detached' });
    await screen.share.and(page.locator(':focus')).waitFor();
    const pending = await send(`${stack.gateway}/partner/consent/pending/${asked.pending_id}`, {
      bearer: session,
    });
    expect(pending.body.data.status).toBe('pending');
    expect(await screen.limits()).toEqual(['30 days', 'Choose a date']);
    const arrival = await visitor.leave(() => screen.share.press('Enter'));
    const { body } = await app.exchange(arrival.searchParams.get('code') ?? '');
    expect(body.scope.split(' ').toSorted()).toEqual(['read:health-data:heart', 'read:mood']);
    const grant = await send(`${stack.gateway}/partner/consent/grants/${body.grant_id}`, { bearer: session });
    expect(grant.body.data.dataFrom).toBe('2026-01-01');
  });

  test('a page opened with an expired session asks for a sign-in and is there after it; a sign-out clears every open tab, and the next sign-in asks who the person is', async () => {
    const { gateway } = visits.stack;
    const visitor = await visits.open('/apps', {});
    const { page } = visitor;
    await page.getByRole('link', { name: 'Sign in' }).first().click();
    await pickPerson(page, 'sign-in-done');
    await page.getByText('sign-in-done', { exact: true }).waitFor();
    await page.context().clearCookies({ name: 'session' });
    await visitor.goto('/history');
    await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
    // The provider still knows the person.
    await page.getByRole('link', { name: 'Sign in' }).first().click();
    await page.getByRole('heading', { name: 'No reads yet' }).waitFor();
    expect(page.url()).toBe(`${gateway}/history`);

    const other = await page.context().newPage();
    await other.goto(`${gateway}/apps`);
    await other.getByText('sign-in-done', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${gateway}/`);
    await other.getByRole('heading', { name: 'Please sign in' }).waitFor();
    expect(await other.content()).not.toContain('sign-in-done');
    expect((await page.context().cookies(gateway)).filter(({ name }) => name === 'session')).toEqual([]);
    await page.getByRole('link', { name: 'Sign in' }).first().click();
    await page.getByLabel('Somebody else').waitFor();
  });
});
