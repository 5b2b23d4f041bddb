import { buffer } from 'node:stream/consumers';
import { beforeAll, expect, test } from '@jest/globals';
import { ingestReadings, setTimeZone } from '@phds/running-system/ingestion';
import { PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { readZip } from '@phds/test-kit/zip-contents';
import { dayOfBrowser } from '../src/day-texts.ts';
import { signInReader } from '../src/history-readers.ts';
import { Keyboard } from '../src/keyboard.ts';
import { describeWithChromium, prepareVisits, readDownload } from '../src/visits.ts';

const DAY_MS = 86_400_000;
const HEART = 'read:health-data:heart';

describeWithChromium('with the keyboard alone', keyboardAlone);

function keyboardAlone(): void {
  const visits = prepareVisits();
  let app: PartnerApp;

  beforeAll(async () => {
    const { stack } = visits;
    app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Morning Run' });
  });

  const open = async (path: string, options: { session?: string }) => {
    const visitor = await visits.open(path, options);
    const { page } = visitor;
    const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
    const link = (name: string) => page.getByRole('link', { name, exact: true });
    return { page, visitor, keyboard: new Keyboard(page), button, link };
  };

  test('a person can sign in and navigate', async () => {
    const { page, keyboard, link } = await open('/', {});
    await keyboard.activate(link('Sign in').first());
    await page.waitForURL(`${visits.stack.identityProviderUrl}/**`);
    await keyboard.fill(page.getByLabel('Somebody else'), 'typist');
    await keyboard.press('Enter');
    await page.getByText('typist').waitFor();
    await keyboard.activate(link('Skip to the content'));
    await keyboard.activate(link('Connected apps').last());
    await page.getByRole('heading', { name: 'No app can read your health data' }).waitFor();
    await keyboard.waitForFocusIn(page.locator('main'));
  });

  test('a page whose script is no longer available is reloaded', async () => {
    const session = await signIn(visits.stack, 'returner');
    const { page, visitor, keyboard, button, link } = await open('/apps', { session });
    await page.route('**/assets/history-page*.js', (route) => route.abort());
    await keyboard.activate(link('Access history'));
    await page.getByRole('heading', { name: 'This page did not load' }).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await keyboard.activate(link('My data'), 'Shift+Tab');
    await page.getByRole('heading', { name: 'My data' }).waitFor();
    await keyboard.activate(link('Access history'), 'Shift+Tab');
    await page.unroute('**/assets/history-page*.js');
    await keyboard.activate(button('Reload'));
    await page.getByRole('heading', { name: 'No reads yet' }).waitFor();
    visitor.complaints.length = 0;
  });

  test('a connected app gets less, and then nothing; the receipt tells it, and can be saved', async () => {
    const session = await signIn(visits.stack, 'web-keyboard-owner');
    const tokens = await app.connect(session, [HEART, 'read:weight']);
    const read = async () => (await app.read(tokens.accessToken, '/api/v1/health-data/heart')).status;
    const { page, visitor, keyboard, button, link } = await open('/apps', { session });
    await keyboard.activate(link('Morning Run'));

    const fold = (title: string) => page.locator('summary', { hasText: title });
    await keyboard.activate(button('Change'));
    await keyboard.tabTo(page.getByRole('checkbox', { name: 'Heart' }));
    await keyboard.press('Space');
    const [year, month, day] = dayOfBrowser(Date.now() + 3 * DAY_MS).split('-');
    await keyboard.fill(page.getByLabel('Last day of sharing'), `${month}${day}${year}`);
    await keyboard.activate(button('Save changes'));
    await page.getByText('Saved. Morning Run can no longer read Heart.').waitFor();
    await keyboard.waitForFocusIn(button('Save changes'));
    expect(await read()).toBe(403);

    await keyboard.activate(button('Stop sharing'), 'Shift+Tab');
    const dialog = page.getByRole('alertdialog');
    await dialog.waitFor();
    await keyboard.waitForFocusIn(dialog.getByRole('button', { name: 'Cancel' }));
    expect(await visitor.findBarriers()).toEqual([]);
    // Nothing moves, so the reduced-motion preference is respected.
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    for (let stops = 0; stops < 4; stops += 1) {
      await keyboard.press('Tab');
      // The controls of the browser are among the stops. What is behind the dialog is not.
      expect(await page.locator(':focus:not(dialog *)').count()).toBe(0);
    }
    await keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.locator('button:focus', { hasText: 'Stop sharing' }).waitFor();
    await keyboard.press('Enter');
    await keyboard.activate(dialog.getByRole('button', { name: 'Stop sharing' }));
    await page.getByText('Morning Run no longer has access.').waitFor();
    await page.locator('h1:focus').waitFor();
    expect(await read()).toBe(401);

    await keyboard.activate(fold('What you agreed to'));
    const events = page
      .getByRole('region', { name: 'What happened' })
      .getByRole('listitem')
      .locator('strong');
    await events.first().waitFor();
    expect(await events.allTextContents()).toEqual([
      'You agreed.',
      'You changed sharing.',
      'You stopped sharing.',
    ]);
    const download = page.waitForEvent('download');
    await keyboard.activate(button('Download receipt'));
    const receipt = expect.stringMatching(/^[\w-]+(\.[\w-]+){2}$/);
    expect(JSON.parse(await readDownload(download))).toEqual({ grantId: tokens.grantId, receipt });
  });

  test('the access history is paged, filtered and exported', async () => {
    const session = await signInReader(visits.stack, app, { user: 'web-keyboard-reader', heartReads: 21 });
    const { page, keyboard, button, link } = await open('/history', { session });
    const line = page.locator('summary', { hasText: 'Morning Run' });
    await keyboard.activate(line);
    await keyboard.activate(button('Older'));
    await page.getByText('Page 2 of 2').waitFor();
    await page.locator('button:focus', { hasText: 'Newer' }).waitFor();

    await keyboard.activate(page.getByText('App, type of data, other days'), 'Shift+Tab');
    await keyboard.fill(page.getByLabel('Type of data'), 'Mood');
    await line.filter({ hasText: '1 read of Mood' }).waitFor();
    await page.getByText(/^Page /).waitFor({ state: 'detached' });
    await page.getByText(/^1 read · /).waitFor();
    await keyboard.fill(page.getByLabel('To', { exact: true }), '01012026');
    await page.getByRole('heading', { name: 'No reads match' }).waitFor();
    await keyboard.activate(button('Remove the filters'));
    await keyboard.activate(button('Show that day'));
    await line.waitFor();

    const download = page.waitForEvent('download');
    await keyboard.activate(link('Export as CSV'), 'Shift+Tab');
    expect((await readDownload(download)).split('\r\n')).toHaveLength(24);
  });

  test('all of my data is downloaded as one archive, and the history says so', async () => {
    const { stack } = visits;
    const user = 'web-keyboard-download';
    const session = await signIn(stack, user);
    await ingestReadings(stack, user, [
      { type: 'Heart Rate', start: new Date().toISOString(), value: 60, source: 'apple-watch' },
    ]);
    const { page, keyboard, link } = await open('/data', { session });
    const download = page.waitForEvent('download');
    await keyboard.activate(link('Download all of it'));
    expect((await download).suggestedFilename()).toBe('my-health-data.zip');
    const files = await readZip(await buffer(await (await download).createReadStream()));
    expect(JSON.parse(files.get('readings/heart-rate.json') ?? '')).toMatchObject([
      { type: 'Heart Rate', value: 60, unit: '/min', source: 'apple-watch' },
    ]);
    expect(files.get('readings/heart-rate.csv')).toMatch(
      /^\uFEFFtype,value,unit,timestamp,end,source\r\nHeart Rate,60,/,
    );
    expect(files.get('index.html')).toContain('<td>Heart: Heart Rate</td><td>1</td>');
    const history = await open('/history', { session });
    await history.page.getByText('You started a download of all of your data').waitFor();
  });

  test('each part of my data can be opened, with its days in the zone of the person', async () => {
    const { stack } = visits;
    const session = await signIn(stack, 'web-keyboard-data');
    const start = new Date(Date.now() - DAY_MS).toISOString();
    await ingestReadings(stack, 'web-keyboard-data', [
      { type: 'Heart Rate', start, value: 60, source: 'apple-watch' },
    ]);
    // In this zone, midnight is at another time than in the browser's.
    await setTimeZone(stack, 'web-keyboard-data', 'Pacific/Kiritimati');
    const { page, keyboard, link } = await open('/data', { session });
    await keyboard.activate(link('Heart'));
    await keyboard.activate(page.getByText('Show as a table'));
    const zone = { timeZone: 'Pacific/Kiritimati', day: 'numeric', month: 'short' } as const;
    const day = new Intl.DateTimeFormat('en-GB', zone).format(Date.parse(start));
    await page.locator('tbody tr td').first().getByText(day, { exact: true }).waitFor();
    await keyboard.activate(link('‹ My data'), 'Shift+Tab');
    await keyboard.activate(link('Mood'));
    await page.getByRole('heading', { name: 'No data here' }).waitFor();
    expect(page.url()).toMatch(/\/data\/read:mood$/);
  });

  test('an app can be registered, changed, suspended and revoked', async () => {
    const session = await signIn(visits.stack, 'web-keyboard-maker');
    const { page, keyboard, button, link } = await open('/console', { session });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const confirm = async (trigger: string, answer: string, key?: 'Shift+Tab') => {
      await keyboard.activate(button(trigger), key);
      await keyboard.activate(page.getByRole('alertdialog').getByRole('button', { name: answer }));
    };
    await keyboard.activate(link('Register an app'));
    await keyboard.fill(page.getByLabel('Name', { exact: true }), 'Typed');
    await keyboard.fill(page.getByLabel('Redirect URIs'), REDIRECT_URI);
    await keyboard.activate(button('Register'));
    await keyboard.waitForFocusIn(page.getByRole('checkbox').first().locator('..'));
    await keyboard.tabTo(page.getByRole('checkbox', { name: 'read:profile' }));
    await keyboard.press('Space');
    await keyboard.activate(button('Register'));
    await page.getByRole('heading', { name: 'Typed is registered' }).waitFor();
    await keyboard.activate(button('Copy the secret'));
    await page.getByText('Copied.').waitFor();
    const clientSecret = String(await page.evaluate('navigator.clipboard.readText()'));
    await keyboard.activate(link('I have saved the secret'));
    await page.getByRole('heading', { name: 'Typed', exact: true }).waitFor();
    const clientId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const typed = new PartnerApp(visits.stack.gateway, { clientId, clientSecret });
    const works = async () =>
      (await typed.post('/oauth/token', { grant_type: 'client_credentials', ...typed.credentials }))
        .status === 200;
    expect(await works()).toBe(true);

    await keyboard.activate(link('Credentials'));
    await confirm('Rotate the secret', 'Rotate');
    await page.getByText('Copy the secret now.').waitFor();
    await keyboard.waitForFocusIn(page.getByText('Copy the secret now.'));
    expect(await works()).toBe(false);
    await keyboard.activate(link('Settings'), 'Shift+Tab');
    await keyboard.fill(page.getByLabel('Redirect URIs'), `http://localhost:9999/other\n`);
    await keyboard.activate(button('Save'));
    await page.getByText('Saved.', { exact: true }).waitFor();
    await confirm('Suspend', 'Suspend');
    await page.getByText('Suspended', { exact: true }).waitFor();
    await keyboard.activate(button('Activate'));
    await page.getByText('Active', { exact: true }).waitFor();
    await confirm('Revoke', 'Revoke permanently');
    await page.getByText('Revoked', { exact: true }).waitFor();
  });
}
