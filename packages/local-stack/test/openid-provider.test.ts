import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SmallBrowser } from '@phds/test-kit/small-browser';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as openid from 'openid-client';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  discover,
  GATEWAY,
  NONCE,
  STATE,
  StockClient,
} from './fixtures/stock-client.ts';

let client: StockClient;

beforeEach(async () => {
  // The package warns that it cannot restrict its requests, because Jest's globals have no default dispatcher of undici.
  jest.spyOn(console, 'warn').mockReturnValue();
  client = await StockClient.start();
});

afterEach(async () => {
  jest.restoreAllMocks();
  await client[Symbol.asyncDispose]();
});

describe('a stock OpenID client', () => {
  test('signs a person in; the ID token names the person, the session and the time of the sign-in', async () => {
    const page = await client.authorize();
    for (const name of ['Ada Sommer', 'Grace Miller', 'Sam Reed', 'Emma Stone'])
      expect(page.text).toContain(name);
    const callback = await client.browser.submit(page, { user: 'ada' });
    expect(client.errorOf(callback)).toBeNull();
    const { id_token = '' } = await client.exchange(callback);
    const { url } = client.provider;
    const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`));
    const { payload, protectedHeader } = await jwtVerify(id_token, keys);
    const { iat = 0, exp } = payload;
    expect(payload).toEqual({
      iss: url,
      aud: CLIENT_ID,
      sub: 'ada',
      nonce: NONCE,
      sid: expect.any(String),
      auth_time: expect.any(Number),
      iat: expect.any(Number),
      exp: iat + 12 * 3600,
    });
    expect(exp).toBeGreaterThan(Date.now() / 1000);
    const { typ = 'JWT', alg, kid } = protectedHeader;
    expect({ typ, alg }).toEqual({ typ: 'JWT', alg: 'EdDSA' });
    expect(kid).toMatch(/^[\w-]{43}$/);
  });

  test('creates a user who is not known yet', async () => {
    expect((await client.signIn('zoe')).claims.sub).toBe('zoe');
    expect(await (await fetch(`${client.provider.url}/users`)).text()).toContain('"zoe"');
  });

  test('gets the name of the person from the scope profile', async () => {
    const { access_token, id_token = '' } = await client.exchange(
      await client.browser.submit(await client.authorize({ scope: 'openid profile' }), { user: 'ada' }),
    );
    expect(decodeJwt(id_token)).toMatchObject({ sub: 'ada', name: 'Ada Sommer' });
    expect(await openid.fetchUserInfo(client.openid, access_token, 'ada')).toEqual({
      sub: 'ada',
      name: 'Ada Sommer',
    });
  });

  test('gets ID tokens with the configured lifetime', async () => {
    await using brief = await StockClient.start({ idTokenSeconds: 7 });
    const { exp, iat } = (await brief.signIn('ada')).claims;
    expect(exp - iat).toBe(7);
  });

  test('exchanges a code only with the verifier of its own request', async () => {
    const log = jest.spyOn(console, 'error').mockReturnValue();
    const callback = await client.browser.submit(await client.authorize(), { user: 'ada' });
    const error = 'invalid_grant';
    await expect(
      client.exchange(callback, { verifier: openid.randomPKCECodeVerifier() }),
    ).rejects.toMatchObject({ error });
    expect(log.mock.lastCall?.[0]).toContain('The token request was refused');
  });

  test('needs its secret, which appears in no log', async () => {
    const log = jest.spyOn(console, 'error').mockReturnValue();
    const callback = await client.browser.submit(await client.authorize(), { user: 'ada' });
    const wrong = await discover(client.provider.url, 'a-wrong-secret');
    await expect(client.exchange(callback, { as: wrong })).rejects.toMatchObject({ error: 'invalid_client' });
    expect(JSON.stringify(log.mock.calls)).not.toMatch(/a-wrong-secret|a-secret-of/);
  });

  test('must use PKCE', async () => {
    const withoutPkce = { code_challenge: '', code_challenge_method: '' };
    expect(client.errorOf(await client.authorize(withoutPkce))).toBe('invalid_request');
  });

  test('is never sent to an address that is not registered', async () => {
    const page = await client.authorize({ redirect_uri: 'http://localhost:3/sign-in/callback' });
    expect([page.status, page.url.origin]).toEqual([400, client.provider.url]);
    expect(page.text).toContain('redirect_uri');
  });

  test('learns that the person cancelled', async () => {
    expect(client.errorOf(await client.browser.submit(await client.authorize(), { cancel: 'yes' }))).toBe(
      'access_denied',
    );
  });
});

describe('a person who is signed in', () => {
  test('is signed in silently, with the same sid', async () => {
    const { claims } = await client.signIn('ada');
    const callback = await client.authorize({ prompt: 'none' });
    expect(client.errorOf(callback)).toBeNull();
    const again = (await client.exchange(callback)).claims();
    expect(again).toMatchObject({ sub: 'ada', sid: claims['sid'], auth_time: claims.auth_time });
  });

  test('is asked again with prompt=login', async () => {
    await client.signIn('ada');
    const page = await client.authorize({ prompt: 'login' });
    expect(page.text).toContain('Signed in as ada');
    expect(client.errorOf(await client.browser.submit(page, { user: 'ada' }))).toBeNull();
  });

  test('chooses an account with prompt=select_account, which the discovery names', async () => {
    expect(client.openid.serverMetadata()['prompt_values_supported']).toEqual([
      'none',
      'login',
      'select_account',
    ]);
    await client.signIn('ada');
    const page = await client.authorize({ prompt: 'select_account' });
    expect(page.text).toContain('Signed in as ada');
    const callback = await client.browser.submit(page, { user: 'ada' });
    expect((await client.exchange(callback)).claims()?.sub).toBe('ada');
  });

  test('is asked again for another acr, which is then in the ID token', async () => {
    await client.signIn('ada');
    const acr_values = 'confirmed';
    expect(client.errorOf(await client.authorize({ acr_values, prompt: 'none' }))).toBe('login_required');
    expect((await client.signIn('ada', { acr_values })).claims['acr']).toBe('confirmed');
    expect(client.errorOf(await client.authorize({ acr_values, prompt: 'none' }))).toBeNull();
  });
});

test.each(['login', 'select_account'])(
  'a person without a session is asked once with prompt=%s',
  async (prompt) => {
    expect((await client.signIn('grace', { prompt })).claims.sub).toBe('grace');
  },
);

test('a person without a session cannot be signed in silently', async () => {
  expect(await client.isSignedIn()).toBe(false);
});

describe('a sign-in in progress', () => {
  test('belongs to the browser that started it', async () => {
    const page = await client.authorize();
    const other = new SmallBrowser(client.provider.url);
    expect(await other.open(page.url)).toMatchObject({
      status: 400,
      text: expect.stringContaining('Start again'),
    });
    expect((await other.submit(page, { user: 'ada' })).status).toBe(400);
  });

  test('refuses an invalid user id with a reason', async () => {
    const page = await client.browser.submit(await client.authorize(), { user: '../etc' });
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('user must be an id')]);
  });
});

/** The claims of the logout tokens that the service received, verified. */
async function readLogoutTokens() {
  const { url, logouts } = client.provider;
  const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`));
  const expected = { issuer: url, audience: CLIENT_ID, typ: 'logout+jwt' };
  const tokens = logouts.map((form) => jwtVerify(form.get('logout_token') ?? '', keys, expected));
  return (await Promise.all(tokens)).map(({ payload }) => payload);
}

describe('sign-out that the client starts', () => {
  test('ends the session without a question, returns, and tells the service by the back channel', async () => {
    const { claims, idToken } = await client.signIn('ada');
    const page = await client.browser.open(client.endSessionUrl({ id_token_hint: idToken }));
    expect(page.text).toContain('.click()');
    const end = await client.browser.submit(page, { logout: 'yes' });
    expect(end.url.href).toBe(`${GATEWAY}/?state=${STATE}`);
    expect(await client.isSignedIn()).toBe(false);
    expect(await readLogoutTokens()).toEqual([
      {
        iss: client.provider.url,
        aud: CLIENT_ID,
        sub: 'ada',
        sid: claims['sid'],
        jti: expect.any(String),
        iat: expect.any(Number),
        exp: expect.any(Number),
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      },
    ]);
  });

  test('needs no question with an ID token that has expired either', async () => {
    const { idToken } = await client.signIn('ada');
    const nextDay = Date.now() + 24 * 3_600_000;
    jest.spyOn(Date, 'now').mockReturnValue(nextDay);
    const page = await client.browser.open(client.endSessionUrl({ id_token_hint: idToken }));
    expect(page.text).toContain('.click()');
  });

  test.each(['nobody', 'somebody else'])('asks first if the ID token is of %s', async (who) => {
    const other = who === 'nobody' ? null : await client.signIn('grace');
    client.browser = new SmallBrowser(client.provider.url);
    await client.signIn('ada');
    const hint: Record<string, string> = other === null ? {} : { id_token_hint: other.idToken };
    const asked = await client.browser.open(client.endSessionUrl(hint));
    expect(asked.text).not.toContain('<script>');
    expect(await client.isSignedIn()).toBe(true);
    await client.browser.submit(asked, { logout: 'yes' });
    expect(await client.isSignedIn()).toBe(false);
  });

  test('without a page to return to ends on a page of the provider', async () => {
    await client.signIn('ada');
    const end = await client.browser.submit(await client.browser.open('/session/end'), { logout: 'yes' });
    expect([end.status, end.text]).toEqual([200, expect.stringContaining('You are signed out')]);
  });

  test('never returns to an address that is not registered', async () => {
    const { idToken } = await client.signIn('ada');
    const elsewhere = { id_token_hint: idToken, post_logout_redirect_uri: 'http://localhost:3/' };
    const page = await client.browser.open(client.endSessionUrl(elsewhere));
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('not registered')]);
  });

  test('ends the session even if the service cannot be notified, and logs that', async () => {
    const log = jest.spyOn(console, 'error').mockReturnValue();
    const backchannelLogoutUrl = 'http://127.0.0.1:1/sign-out/back-channel';
    const registration = { secret: CLIENT_SECRET, gatewayUrls: [GATEWAY], backchannelLogoutUrl };
    await using alone = await StockClient.start({ client: registration });
    await alone.signIn('ada');
    await alone.browser.submit(await alone.browser.open('/session/end'), { logout: 'yes' });
    expect(await alone.isSignedIn()).toBe(false);
    expect(log.mock.lastCall?.[0]).toContain(`Back-channel logout at ${backchannelLogoutUrl} failed`);
  });
});

