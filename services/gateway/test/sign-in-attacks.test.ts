import { connect } from 'node:net';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { type Deviation, PUBLIC_URL } from './fake-openid-provider.ts';
import {
  ATTEMPT,
  expectMessage,
  expectNotAccepted,
  SESSION,
  shareSignInGateway,
  startSignInGateway,
  TestBrowser,
} from './sign-in-gateway.ts';
import { VISIT } from './test-gateway.ts';

const at = shareSignInGateway();
let browser: TestBrowser;
beforeEach(() => {
  browser = new TestBrowser();
});

async function expectRefusedAnswer(deviation: Deviation): Promise<void> {
  await expectNotAccepted(browser, await at.signIn(browser, { deviation }));
  expect(browser.names('')).toEqual([]);
}

describe('attacks on a sign-in', () => {
  const ENDED = { code: 'SIGN_IN_ENDED' } as const;

  describe('a callback', () => {
    test.each([
      ['wrong', 'x'.repeat(43)],
      ['missing', undefined],
      ['not a state', '../../session'],
    ])('with a state that is %s is refused', async (_, state) => {
      await expectMessage(
        browser,
        await at.signIn(browser, { deviation: { callback: { state } } }),
        400,
        ENDED,
      );
    });

    test('with a second state is refused', async () => {
      const callback = at.provider.authorize(await at.begin(browser), 'ada');
      const response = await browser.open(at.gateway, `${callback}&state=${'x'.repeat(43)}`);
      await expectNotAccepted(browser, response);
    });

    test('in a browser that did not begin the sign-in is refused (login CSRF)', async () => {
      const attacker = new TestBrowser();
      const callback = at.provider.authorize(await at.begin(attacker), 'mallory');
      await expectMessage(browser, await browser.open(at.gateway, callback), 400, ENDED);
      await at.begin(browser);
      await expectMessage(browser, await browser.open(at.gateway, callback), 400, ENDED);
    });

    test('works once: the second time it is refused, also with the cookie of the sign-in', async () => {
      const callback = at.provider.authorize(await at.begin(browser), 'ada');
      const before = new Map(browser.cookies);
      expect((await browser.open(at.gateway, callback)).status).toBe(303);
      browser.cookies.clear();
      await expectMessage(browser, await browser.open(at.gateway, callback), 400, ENDED);
      for (const [name, value] of before) browser.cookies.set(name, value);
      await expectNotAccepted(browser, await browser.open(at.gateway, callback));
    });

    test('with the code of another sign-in is refused (PKCE)', async () => {
      const stolen = at.provider.authorize(await at.begin(new TestBrowser()), 'mallory');
      const code = new URL(stolen, PUBLIC_URL).searchParams.get('code') ?? '';
      await expectRefusedAnswer({ callback: { code } });
    });

    test.each([
      ['of another issuer', 'https://evil.test'],
      ['missing', undefined],
    ])('whose iss is %s is refused before its code is used (mix-up)', async (_, iss) => {
      const before = at.provider.tokenRequests.length;
      await expectRefusedAnswer({ callback: { iss } });
      expect(at.provider.tokenRequests).toHaveLength(before);
    });

    test.each(['response', 'id_token', 'token'])('of another flow, with %s, is refused', async (name) => {
      await expectRefusedAnswer({ callback: { [name]: 'x' } });
    });
  });

  describe('a cookie of a sign-in is refused', () => {
    const TEN_MINUTES = 10 * 60_000;

    test('after ten minutes', async () => {
      await using other = await startSignInGateway();
      const open = async (age: number) => {
        const callback = other.provider.authorize(await other.begin(browser), 'ada');
        other.gateway.clock.advance(age);
        return browser.open(other.gateway, callback);
      };
      expect((await open(TEN_MINUTES - 1_000)).status).toBe(303);
      browser.cookies.clear();
      await expectMessage(browser, await open(TEN_MINUTES), 400, ENDED);
    });

    test('when it was made with the key of another deployment', async () => {
      const foreign = await at.startReplica({ SIGN_IN_KEY: Buffer.alloc(32, 8).toString('base64') });
      const callback = at.provider.authorize(await at.begin(browser), 'ada');
      await expectMessage(browser, await browser.open(foreign, callback), 400, ENDED);
    });

    test('when it was changed, or its state is not that of the answer', async () => {
      const location = await at.begin(browser);
      const value = browser.cookies.get(ATTEMPT) ?? '';
      const state = new URL(location).searchParams.get('state') ?? '';
      const middle = Math.floor(value.length / 2);
      const flipped = value[middle] === 'A' ? 'B' : 'A';
      browser.cookies.set(ATTEMPT, value.slice(0, middle) + flipped + value.slice(middle + 1));
      await expectMessage(
        browser,
        await browser.open(at.gateway, at.provider.authorize(location, 'ada')),
        400,
        ENDED,
      );

      browser.cookies.clear();
      const other = `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`;
      browser.cookies.set(ATTEMPT, value);
      const changed = at.provider.authorize(location, 'ada', { callback: { state: other } });
      await expectMessage(browser, await browser.open(at.gateway, changed), 400, ENDED);
    });

    test('when there are two of its name', async () => {
      const callback = at.provider.authorize(await at.begin(browser), 'ada');
      const headers = { ...VISIT, cookie: `${browser.header}; ${browser.header}` };
      const response = await at.gateway.fetch(callback, { headers });
      await expectMessage(browser, response, 400, ENDED);
    });
  });

  describe('a session cookie fixed beforehand', () => {
    test('is replaced by signing in', async () => {
      browser.cookies.set(SESSION, await at.provider.sign({ sub: 'mallory' }));
      await at.signIn(browser, { user: 'ada' });
      const session = await browser.open(at.gateway, '/partner/session');
      expect(await session.json()).toMatchObject({ data: { userId: 'ada' } });
    });

    test('beside the right one makes the request one without a session', async () => {
      await at.signIn(browser, { user: 'ada' });
      const own = browser.header;
      const mallory = new TestBrowser();
      await at.signIn(mallory, { user: 'mallory' });
      for (const cookie of [`${own}; ${mallory.header}`, `${mallory.header}; ${own}`]) {
        expect((await at.gateway.fetch('/partner/session', { headers: { cookie } })).status).toBe(401);
      }
    });

    test('with a name that only resembles the right one is not the session', async () => {
      await at.signIn(browser, { user: 'ada' });
      // Without the prefix, another host of the domain can set a cookie. Some servers trim more than browsers do.
      for (const space of ['\u00a0', '\u0085', '\u000b', '\u000c']) {
        const cookie = `${space}${browser.header}`;
        const status = (await rawStatus(at.gateway.port, cookie)).slice(0, 12);
        expect([space, status]).toEqual([space, expect.not.stringContaining('200')]);
      }
    });
  });

  /** The status line of a request for the session with raw bytes in its cookie, which fetch would not send. */
  function rawStatus(port: number, cookie: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket = connect(port, '127.0.0.1', () => {
      const head = `GET /partner/session HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: ${cookie}\r\n\r\n`;
      socket.write(head, 'latin1');
    });
    socket.once('error', reject);
    socket.once('data', (bytes) => {
      socket.destroy();
      resolve(bytes.toString('latin1'));
    });
    return promise;
  }
});

