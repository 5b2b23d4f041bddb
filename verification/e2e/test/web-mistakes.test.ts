import { expect, test } from '@jest/globals';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

describeWithChromium('after a mistake', afterMistake);

function afterMistake(): void {
  const visits = prepareVisits();

  /** Opens an address in a new window of a browser with another language, or without script. */
  const openPlainly = async (path: string, options: { locale?: string; javaScriptEnabled?: boolean }) => {
    const context = await visits.browser.newContext(options);
    try {
      const page = await context.newPage();
      const response = await page.goto(visits.stack.gateway + path);
      const text = await page.locator('body').textContent();
      return { status: response?.status(), language: await page.locator('html').getAttribute('lang'), text };
    } finally {
      await context.close();
    }
  };

  test.each(['/histroy', '/%zz', '/assets/gone.js'])(
    'a person who opens the mistyped address %s is told so, without having to sign in',
    async (path) => {
      const visitor = await visits.open('/', {});
      const answer = visitor.page.waitForResponse((response) => response.url().endsWith(path));
      await visitor.goto(path);
      expect((await answer).status()).toBe(404);
      const { page } = visitor;
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
      expect(await page.title()).toBe('There is no such page · Your health data');
      await page.getByRole('link', { name: 'Go to the start page' }).click();
      await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'no such page' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/');
    },
  );

  test('the page about a mistyped address has no barrier', async () => {
    const visitor = await visits.open('/histroy', {
      session: await signIn(visits.stack, 'web-mistakes-ada'),
    });
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('no-such-page');
  });

  test('a browser that blocks storage shows the pages, in the language that is chosen', async () => {
    const session = await signIn(visits.stack, 'web-mistakes-ada');
    const visitor = await visits.open('/', { session });
    await visitor.page.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', {
        get() {
          throw new Error('The storage is blocked.');
        },
      });
    });
    await visitor.goto('/histroy');
    await visitor.speak('de');
    await visitor.page.getByRole('heading', { name: 'Diese Seite gibt es nicht' }).waitFor();
  });

  test('a browser without script is told in both languages that the pages need it', async () => {
    const { text } = await openPlainly('/apps', { javaScriptEnabled: false });
    expect(text).toContain('These pages need JavaScript.');
    expect(text).toContain('Diese Seiten brauchen JavaScript.');
  });

  test.each([
    ['de-CH', 'de', 'Dieser Link funktioniert nicht', 'Für den Entwickler der App'],
    ['fr-CH', 'en', 'This link does not work', 'For the app’s developer'],
  ])(
    'a bad link of an app is explained to a browser in %s in %s',
    async (locale, language, title, heading) => {
      const answer = await openPlainly('/oauth/authorize?client_id=unknown', { locale });
      expect([answer.status, answer.language]).toEqual([400, language]);
      expect(answer.text).toContain(title);
      expect(answer.text).toContain(heading);
    },
  );

  test('a mistake in a request is explained, with a way back whose address is shown', async () => {
    const app = await registerApp(visits.stack.gateway, await signIn(visits.stack, 'web-mistakes-maker'));
    const query = new URLSearchParams({ client_id: app.clientId, redirect_uri: app.redirectUri, scope: 'x' });
    const visitor = await visits.open(`/oauth/authorize?response_type=code&${query}`, {});
    await visitor.page.getByRole('heading', { name: 'This request has a mistake' }).waitFor();
    const back = visitor.page.getByRole('link', { name: `Return to ${new URL(app.redirectUri).host}` });
    expect(await back.getAttribute('href')).toContain('error=invalid_scope');
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('gateway-request-with-mistake');
  });
}
