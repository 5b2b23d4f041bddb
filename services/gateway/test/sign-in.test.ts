import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { toReturnPath } from '../src/http/sign-in/sign-in.ts';
import { PUBLIC_URL } from './fake-openid-provider.ts';
import {
  ATTEMPT,
  expectMessage,
  SESSION,
  type SignInGateway,
  shareSignInGateway,
  startSignInGateway,
  TestBrowser,
} from './sign-in-gateway.ts';
import { messageIn, startTestGateway } from './test-gateway.ts';

const at = shareSignInGateway();

describe('signing in', () => {
  const newBrowser = () => new TestBrowser();
  const TEN_MINUTES = 10 * 60_000;

  describe('a sign-in', () => {
    test('sends the person to the provider with code, PKCE, state and nonce', async () => {
      const url = new URL(await at.begin(newBrowser()));
      expect(url.origin + url.pathname).toBe(`${at.provider.issuer}/authorize`);
      expect(Object.fromEntries(url.searchParams)).toEqual({
        tenant: '1',
        client_id: 'phds web',
        response_type: 'code',
        redirect_uri: `${PUBLIC_URL}/sign-in/callback`,
        scope: 'openid',
        state: expect.stringMatching(/^[\w-]{43}$/),
        nonce: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge_method: 'S256',
      });
    });

    test('keeps state, nonce and code verifier encrypted in a cookie of this host', async () => {
      const browser = newBrowser();
      const response = await browser.open(at.gateway, '/sign-in');
      const { searchParams } = new URL(response.headers.get('location') ?? '');
      const [field = ''] = response.headers.getSetCookie();
      expect(field).toMatch(/^__Host-sign-in=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/);
      for (const name of ['state', 'nonce']) expect(field).not.toContain(searchParams.get(name));
      expect(response.headers.get('cache-control')).toBe('no-store');
    });

    test('ends with the ID token in the session cookie, at the page where it began', async () => {
      const browser = newBrowser();
      const response = await at.signIn(browser, { parameters: { return_to: '/approve/apr_1?x=%2F1' } });
      expect([response.status, response.headers.get('location')]).toEqual([
        303,
        `${PUBLIC_URL}/approve/apr_1?x=%2F1`,
      ]);
      expect(response.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^__Host-sign-in=; Path=\/; Max-Age=0; /),
        expect.stringMatching(
          /^__Host-session=ey[\w-]+\.ey[\w-]+\.[\w-]+; Path=\/; Max-Age=3(?:599|600); HttpOnly; SameSite=Lax; Secure$/,
        ),
      ]);
      expect(browser.names('')).toEqual([SESSION]);
      const session = await browser.open(at.gateway, '/partner/session');
      expect([session.status, await session.json()]).toMatchObject([200, { data: { userId: 'ada' } }]);
    });

    test('is finished by any replica with the same key', async () => {
      const replica = await at.startReplica();
      const browser = newBrowser();
      const callback = at.provider.authorize(await at.begin(browser, { return_to: '/apps' }), 'grace');
      const response = await browser.open(replica, callback);
      expect([response.status, response.headers.get('location')]).toEqual([303, `${PUBLIC_URL}/apps`]);
      expect((await browser.open(at.gateway, '/partner/session')).status).toBe(200);
    });

    test('in another tab replaces the first, whose answer then is refused and does not end the second', async () => {
      const browser = newBrowser();
      const first = await at.begin(browser, { return_to: '/apps' });
      const second = await at.begin(browser, { return_to: '/data' });
      expect(browser.names(ATTEMPT)).toEqual([ATTEMPT]);
      const refused = await browser.open(at.gateway, at.provider.authorize(first, 'ada'));
      expect(refused.headers.getSetCookie()).toEqual([]);
      await expectMessage(browser, refused, 400, { code: 'SIGN_IN_ENDED', signIn: '/sign-in' });
      const response = await browser.open(at.gateway, at.provider.authorize(second, 'ada'));
      expect([response.status, response.headers.get('location')]).toEqual([303, `${PUBLIC_URL}/data`]);
      expect(browser.names('')).toEqual([SESSION]);
    });

    test('ends in place of one with a cookie that this gateway cannot read', async () => {
      const browser = newBrowser();
      browser.cookies.set(ATTEMPT, 'of-another-key');
      expect((await at.signIn(browser)).status).toBe(303);
    });

    test('sends the client secret in the body if the provider supports only that', async () => {
      await using other = await startSignInGateway();
      other.provider.metadata['token_endpoint_auth_methods_supported'] = ['client_secret_post'];
      expect((await other.signIn(newBrowser())).status).toBe(303);
      expect(other.provider.tokenRequests).toMatchObject([{ client_id: 'phds web', authorization: '' }]);
    });
  });

  describe('while the provider is away', () => {
    test('signing in says so, sessions go on, and the gateway recovers without a restart', async () => {
      await using other = await startSignInGateway();
      const browser = newBrowser();
      await other.signIn(browser);
      const begun = other.provider.authorize(await other.begin(browser), 'ada');
      await other.provider.stop();
      other.gateway.clock.advance(10_000);

      const page = await browser.open(other.gateway, '/sign-in');
      expect([page.status, page.headers.get('retry-after')]).toEqual([503, '1']);
      expect(messageIn(await page.text())).toMatchObject({ code: 'SIGN_IN_UNAVAILABLE' });
      expect((await browser.open(other.gateway, begun)).status).toBe(503);
      expect((await browser.open(other.gateway, '/partner/session')).status).toBe(200);

      await other.provider.start();
      expect((await other.signIn(newBrowser())).status).toBe(303);
    });

    test('a sign-in is finished with the discovery of before', async () => {
      await using other = await startSignInGateway();
      const browser = newBrowser();
      const begun = other.provider.authorize(await other.begin(browser), 'ada');
      other.provider.metadata['issuer'] = 'https://other.test';
      other.gateway.clock.advance(TEN_MINUTES - 1_000);
      expect((await browser.open(other.gateway, begun)).status).toBe(303);
    });
  });

  test('without a provider, the sign-in says so and the callback too; programs get an error as JSON', async () => {
    await using bare = await startTestGateway();
    for (const path of ['/sign-in', '/sign-in/callback?code=1&state=2']) {
      const response = await newBrowser().open(bare, path);
      expect([response.status, messageIn(await response.text())]).toEqual([
        503,
        { code: 'SIGN_IN_NOT_SET_UP', requestId: expect.stringMatching(/^req_\w+$/) as unknown },
      ]);
      const ofProgram = await bare.fetch(path);
      expect([ofProgram.status, await ofProgram.json()]).toMatchObject([503, { code: 'INTERNAL_ERROR' }]);
    }
  });

  test('a program gets the refusals of a sign-in as JSON', async () => {
    const response = await at.gateway.fetch('/sign-in/callback?state=x');
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'INVALID_REQUEST' }]);
  });

  describe('limits', () => {
    test('beginning and finishing sign-ins are limited by address, each for itself', async () => {
      await using other = await startSignInGateway({ LIMITS: 'sign-ins=2', TRUST_PROXY: '1' });
      const open = async (path: string, address = '192.0.2.1') => {
        const response = await other.gateway.fetch(path, { headers: { 'x-forwarded-for': address } });
        return [response.status, response.headers.get('retry-after') !== null];
      };
      expect([await open('/sign-in'), await open('/sign-in'), await open('/sign-in')]).toEqual([
        [303, false],
        [303, false],
        [429, true],
      ]);
      expect(await open('/sign-in', '192.0.2.2')).toEqual([303, false]);
      const callback = '/sign-in/callback?state=x';
      expect([await open(callback), await open(callback), await open(callback)]).toEqual([
        [400, false],
        [400, false],
        [429, true],
      ]);
    });

    test.each(['/sign-in', '/sign-in/callback'])('%s answers GET only', async (path) => {
      const response = await at.gateway.fetch(path, { method: 'POST' });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
    });
  });
});

