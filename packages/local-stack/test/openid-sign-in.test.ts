import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SmallBrowser } from '@phds/test-kit/small-browser';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as openid from 'openid-client';
import { CLIENT_ID } from './fixtures/started-provider.ts';
import { discover, NONCE, StockClient } from './fixtures/stock-client.ts';

let client: StockClient;

beforeEach(async () => {
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
