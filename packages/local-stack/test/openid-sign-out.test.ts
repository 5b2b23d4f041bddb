import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SmallBrowser } from '@phds/test-kit/small-browser';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { CLIENT_ID, CLIENT_SECRET, GATEWAY } from './fixtures/started-provider.ts';
import { STATE, StockClient } from './fixtures/stock-client.ts';

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
