import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Deviation, PUBLIC_URL } from './fake-openid-provider.ts';
import {
  ATTEMPT,
  expectNotAccepted,
  expectPage,
  SESSION,
  type SignInGateway,
  startSignInGateway,
} from './sign-in-gateway.ts';
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

const ENDED = 'This sign-in has ended';

async function expectRefusedAnswer(deviation: Deviation): Promise<void> {
  await expectNotAccepted(browser, await at.signIn(browser, { deviation }));
  expect(browser.names('')).toEqual([]);
}

describe('a callback', () => {
  test.each([
    ['wrong', 'x'.repeat(43)],
    ['missing', undefined],
    ['empty', ''],
    ['not a state', '../../session'],
  ])('with a state that is %s is refused', async (_, state) => {
    await expectPage(browser, await at.signIn(browser, { deviation: { callback: { state } } }), 400, ENDED);
  });

  test('with a second state is refused', async () => {
    const callback = at.provider.authorize(await at.begin(browser), 'ada');
    const response = await browser.open(at.gateway, `${callback}&state=${'x'.repeat(43)}`);
    await expectNotAccepted(browser, response);
  });

  test('in a browser that did not begin the sign-in is refused (login CSRF)', async () => {
    const attacker = new TestBrowser();
    const callback = at.provider.authorize(await at.begin(attacker), 'mallory');
    await expectPage(browser, await browser.open(at.gateway, callback), 400, ENDED);
    await at.begin(browser);
    await expectPage(browser, await browser.open(at.gateway, callback), 400, ENDED);
  });

  test('works once: the second time it is refused, also with the cookie of the sign-in', async () => {
    const callback = at.provider.authorize(await at.begin(browser), 'ada');
    const before = new Map(browser.cookies);
    expect((await browser.open(at.gateway, callback)).status).toBe(303);
    browser.cookies.clear();
    await expectPage(browser, await browser.open(at.gateway, callback), 400, ENDED);
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
    await expectPage(browser, await open(TEN_MINUTES), 400, ENDED);
  });

  test('when it was made with the key of another deployment', async () => {
    const foreign = await at.startReplica({ SIGN_IN_KEY: Buffer.alloc(32, 8).toString('base64') });
    const callback = at.provider.authorize(await at.begin(browser), 'ada');
    await expectPage(browser, await browser.open(foreign, callback), 400, ENDED);
  });

  test('when it was changed, or renamed to another state', async () => {
    const location = await at.begin(browser);
    const [name = ''] = browser.names(ATTEMPT);
    const value = browser.cookies.get(name) ?? '';
    const state = new URL(location).searchParams.get('state') ?? '';
    const middle = Math.floor(value.length / 2);
    const flipped = value[middle] === 'A' ? 'B' : 'A';
    browser.cookies.set(name, value.slice(0, middle) + flipped + value.slice(middle + 1));
    await expectPage(
      browser,
      await browser.open(at.gateway, at.provider.authorize(location, 'ada')),
      400,
      ENDED,
    );

    browser.cookies.clear();
    const other = `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`;
    browser.cookies.set(name, value);
    const renamed = at.provider.authorize(location, 'ada', { callback: { state: other } });
    await expectPage(browser, await browser.open(at.gateway, renamed), 400, ENDED);
  });

  test('when there are two of its name', async () => {
    const callback = at.provider.authorize(await at.begin(browser), 'ada');
    const headers = { cookie: `${browser.header}; ${browser.header}` };
    const response = await at.gateway.fetch(callback, { headers });
    await expectPage(browser, response, 400, ENDED);
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
