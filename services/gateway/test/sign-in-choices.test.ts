import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  expectNotAccepted,
  expectPage,
  SESSION,
  type SignInGateway,
  shareSignInGateway,
  startSignInGateway,
} from './sign-in-gateway.ts';
import { TestBrowser } from './test-browser.ts';

describe('step-up', () => {
  const STEP_UP = { step_up: '1', return_to: '/signed-in' };

  const at = shareSignInGateway({ STEP_UP_MAX_AGE_SECONDS: '300', STEP_UP_ACR: 'gold,phr' });

  async function askedOf(gateway: SignInGateway, parameters: Readonly<Record<string, string>>) {
    const { searchParams } = new URL(await gateway.begin(new TestBrowser(), parameters));
    return [searchParams.get('max_age'), searchParams.get('acr_values')];
  }

  const signedIn = (secondsAgo: number) => Math.floor(at.gateway.clock.now().getTime() / 1000) - secondsAgo;

  describe('a step-up', () => {
    test('asks the provider for the age and the strength of the settings', async () => {
      expect(await askedOf(at, STEP_UP)).toEqual(['300', 'gold phr']);
    });

    test('replaces the session', async () => {
      const browser = new TestBrowser();
      await at.signIn(browser);
      const before = browser.cookies.get(SESSION);
      const deviation = { claims: { auth_time: signedIn(0), acr: 'gold' } };
      expect((await at.signIn(browser, { parameters: STEP_UP, deviation })).status).toBe(303);
      expect(browser.cookies.get(SESSION)).not.toBe(before);
    });

    test.each([
      ['an older sign-in', () => signedIn(1_000)],
      ['a sign-in of an unknown time', () => undefined],
    ])('is not accepted when the provider answers with %s', async (_, authTime) => {
      const browser = new TestBrowser();
      const deviation = { claims: { auth_time: authTime() } };
      await expectNotAccepted(browser, await at.signIn(browser, { parameters: STEP_UP, deviation }));
    });
  });

  describe('a step-up that the provider answers with another acr', () => {
    test.each([undefined, 'bronze'])('shows a page that says so: %j', async (acr) => {
      const browser = new TestBrowser();
      const deviation = { claims: { acr } };
      const response = await at.signIn(browser, { parameters: STEP_UP, deviation });
      const page = await response.clone().text();
      await expectPage(browser, response, 403, 'confirm who you are in a stronger way');
      expect(page).toContain('href="/sign-in?return_to=%2Fsigned-in&amp;step_up=1"');
    });

    test('leaves the session as it was', async () => {
      const browser = new TestBrowser();
      await at.signIn(browser);
      const before = browser.cookies.get(SESSION);
      await at.signIn(browser, { parameters: STEP_UP, deviation: { claims: { acr: 'bronze' } } });
      expect(browser.cookies.get(SESSION)).toBe(before);
    });
  });

  test('an ordinary sign-in asks for neither, and may be old', async () => {
    expect(await askedOf(at, { return_to: '/apps' })).toEqual([null, null]);
    const deviation = { claims: { auth_time: signedIn(1_000) } };
    expect((await at.signIn(new TestBrowser(), { deviation })).status).toBe(303);
  });

  test('without the settings, a step-up is an ordinary sign-in', async () => {
    await using ordinary = await startSignInGateway();
    expect(await askedOf(ordinary, STEP_UP)).toEqual([null, null]);
  });
});

describe('switching the account', () => {
  const RETURN_TO = '/approve/apr_1';
  const SWITCH = { switch: '1', return_to: RETURN_TO };

  /** At a provider that has a page to choose an account. */
  let at: SignInGateway;
  /** At one that does not say that it has. */
  let plain: SignInGateway;

  beforeAll(async () => {
    [at, plain] = await Promise.all([startSignInGateway(), startSignInGateway()]);
    at.provider.metadata['prompt_values_supported'] = ['none', 'login', 'select_account'];
  });
  afterAll(async () => {
    await Promise.all([at[Symbol.asyncDispose](), plain[Symbol.asyncDispose]()]);
  });

  async function promptOf(gateway: SignInGateway, parameters: Readonly<Record<string, string>>) {
    return new URL(await gateway.begin(new TestBrowser(), parameters)).searchParams.get('prompt');
  }

  test('switching the account asks for the choice of an account, at a provider that supports it', async () => {
    expect(await promptOf(at, SWITCH)).toBe('select_account');
  });

  test.each([undefined, ['none', 'login'], 'select_account'])(
    'switching the account asks for a new sign-in at a provider that supports the prompts %j',
    async (supported) => {
      await using other = await startSignInGateway();
      if (supported !== undefined) other.provider.metadata['prompt_values_supported'] = supported;
      expect(await promptOf(other, SWITCH)).toBe('login');
    },
  );

  test.each([{}, { switch: '0' }, { switch: 'true' }])(
    'an ordinary sign-in asks for neither: %j',
    async (parameters) => {
      expect(await promptOf(at, { return_to: RETURN_TO, ...parameters })).toBeNull();
    },
  );

  test('a silent sign-in asks nothing, even when it is to switch the account', async () => {
    expect(await promptOf(at, { ...SWITCH, silent: '1' })).toBe('none');
  });

  test('a step-up may switch the account too', async () => {
    await using strict = await startSignInGateway({ STEP_UP_MAX_AGE_SECONDS: '300' });
    const { searchParams } = new URL(await strict.begin(new TestBrowser(), { ...SWITCH, step_up: '1' }));
    expect([searchParams.get('prompt'), searchParams.get('max_age')]).toEqual(['login', '300']);
  });

  test('switching that was cancelled leaves the session, and can be tried again', async () => {
    const browser = new TestBrowser();
    await plain.signIn(browser, { user: 'ada' });
    const before = browser.cookies.get(SESSION);
    const deviation = { callback: { code: undefined, error: 'access_denied' } };
    const response = await plain.signIn(browser, { parameters: SWITCH, deviation });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('href="/sign-in?return_to=%2Fapprove%2Fapr_1&amp;switch=1"');
    expect(browser.cookies.get(SESSION)).toBe(before);
  });
});
