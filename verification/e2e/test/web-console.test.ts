import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { expectStatus, PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { eventually } from '@phds/test-kit/conditions';
import { registerOnPage } from '../src/registration-page.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
describeWithChromium('the developer console', developerConsole);

function developerConsole(): void {
  const visits = prepareVisits();

  const isAuthenticated = async (app: PartnerApp) =>
    (await app.post('/oauth/token', { grant_type: 'client_credentials', ...app.credentials })).status === 200;

  test('registers an app, shows its secret once, rotates, suspends and revokes it', async () => {
    const session = await signIn(visits.stack, 'web-console-maker');
    const visitor = await visits.open('/console/new', { session });
    const { page } = visitor;
    const app = await registerOnPage(visitor, visits.stack.gateway, 'Sleep Well');
    expect(await isAuthenticated(app)).toBe(true);
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-app-registered');
    await page.getByRole('link', { name: 'I have saved the secret' }).click();
    await page.getByRole('heading', { name: 'Sleep Well' }).waitFor();
    expect(await page.content()).not.toContain(app.clientSecret);

    await visitor.takePictures('console-app-new');
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).click();
    const shown = page.getByRole('region', { name: 'Client secret' }).locator('dd code').nth(1);
    await shown.waitFor();
    await visitor.takePictures('console-app-secret-rotated');
    expect(await isAuthenticated(app)).toBe(false);
    app.clientSecret = (await shown.textContent()) ?? '';
    expect(await isAuthenticated(app)).toBe(true);

    const replaced = new PartnerApp(app.gateway, { clientId: app.clientId, clientSecret: app.clientSecret });
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('The old secret stops working immediately.').waitFor();
    await dialog.getByLabel('The old secret keeps working').selectOption({ label: 'For 7 days' });
    await dialog.getByText('Both secrets work in this time').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-app-rotate-dialog');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await page.getByText('The old secret works until').waitFor();
    app.clientSecret = (await shown.textContent()) ?? '';
    expect(app.clientSecret).not.toBe(replaced.clientSecret);
    expect([await isAuthenticated(replaced), await isAuthenticated(app)]).toEqual([true, true]);
    await page.getByText(`…${replaced.clientSecret.slice(-4)}, works until`).waitFor();
    await visitor.takePictures('console-app-secrets-overlap');
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await dialog.getByText('The secret before').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('button', { name: 'Activate' }).waitFor();
    expect(await isAuthenticated(app)).toBe(false);
    await page.getByRole('button', { name: 'Activate' }).click();
    await page.getByRole('button', { name: 'Suspend' }).waitFor();
    expect(await isAuthenticated(app)).toBe(true);

    await page.getByRole('button', { name: 'Revoke' }).click();
    await visitor.takePictures('console-app-revoke-dialog');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke permanently' }).click();
    await page.getByText('Revoked', { exact: true }).waitFor();
    await visitor.takePictures('console-app-revoked');
    expect(await isAuthenticated(app)).toBe(false);
  });

  test('keeps the input when it is refused, and shows the error at its field', async () => {
    const session = await signIn(visits.stack, 'hasty');
    const visitor = await visits.open('/console/new', { session });
    const { page } = visitor;
    await page.getByLabel('Name', { exact: true }).fill('Hasty');
    await page.getByText('Only the port of an http loopback address').waitFor();
    await page.getByLabel('Redirect URIs').fill('http://not-loopback.example/cb');
    expect(await page.getByRole('checkbox', { name: 'Every request must use PKCE' }).isChecked()).toBe(true);
    await page.getByText('Scopes that the app can request: 0 of 22').waitFor();
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByRole('alert').getByText('Choose at least one scope.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-new-without-scopes');
    await page.getByText(HEART, { exact: true }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Register' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('Nothing was saved.');
    expect(await page.getByLabel('Redirect URIs').inputValue()).toBe('http://not-loopback.example/cb');
    expect(await page.getByLabel('Redirect URIs').getAttribute('aria-invalid')).toBe('true');
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-new-refused');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Not now' }).click();
    await page.getByRole('alert').getByRole('button', { name: 'Sign in again' }).waitFor();
    await visitor.takePictures('console-new-signed-out');
  });

  test('saves changed fields only', async () => {
    const session = await signIn(visits.stack, 'changer');
    const visitor = await visits.open('/console/new', { session });
    const { page } = visitor;
    const { clientId } = await registerOnPage(visitor, visits.stack.gateway, 'Two Windows');
    await page.getByRole('link', { name: 'I have saved the secret' }).click();
    await page.getByLabel('Developer name').fill('Runners Ltd');
    const url = `${visits.stack.gateway}/developer/apps/${clientId}`;
    const elsewhere = { name: 'Renamed', scopes: ['read:profile'], homepageUrl: 'https://renamed.example/' };
    expectStatus(200, await send(url, { method: 'PATCH', json: elsewhere, bearer: session }));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { data } = (await send(url, { bearer: session })).body;
    expect(data).toMatchObject({ ...elsewhere, developerName: 'Runners Ltd' });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Renamed');
    await page.getByLabel('Description').fill('For all');
    await page.getByText('Saved.').waitFor({ state: 'detached' });
  });

  test('shows commands that a shell runs as intended', async () => {
    const session = await signIn(visits.stack, 'caller');
    const redirectUris = ["https://app.example/back?a=1&b='c'"];
    const { gateway } = visits.stack;
    const app = await registerApp(gateway, session, { redirectUris, requirePkce: true, scopes: [HEART] });
    const { page } = await visits.open(`/console/${app.clientId}`, { session });
    const commands = page.getByRole('figure', { name: 'Commands for the first call' }).locator('pre');
    const text = (await commands.textContent()) ?? '';
    expect(text).toContain("# 2: the browser returns to https://app.example/back?a=1&b='c'&code=…&state=xyz");
    // Prints the arguments of each call that are parameters.
    const stubs = 'openssl() { echo +/=; }; curl() { printf "%s\\n" "$@" | grep =; echo; }';
    const env = { ...process.env, CLIENT_SECRET: 'secret', CODE: 'code' };
    const { stdout } = await promisify(execFile)('sh', ['-c', `${stubs}\n${text}`], { env });
    const own = [`client_id=${app.clientId}`, 'client_secret=secret', `redirect_uri=${redirectUris}`];
    const challenge = ['code_challenge=-_', 'code_challenge_method=S256'];
    const [asked = '', exchanged = ''] = stdout.split('\n\n');
    expect(asked.split('\n').toSorted()).toEqual(
      [...own, ...challenge, `scope=${HEART}`, 'state=xyz'].toSorted(),
    );
    expect(exchanged.split('\n').toSorted()).toEqual(
      [...own, 'code=code', 'code_verifier=+/=', 'grant_type=authorization_code'].toSorted(),
    );
  });

  test('shows requests that were refused, by day and status', async () => {
    const session = await signIn(visits.stack, 'refused');
    const app = await registerApp(visits.stack.gateway, session, { name: 'Often Refused' });
    const visitor = await visits.open(`/console/${app.clientId}`, { session });
    const { page } = visitor;
    await page.getByText('No requests yet').waitFor();
    await visitor.takePictures('console-usage-empty');
    const { accessToken } = await app.connect(session, [HEART]);
    for (const path of ['health-data/heart', 'health-data/heart?page=0', 'health-data/heart?page=0', 'mood'])
      await app.read(accessToken, `/api/v1/${path}`);
    const figure = page.getByRole('figure', { name: 'Refused requests by day (UTC) and HTTP status' });
    const usage = `${visits.stack.gateway}/developer/apps/${app.clientId}/usage`;
    await eventually(async () => {
      const { data } = (await send(usage, { bearer: session })).body;
      return data.reduce((sum: number, { refused }: { refused: number }) => sum + refused, 0) === 3;
    });
    await visitor.goto(`/console/${app.clientId}`);
    await figure.getByText('As a table').click();
    expect((await figure.locator('tbody td:not(:first-child)').allTextContents()).toSorted()).toEqual(
      ['400', '2', '403', '1'].toSorted(),
    );
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('console-usage-refused');
    await page.getByRole('link', { name: 'What the errors mean' }).click();
    await page.getByRole('link', { name: 'INSUFFICIENT_SCOPE' }).click();
    await page.getByRole('heading', { name: 'INSUFFICIENT_SCOPE' }).waitFor();
    await visitor.takePictures('problem-page');
  });

  test("shows nothing of another developer's app", async () => {
    const session = await signIn(visits.stack, 'web-console-owner');
    const app = await registerOnPage(
      await visits.open('/console/new', { session }),
      visits.stack.gateway,
      'Mine',
    );
    const other = await visits.open(`/console/${app.clientId}`, {
      session: await signIn(visits.stack, 'web-console-mallory'),
    });
    await other.page.getByRole('heading', { name: 'You have no such app' }).waitFor();
    await other.takePictures('console-app-not-there');
  });
}
