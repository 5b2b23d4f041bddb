import { beforeEach, describe, expect, test } from '@jest/globals';
import { unavailable } from '@phds/service-kit/errors';
import { sha256 } from '@phds/service-kit/secrets';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { PUBLIC_URL } from './fake-openid-provider.ts';
import { SESSION, shareSignInGateway, startSignInGateway, TestBrowser } from './sign-in-gateway.ts';
import { type TestGateway, throwing } from './test-gateway.ts';

const at = shareSignInGateway();

describe('signing out', () => {
  let browser: TestBrowser;
  beforeEach(() => {
    browser = new TestBrowser();
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
    const tokenHash = new Uint8Array(toTokenHash(jwt));
    const named = { tokenHash, sid: 'sid-of-ada' };
    const seconds = BigInt(Math.floor(at.gateway.clock.now().getTime() / 1000));
    const asked = at.gateway.backends.callsOf('checkSession').map(({ request }) => request);
    expect(asked).toMatchObject([{ ...named, subject: 'ada', issuedAt: { seconds } }]);
    expect(at.gateway.backends.callsOf('endSessions').map(({ request }) => request)).toMatchObject([
      { ...named, subject: '' },
    ]);
  });

  test('the end covers a session of a provider whose clock is ahead', async () => {
    const iat = Math.floor(at.gateway.clock.now().getTime() / 1000) + 30;
    await at.signIn(browser, { deviation: { claims: { iat } } });
    await signOut();
    const endedAt = { seconds: BigInt(iat), nanos: 0 };
    expect(at.gateway.backends.callsOf('endSessions').map(({ request }) => request)).toMatchObject([
      { endedAt },
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
      endSessions: throwing(unavailable()),
    });
    expect(await signOut()).toMatchObject({
      status: 503,
      body: {
        status: 503,
        title: 'Temporarily unavailable',
        detail: expect.stringContaining('it may go on'),
      },
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
    await using other = await startSignInGateway({ LIMITS: 'user-changes=1' });
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
    expect([status, body.data.continueTo]).toEqual([
      200,
      toUrl({ id_token_hint: jwt, client_id: 'phds web' }),
    ]);
    expect(at.gateway.backends.callsOf('endSessions')).toEqual([]);
  });
});

describe('logouts of the provider', () => {
  const PATH = '/sign-out/back-channel';
  const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
  const now = () => Math.floor(at.gateway.clock.now().getTime() / 1000);

  type Claims = Record<string, unknown>;

  /** The claims of a right logout token, with changes. */
  const toClaims = (changes: Claims = {}): Claims => ({
    iss: at.provider.issuer,
    aud: 'phds web',
    iat: now(),
    exp: now() + 120,
    jti: 'logout-1',
    events: { [EVENT]: {} },
    sid: 'sid-of-ada',
    sub: 'ada',
    ...changes,
  });

  const sign = (changes: Claims = {}, header: Record<string, string> = { typ: 'logout+jwt' }) =>
    at.provider.sign(toClaims(changes), header);

  const post = (token: string, gateway: TestGateway = at.gateway, headers: Record<string, string> = {}) =>
    gateway.fetch(PATH, { method: 'POST', headers, body: new URLSearchParams({ logout_token: token }) });

  const ended = () => at.gateway.backends.callsOf('endSessions').map(({ request }) => request);

  async function expectRefused(response: Response, reason: RegExp): Promise<void> {
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: expect.stringMatching(reason) },
    ]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(ended()).toEqual([]);
  }

  describe('a logout token of the provider', () => {
    test.each<[string, Claims, object]>([
      ['with sid and sub', {}, { sid: 'sid-of-ada', subject: 'ada' }],
      ['with sid alone', { sub: undefined }, { sid: 'sid-of-ada', subject: '' }],
      ['with sub alone', { sid: undefined }, { sid: '', subject: 'ada' }],
    ])('%s ends these sessions that were issued until its iat', async (_, changes, expected) => {
      const response = await post(await sign(changes));
      expect([response.status, await response.text(), response.headers.get('cache-control')]).toEqual([
        200,
        '',
        'no-store',
      ]);
      const endedAt = { seconds: BigInt(now()), nanos: 0 };
      expect(ended()).toMatchObject([{ ...expected, tokenHash: new Uint8Array(), endedAt }]);
    });

    test.each([{ typ: 'application/logout+JWT' }, { typ: 'JWT' }, {}])(
      'may have the header %j',
      async (header: Record<string, string>) => {
        expect((await post(await sign({}, header))).status).toBe(200);
      },
    );

    test('may be sent again, with the same meaning', async () => {
      const token = await sign();
      expect([(await post(token)).status, (await post(token)).status]).toEqual([200, 200]);
      expect(ended()).toEqual([ended()[0], ended()[0]]);
    });
  });

  describe('a logout token is refused', () => {
    test.each<[string, Claims, RegExp]>([
      ['for another audience', { aud: 'another-client' }, /"aud"/],
      ['of another issuer', { iss: 'https://evil.test' }, /"iss"/],
      ['with a nonce, as an ID token has', { nonce: 'n' }, /nonce/],
      ['without events', { events: undefined }, /events/],
      ['with another event', { events: { 'https://other.test/event': {} } }, /events/],
      ['whose event is not an object', { events: { [EVENT]: 'yes' } }, /events/],
      ['whose events are a list', { events: [EVENT] }, /events/],
      ['without an expiry', { exp: undefined }, /"exp"/],
      ['without a time of issue', { iat: undefined }, /"iat"/],
      ['without a jti', { jti: undefined }, /"jti"/],
      ['without sid and sub', { sid: undefined, sub: undefined }, /sid or sub/],
      ['with an empty sid', { sid: '' }, /sid/],
      ['with a sid that is not a text', { sid: 1 }, /sid/],
      ['with a sub that cannot be a user', { sub: 'a\u0000' }, /sub/],
    ])('%s', async (_, changes, reason) => {
      await expectRefused(await post(await sign(changes)), reason);
    });

    test('that is too old, or from the future', async () => {
      await expectRefused(await post(await sign({ iat: now() - 200, exp: now() - 61 })), /"exp"/);
      await expectRefused(await post(await sign({ iat: now() + 61, exp: now() + 300 })), /future/);
    });

    test.each(['at+jwt', 'session+jwt', 'secevent+jwt'])('with the typ %s', async (typ) => {
      await expectRefused(await post(await sign({}, { typ })), /typ/);
    });

    test('signed with another key, with HMAC and the public key, or not at all', async () => {
      const header = { typ: 'logout+jwt', kid: 'provider-1' };
      const { privateKey } = await generateKeyPair('EdDSA');
      const foreign = await new SignJWT(toClaims())
        .setProtectedHeader({ ...header, alg: 'EdDSA' })
        .sign(privateKey);
      await expectRefused(await post(foreign), /signature/);
      const secret = new TextEncoder().encode(at.provider.publicKey);
      const confused = await new SignJWT(toClaims())
        .setProtectedHeader({ ...header, alg: 'HS256' })
        .sign(secret);
      await expectRefused(await post(confused), /"alg"/);
      await expectRefused(await post(new UnsecuredJWT(toClaims()).encode()), /./);
    });

    test.each(['x', 'a.b.c', 'eyJhbGciOiJub25lIn0..'])('that is not a JWT: %s', async (token) => {
      await expectRefused(await post(token), /logout_token/);
    });
  });

  describe('a request is refused', () => {
    const send = (body: string, type: string) =>
      at.gateway.fetch(PATH, { method: 'POST', headers: { 'content-type': type }, body });
    const FORM = 'application/x-www-form-urlencoded';

    test('without a logout token, or with two', async () => {
      await expectRefused(await send('', FORM), /is required/);
      await expectRefused(await send('logout_token=', FORM), /is required/);
      const token = await sign();
      await expectRefused(await send(`logout_token=${token}&logout_token=${token}`, FORM), /twice/);
    });

    test('with a body that is not a form', async () => {
      const response = await send(JSON.stringify({ logout_token: await sign() }), 'application/json');
      expect([response.status, await response.json()]).toMatchObject([415, { error: 'invalid_request' }]);
      expect(ended()).toEqual([]);
    });
  });

  test('invalid requests are limited by address; right ones never are, because all come from the provider', async () => {
    await using other = await startSignInGateway({ LIMITS: 'failed-authentications=2', TRUST_PROXY: '1' });
    const from = { 'x-forwarded-for': '192.0.2.1' };
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await post('x', other.gateway, from)).status);
    expect(statuses).toEqual([400, 400, 429]);
    const claims = toClaims({ iss: other.provider.issuer });
    const right = await other.provider.sign(claims, { typ: 'logout+jwt' });
    for (let i = 0; i < 3; i += 1) expect((await post(right, other.gateway, from)).status).toBe(200);
  });

  test('no logout token is logged', async () => {
    const tokens = [await sign(), await sign({ aud: 'whispered' }), 'whispered.whispered.whispered'];
    for (const token of tokens) await post(token);
    // The sender chooses the names of parameters and of header parameters.
    const secret = `phds_at_${'a'.repeat(49)}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await at.gateway.fetch(PATH, { method: 'POST', headers, body: `${secret}=1&${secret}=2` });
    const header = { alg: 'EdDSA', kid: 'provider-1', typ: 'logout+jwt', crit: [secret], [secret]: 1 };
    await post(`${Buffer.from(JSON.stringify(header)).toString('base64url')}.e30.AAAA`);
    await post(await sign({}, { typ: secret }));
    const log = at.gateway.log.join('');
    expect(log).not.toContain('phds_at_a');
    expect(log).toContain('a logout of the provider was refused');
    for (const token of tokens) expect(log).not.toContain(token.split('.')[1]);
  });
});
