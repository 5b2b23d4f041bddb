import { describe, expect, test } from '@jest/globals';
import { PAGE_MESSAGES, type PageMessage } from '@phds/catalog/page-messages';
import { openPage, screen } from '../kit/page.ts';

const CALLBACK = '/sign-in/callback?state=x&error=%3Cb%3Ecall%20this%20number';
const open = (message: object, language: 'en' | 'de' = 'en', path = CALLBACK) =>
  openPage(path, { isSignedIn: false, language, message: JSON.stringify(message) });
const hrefOf = (name: string) => screen.getByRole('link', { name }).getAttribute('href');

describe('a message of the gateway', () => {
  test.each(PAGE_MESSAGES.flatMap((code) => [[code, 'en'] as const, [code, 'de'] as const]))(
    '%s is shown in %s, with its code and nothing of the address',
    async (code, language) => {
      await using page = await open({ code }, language);
      page.see(code);
      expect(page.find('call this number')).toBeNull();
      expect(page.find(language === 'en' ? 'There is no such page' : 'Diese Seite gibt es nicht')).toBeNull();
      expect(screen.getAllByRole('heading', { level: 1 })).toHaveLength(1);
      expect(await page.findBarriers()).toEqual([]);
    },
  );

  test.each([
    ['SIGN_IN_FAILED', 'Signing in did not work', 'Try again'],
    ['SIGN_IN_ENDED', 'replaced by a newer one', 'Sign in again'],
  ])('%s leads to a new sign-in, and names the request for the operator', async (code, words, link) => {
    const signIn = '/sign-in?return_to=%2Fdata&switch=1';
    await using page = await open({ code, signIn, requestId: 'req_1' });
    page.see(words);
    expect(hrefOf(link)).toBe(signIn);
    page.see(`give the operator of this service this code: ${code} req_1`);
  });

  test.each([
    [true, 'You share no data with this app.'],
    [false, 'Anybody can register an app.'],
  ])('about a request with a mistake links to the app, of a stranger: %s', async (isStranger, why) => {
    const wayBack = { url: 'com.example.app:/cb?error=invalid_scope', host: 'com.example.app', isStranger };
    const message: PageMessage = { code: 'AUTHORIZATION_REFUSED', error: 'invalid_scope', wayBack };
    await using page = await open(message, 'en', '/oauth/authorize?client_id=app_1');
    page.see(why);
    page.see('Code: invalid_scope');
    const link = screen.getByRole<HTMLAnchorElement>('link', { name: 'Return to com.example.app' });
    expect([link.getAttribute('href'), link.rel]).toEqual([wayBack.url, 'noreferrer']);
  });

  test('tells a developer what can be wrong with a link', async () => {
    await using page = await open({ code: 'AUTHORIZATION_LINK_INVALID' });
    page.see('POST /oauth/authorize');
    expect(hrefOf('developer console')).toBe('/console');
  });

  test('stays at its address: the next page is shown as always', async () => {
    await using page = await open({ code: 'AUTHORIZATION_LINK_INVALID' });
    await page.press('Go to the start page', 'link');
    expect([page.path, page.find('This link does not work')]).toEqual(['/', null]);
  });

  test.each(['{"code":"PAY_HERE"}', '{"code":"toString"}', 'PAGE_MESSAGE', '[]', 'null', ''])(
    'that is none (%s) is not shown',
    async (message) => {
      await using page = await openPage('/histroy', { isSignedIn: false, message });
      page.see('There is no such page');
    },
  );

  test('names no error but the known ones', async () => {
    await using page = await open({ code: 'AUTHORIZATION_REFUSED', error: 'call this number' });
    page.see('Code: AUTHORIZATION_REFUSED');
  });
});