describe('the return of a sign-in', () => {
  test.each([
    ['/apps', '/apps'],
    ['/a/../data', '/data'],
    ['/data#part', '/data'],
    ['/%2F%2Fevil.test', '/%2F%2Fevil.test'],
    ['/@evil.test', '/@evil.test'],
    ['', '/'],
    ['apps', '/'],
    ['https://evil.test/', '/'],
    [`${PUBLIC_URL}.evil.test/`, '/'],
    [`${PUBLIC_URL}@evil.test/`, '/'],
    ['//evil.test', '/'],
    ['/\\evil.test', '/'],
    ['\\\\evil.test', '/'],
    ['/.//evil.test', '/'],
    ['/%2e%2e//evil.test', '/'],
    ['/\t/evil.test', '/'],
    ['\u0001//evil.test', '/'],
    [' //evil.test', '/'],
    ['/\u2028/evil.test', '/'],
    ['/\r\nSet-Cookie: x=1', '/'],
    ['javascript:alert(1)', '/'],
    ['/sign-in?return_to=/apps', '/'],
    ['/sign-out', '/'],
    [`/${'x'.repeat(1_000)}`, '/'],
  ])('the return_to %j stands for our own %s', (returnTo, path) => {
    expect(toReturnPath(returnTo)).toBe(path);
  });

  test('return_to is the first one when it is given twice, and `/` when its escapes are bad', async () => {
    const browser = new TestBrowser();
    for (const [query, path] of [
      ['return_to=/apps&return_to=//evil.test', '/apps'],
      ['return_to=//evil.test&return_to=/apps', '/'],
      ['return_to=%2F%ff%2Fevil.test', '/'],
      ['return_to=%5C%5Cevil.test', '/'],
      ['return_to=%2F%2Fevil.test', '/'],
    ]) {
      const { headers } = await browser.open(at.gateway, `/sign-in?${query}`);
      const callback = at.provider.authorize(headers.get('location') ?? '', 'ada');
      const response = await browser.open(at.gateway, callback);
      expect([query, response.headers.get('location')]).toEqual([query, `${PUBLIC_URL}${path}`]);
    }
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
