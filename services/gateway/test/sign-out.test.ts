import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { unavailable } from '@phds/service-kit/errors';
import { sha256 } from '@phds/service-kit/secrets';
import { PUBLIC_URL } from './fake-openid-provider.ts';
import { SESSION, type SignInGateway, startSignInGateway } from './sign-in-gateway.ts';
import { TestBrowser } from './test-browser.ts';
import type { TestGateway } from './test-gateway.ts';

let at: SignInGateway;
beforeAll(async () => {
  at = await startSignInGateway();
});
afterAll(async () => at[Symbol.asyncDispose]());

let browser: TestBrowser;
beforeEach(() => {
  browser = new TestBrowser();
  at.gateway.backends.calls.length = 0;
  at.gateway.backends.answer({});
});

const CLEARED = `${SESSION}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure`;
const toTokenHash = (jwt: string) => sha256(jwt.slice(0, jwt.lastIndexOf('.')));

async function signOut(gateway: Pick<TestGateway, 'url'> = at.gateway) {
  const headers = { 'sec-fetch-site': 'same-origin' };
  const response = await browser.open(gateway, '/sign-out', { method: 'POST', headers });
  expect(response.headers.getSetCookie()).toEqual([CLEARED]);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const toUrl = (parameters: Record<string, string>) =>
  `${at.provider.issuer}/logout?${new URLSearchParams({ post_logout_redirect_uri: `${PUBLIC_URL}/`, ...parameters })}`;

test('signing out ends the session and its sid, then leads to the logout of the provider', async () => {
  await at.signIn(browser);
  const jwt = browser.cookies.get(SESSION) ?? '';
  expect(await signOut()).toEqual({
    status: 200,
    body: {
      data: { signedOut: true, continueTo: toUrl({ id_token_hint: jwt, client_id: 'phds web' }) },
    },
  });
  expect(at.gateway.backends.callsOf('endSessions').map(({ request }) => request)).toMatchObject([
    { tokenHash: new Uint8Array(toTokenHash(jwt)), sid: 'sid-of-ada', subject: '' },
  ]);
});

test('a session of the host application is ended too, and is no hint for the provider', async () => {
  const now = Math.floor(at.gateway.clock.now().getTime() / 1000);
  const claims = { iss: at.provider.issuer, aud: 'phds web', sub: 'ada', iat: now, exp: now + 60 };
  const jwt = await at.provider.sign(claims, { typ: 'session+jwt' });
  browser.cookies.set(SESSION, jwt);
  expect((await signOut()).body.data.continueTo).toBe(toUrl({ client_id: 'phds web' }));
  expect(at.gateway.backends.callsOf('endSessions').map(({ request }) => request)).toMatchObject([
    { tokenHash: new Uint8Array(toTokenHash(jwt)), sid: '' },
  ]);
});

test.each([
  ['no cookie', null],
  ['a cookie that is no session', 'expired'],
])('with %s, the provider is still told, and nothing is ended', async (_, cookie) => {
  if (cookie !== null) browser.cookies.set(SESSION, cookie);
  const { status, body } = await signOut();
  expect([status, body.data.continueTo]).toEqual([200, toUrl({ client_id: 'phds web' })]);
  expect(at.gateway.backends.callsOf('endSessions')).toEqual([]);
});

test('when consent does not answer, the cookie is removed and the answer says that the session may go on', async () => {
  await at.signIn(browser);
  at.gateway.backends.answer({
    endSessions: () => {
      throw unavailable();
    },
  });
  expect(await signOut()).toMatchObject({
    status: 503,
    body: { status: 503, title: 'Temporarily unavailable', detail: expect.stringContaining('it may go on') },
  });
  expect(browser.cookies.has(SESSION)).toBe(false);
});

test('when the keys of the provider cannot be fetched, the answer is the same', async () => {
  await using other = await startSignInGateway();
  await using cut = await other.startReplica({ SESSION_JWKS: 'http://127.0.0.1:1/jwks' });
  await other.signIn(browser);
  expect((await signOut(cut)).status).toBe(503);
});

describe('the answer leads nowhere', () => {
  test('when the provider has no logout', async () => {
    await using other = await startSignInGateway();
    delete other.provider.metadata['end_session_endpoint'];
    await other.signIn(browser);
    expect((await signOut(other.gateway)).body.data).toEqual({ signedOut: true, continueTo: null });
    expect(other.gateway.backends.callsOf('endSessions')).toHaveLength(1);
  });

  test('when the provider has gone away since it was asked', async () => {
    await using other = await startSignInGateway();
    await other.signIn(browser);
    await other.provider.stop();
    other.gateway.clock.advance(11_000);
    expect((await signOut(other.gateway)).body.data).toEqual({ signedOut: true, continueTo: null });
    expect(other.gateway.backends.callsOf('endSessions')).toHaveLength(1);
  });

  test('when the provider is away and was never asked before', async () => {
    await using other = await startSignInGateway();
    await other.signIn(browser);
    const late = await other.startReplica();
    await other.provider.stop();
    expect((await signOut(late)).body.data).toEqual({ signedOut: true, continueTo: null });
    expect(late.backends.callsOf('endSessions')).toHaveLength(1);
  });
});

test('a session can be ended when the person may make no more changes', async () => {
  await using other = await startSignInGateway({ LIMIT_USER_CHANGES_PER_MINUTE: '1' });
  await other.signIn(browser);
  const cookie = `${SESSION}=${browser.cookies.get(SESSION)}`;
  const revokeAll = () =>
    other.gateway.fetch('/partner/consent/grants/revoke-all', {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
  await revokeAll();
  expect((await revokeAll()).status).toBe(429);
  expect((await signOut(other.gateway)).status).toBe(200);
  expect(other.gateway.backends.callsOf('endSessions')).toHaveLength(1);
});

test('an ended session is not ended again, so that it cannot end later ones of its sid', async () => {
  await at.signIn(browser);
  const jwt = browser.cookies.get(SESSION) ?? '';
  at.gateway.backends.answer({ checkSession: () => ({ ended: true }) });
  const { status, body } = await signOut();
  expect([status, body.data.continueTo]).toEqual([200, toUrl({ id_token_hint: jwt, client_id: 'phds web' })]);
  expect(at.gateway.backends.callsOf('endSessions')).toEqual([]);
});