describe('answers of the provider', () => {
  // How an ID token is verified is in the tests of sessions of service-kit.
  describe('an ID token is refused', () => {
    test.each<[string, Deviation]>([
      ['with the nonce of another sign-in', { claims: { nonce: 'n'.repeat(43) } }],
      ['without a nonce', { claims: { nonce: undefined } }],
      ['for another audience', { claims: { aud: 'another-client' } }],
      ['that is an access token', { header: { typ: 'at+jwt' } }],
    ])('%s', async (_, deviation) => {
      await expectRefusedAnswer(deviation);
    });

    test('that does not fit in a cookie, and the message says so', async () => {
      const deviation = { claims: { groups: 'g'.repeat(4_000) } };
      await expectMessage(browser, await at.signIn(browser, { deviation }), 502, {
        code: 'SIGN_IN_TOKEN_TOO_LONG',
      });
      expect(at.gateway.log.join('')).toMatch(/"kind":"too_long","detail":"\d+_bytes"/);
    });
  });

  describe('a provider', () => {
    test.each([
      ['access_denied', 403, 'SIGN_IN_REFUSED'],
      ['<script>alert(1)</script>', 403, 'SIGN_IN_REFUSED'],
      ['temporarily_unavailable', 503, 'SIGN_IN_UNAVAILABLE'],
    ] as const)(
      'that answers %s is told, without its words and with a way to try again',
      async (error, status, code) => {
        const parameters = { return_to: '/apps?a="b' };
        const deviation = { callback: { code: undefined, error, error_description: 'whispered' } };
        const response = await at.signIn(browser, { deviation, parameters });
        const page = await response.clone().text();
        const signIn = '/sign-in?return_to=%2Fapps%3Fa%3D%2522b';
        const requestId = expect.stringMatching(/^req_\w+$/) as unknown as string;
        await expectMessage(browser, response, status, { code, signIn, requestId });
        for (const words of ['whispered', 'access_denied', 'alert']) expect(page).not.toContain(words);
      },
    );

    test.each([
      [400, { error: 'invalid_grant' }, 502],
      [200, { access_token: 'a', token_type: 'Bearer' }, 502],
      [200, 'not an object', 502],
      [502, '<html>', 503],
    ])(
      'whose token endpoint answers %i with %j leads to the right message',
      async (status, body, expected) => {
        const response = await at.signIn(browser, { deviation: { tokenAnswer: { status, body } } });
        const code = expected === 503 ? 'SIGN_IN_UNAVAILABLE' : 'SIGN_IN_FAILED';
        await expectMessage(browser, response, expected, { code });
      },
    );

    test('whose metadata name another issuer is not used', async () => {
      await using other = await startSignInGateway();
      for (const issuer of ['https://evil.test', `${other.provider.issuer}/`]) {
        other.provider.metadata['issuer'] = issuer;
        await expectMessage(browser, await browser.open(other.gateway, '/sign-in'), 503, {
          code: 'SIGN_IN_UNAVAILABLE',
        });
        const { log } = await other.startReplica();
        await eventually(() => log.some((line) => line.includes('"setting":"OIDC_ISSUER"')));
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
    const add = (...values: string[]) => {
      for (const value of values) secrets.add(value);
    };
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
      add(...['state', 'nonce', 'code_challenge'].map((name) => searchParams.get(name) ?? ''));
      add(...browser.cookies.values());
      await other.signIn(browser, { deviation });
      add(...browser.cookies.values());
    }
    await provider.stop();
    gateway.clock.advance(60_000);
    await browser.open(gateway, '/sign-in?return_to=/whispered');
    for (const { code = '', code_verifier = '', authorization = '' } of provider.tokenRequests) {
      add(code, code_verifier, authorization);
    }
    expect(secrets.size).toBeGreaterThan(50);
    const log = gateway.log.join('');
    expect(log).toContain('sign-in failed');
    expect([...secrets].filter((secret) => secret !== '' && log.includes(secret))).toEqual([]);
  });
});
