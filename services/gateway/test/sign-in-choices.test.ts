import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SESSION, type SignInGateway, startSignInGateway } from './sign-in-gateway.ts';
import { TestBrowser } from './test-browser.ts';
import { messageIn } from './test-gateway.ts';

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

  test('switching that was cancelled leaves the session, and can be tried again', async () => {
    const browser = new TestBrowser();
    await plain.signIn(browser, { user: 'ada' });
    const before = browser.cookies.get(SESSION);
    const deviation = { callback: { code: undefined, error: 'access_denied' } };
    const response = await plain.signIn(browser, { parameters: SWITCH, deviation });
    expect(response.status).toBe(403);
    expect(messageIn(await response.text())).toMatchObject({
      code: 'SIGN_IN_REFUSED',
      signIn: '/sign-in?return_to=%2Fapprove%2Fapr_1&switch=1',
    });
    expect(browser.cookies.get(SESSION)).toBe(before);
  });
});