test('a person who signs in as somebody else is signed out first, and the service is notified', async () => {
  const { claims } = await client.signIn('ada');
  const page = await client.browser.submit(await client.authorize({ prompt: 'login' }), { user: 'grace' });
  expect(page.text).toContain('Submitting Callback');
  const others = (await client.exchange(await client.browser.submit(page, {}))).claims();
  expect(others?.sub).toBe('grace');
  expect(others?.['sid']).not.toBe(claims['sid']);
  expect(await readLogoutTokens()).toEqual([expect.objectContaining({ sub: 'ada', sid: claims['sid'] })]);
});

describe('a form of another site', () => {
  const foreign: Record<string, string>[] = [
    { Origin: 'http://evil.example' },
    { 'Sec-Fetch-Site': 'cross-site' },
  ];

  test.each(foreign)('signs nobody in: %j', async (headers) => {
    const page = await client.browser.submit(await client.authorize(), { user: 'ada' }, { headers });
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('by another site')]);
    expect(await client.isSignedIn()).toBe(false);
  });

  test.each(foreign)('signs nobody out: %j', async (headers) => {
    await client.signIn('ada');
    const asked = await client.browser.open('/session/end');
    const page = await client.browser.submit(asked, { logout: 'yes' }, { headers });
    expect(page.status).toBe(400);
    expect(await client.isSignedIn()).toBe(true);
  });
});
