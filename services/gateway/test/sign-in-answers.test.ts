import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import type { Deviation } from './fake-openid-provider.ts';
import { expectNotAccepted, expectPage, type SignInGateway, startSignInGateway } from './sign-in-gateway.ts';
import { TestBrowser } from './test-browser.ts';

let at: SignInGateway;
beforeAll(async () => {
  at = await startSignInGateway();
});
afterAll(async () => at[Symbol.asyncDispose]());

let browser: TestBrowser;
beforeEach(() => {
  browser = new TestBrowser();
});

async function expectRefusedAnswer(deviation: Deviation): Promise<void> {
  await expectNotAccepted(browser, await at.signIn(browser, { deviation }));
  expect(browser.names('')).toEqual([]);
}

describe('an ID token is refused', () => {
  test.each<[string, Record<string, unknown>]>([
    ['with the nonce of another sign-in', { nonce: 'n'.repeat(43) }],
    ['without a nonce', { nonce: undefined }],
    ['of another issuer', { iss: 'https://evil.test' }],
    ['for another audience', { aud: 'another-client' }],
    ['for several audiences without azp', { aud: ['phds web', 'another-client'] }],
    ['that was issued to another client', { aud: ['phds web', 'another-client'], azp: 'another-client' }],
    ['that has expired', { exp: Math.floor(Date.now() / 1000) - 120 }],
    ['without an expiry', { exp: undefined }],
    ['without a subject', { sub: undefined }],
    ['with a subject that cannot be a user', { sub: 'a\u0000b' }],
    ['that is a logout token', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }],
  ])('%s', async (_, claims) => {
    await expectRefusedAnswer({ claims });
  });

  test.each(['at+jwt', 'logout+jwt', 'application/at+jwt'])('with the typ %s', async (typ) => {
    await expectRefusedAnswer({ header: { typ } });
  });

  test('without a signature', async () => {
    await expectRefusedAnswer({ sign: (claims) => new UnsecuredJWT(claims).encode() });
  });

  test("signed with HMAC and the provider's public key (algorithm confusion)", async () => {
    const secret = new TextEncoder().encode(at.provider.publicKey);
    await expectRefusedAnswer({
      sign: (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'provider-1' }).sign(secret),
    });
  });

  test.each(['EdDSA', 'RS256'])('signed with another key of the same id: %s', async (alg) => {
    const { privateKey } = await generateKeyPair(alg);
    await expectRefusedAnswer({
      sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg, kid: 'provider-1' }).sign(privateKey),
    });
  });

  test('whose claims were changed after signing', async () => {
    await expectRefusedAnswer({
      sign: async (claims) => {
        const [header, , signature] = (await at.provider.sign(claims)).split('.');
        const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'grace' })).toString('base64url');
        return `${header}.${changed}.${signature}`;
      },
    });
  });

  test('that does not fit in a cookie, and the page says so', async () => {
    const deviation = { claims: { groups: 'g'.repeat(4_000) } };
    await expectPage(
      browser,
      await at.signIn(browser, { deviation }),
      502,
      'more about you than a browser can store',
    );
    expect(at.gateway.log.join('')).toMatch(/"kind":"too_long","detail":"\d+_bytes"/);
  });
});

test('an ID token for us and others is a session when it was issued to us', async () => {
  const deviation = { claims: { aud: ['phds web', 'another-client'], azp: 'phds web' } };
  expect((await at.signIn(browser, { deviation })).status).toBe(303);
});

describe('a provider', () => {
  test.each([
    ['access_denied', 403, 'access_denied'],
    ['login_required', 403, 'login_required'],
    ['<script>alert(1)</script>', 403, '<code>other</code>'],
    ['temporarily_unavailable', 503, 'not possible right now'],
    ['server_error', 503, 'not possible right now'],
  ])('that answers %s shows a page with a way to try again', async (error, status, text) => {
    const parameters = { return_to: '/apps?a="b' };
    const deviation = { callback: { code: undefined, error, error_description: 'whispered' } };
    const response = await at.signIn(browser, { deviation, parameters });
    const page = await response.clone().text();
    await expectPage(browser, response, status, text);
    expect(page).toContain('href="/sign-in?return_to=%2Fapps%3Fa%3D%2522b">Try again</a>');
    expect(page).not.toMatch(/whispered|<script/);
  });

  test.each([
    [400, { error: 'invalid_grant' }, 502],
    [401, { error: 'invalid_client' }, 502],
    [200, { access_token: 'a', token_type: 'Bearer' }, 502],
    [200, 'not an object', 502],
    [500, { error: 'server_error' }, 503],
    [502, '<html>', 503],
    [429, { error: 'slow_down' }, 503],
  ])('whose token endpoint answers %i with %j leads to the right page', async (status, body, expected) => {
    const response = await at.signIn(browser, { deviation: { tokenAnswer: { status, body } } });
    const text = expected === 503 ? 'not possible right now' : 'could not accept the answer';
    await expectPage(browser, response, expected, text);
  });

  test('whose metadata name another issuer is not used', async () => {
    await using other = await startSignInGateway();
    for (const issuer of ['https://evil.test', `${other.provider.issuer}/`]) {
      other.provider.metadata['issuer'] = issuer;
      await expectPage(browser, await browser.open(other.gateway, '/sign-in'), 503, 'not possible right now');
    }
    expect(other.gateway.log.join('')).toContain('issuer_differs');
  });
});

test('no code, state, nonce, verifier, token, secret or text of the provider is logged', async () => {
  await using other = await startSignInGateway({ LOG_LEVEL: 'trace' });
  const { provider, gateway } = other;
  const secrets = new Set<string>([
    'whispered',
    'access-token-of-provider',
    provider.settings['OIDC_CLIENT_SECRET'] ?? '',
  ]);
  const whispers = { access_token: 'whispered', token_type: 'whispered', id_token: 'whispered' };
  const deviations: Deviation[] = [
    {},
    { claims: { nonce: 'whispered' } },
    { claims: { aud: 'whispered' } },
    { claims: { groups: 'whispered'.repeat(500) } },
    { callback: { iss: 'https://whispered.test' } },
    { callback: { code: undefined, error: 'access_denied', error_description: 'whispered' } },
    { callback: { code: 'whispered' } },
    { tokenAnswer: { status: 200, body: whispers } },
    { tokenAnswer: { status: 400, body: { error: 'invalid_grant', error_description: 'whispered' } } },
    { tokenAnswer: { status: 500, body: whispers } },
  ];
  for (const deviation of deviations) {
    const { searchParams } = new URL(await other.begin(browser));
    for (const name of ['state', 'nonce', 'code_challenge']) secrets.add(searchParams.get(name) ?? '');
    for (const value of browser.cookies.values()) secrets.add(value);
    await other.signIn(browser, { deviation });
    for (const value of browser.cookies.values()) secrets.add(value);
  }
  await provider.stop();
  gateway.clock.advance(60_000);
  await browser.open(gateway, '/sign-in?return_to=/whispered');
  for (const { code = '', code_verifier = '', authorization = '' } of provider.tokenRequests) {
    for (const secret of [code, code_verifier, authorization]) secrets.add(secret);
  }
  expect(secrets.size).toBeGreaterThan(50);
  const log = gateway.log.join('');
  expect(log).toContain('sign-in failed');
  expect([...secrets].filter((secret) => secret !== '' && log.includes(secret))).toEqual([]);
});
