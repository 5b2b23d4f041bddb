import { readFile } from 'node:fs/promises';
import { createServer, request as sendRequest } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ensureKeyFiles } from '@phds/service-kit/keys/key-files';
import { createSessionVerifier } from '@phds/service-kit/trust/session';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { shared } from '@phds/test-kit/shared';
import { type Page, SmallBrowser } from '@phds/test-kit/small-browser';
import * as openid from 'openid-client';
import { createIdentityProvider } from '../src/identity-provider/identity-provider.ts';
import { openUserDirectory } from '../src/identity-provider/users.ts';

const CLIENT_ID = 'phds';
const SECRET = 'a-secret-of-thirty-two-characters';
/** Nothing listens here: tests only check redirects to it. */
const GATEWAY = 'http://localhost:1';
const [STATE, NONCE] = ['the-state', 'the-nonce'];

const { directory } = shared.use(openFilesOfTest());
const usersFile = join(directory, 'users.txt');
const { identityProviderPrivateKey } = await ensureKeyFiles(directory);

let url: string;
let client: openid.Configuration;
let browser: SmallBrowser;
let stop: () => void;

beforeEach(async () => {
  const server = createServer();
  url = `http://localhost:${await listenOnLoopback(server)}`;
  const provider = createIdentityProvider({
    issuer: url,
    clientId: CLIENT_ID,
    client: { secret: SECRET, gatewayUrls: [GATEWAY], backchannelLogoutUrl: `${GATEWAY}/` },
    privateKeyPem: await readFile(identityProviderPrivateKey, 'utf8'),
    users: await openUserDirectory(usersFile),
  });
  server.on('request', provider);
  stop = () => void server.close().closeAllConnections();
  jest.spyOn(console, 'warn').mockReturnValue();
  client = await discover(SECRET);
  browser = new SmallBrowser(url);
});
afterEach(() => {
  jest.restoreAllMocks();
  stop();
});

function discover(secret: string): Promise<openid.Configuration> {
  const execute = [openid.allowInsecureRequests];
  return openid.discovery(new URL(url), CLIENT_ID, secret, undefined, { execute });
}

const verifier = openid.randomPKCECodeVerifier();

/** Opens the authorization endpoint of the provider. */
async function authorize(parameters: Record<string, string> = {}): Promise<Page> {
  const asked = {
    redirect_uri: `${GATEWAY}/sign-in/callback`,
    scope: 'openid profile',
    state: STATE,
    nonce: NONCE,
  };
  const pkce = {
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  return browser.open(openid.buildAuthorizationUrl(client, { ...asked, ...pkce, ...parameters }));
}

async function exchange(callback: Page, as = client) {
  const expected = { pkceCodeVerifier: verifier, expectedState: STATE, expectedNonce: NONCE };
  const tokens = await openid.authorizationCodeGrant(as, callback.url, expected);
  return { claims: tokens.claims(), idToken: tokens.id_token ?? '' };
}

const signIn = async (user: string, parameters: Record<string, string> = {}) =>
  exchange(await browser.submit(await authorize(parameters), { user }));

const isSignedIn = async () =>
  (await authorize({ prompt: 'none' })).url.searchParams.get('error') !== 'login_required';

const openSignOut = (parameters: Record<string, string>) =>
  browser.open(
    openid.buildEndSessionUrl(client, {
      post_logout_redirect_uri: `${GATEWAY}/`,
      state: STATE,
      ...parameters,
    }),
  );

describe('POST /sessions', () => {
  const post = (body: string) => fetch(`${url}/sessions`, { method: 'POST', body });

  test('returns a session that the services accept for twelve hours', async () => {
    const { token, expiresAt } = (await (await post('{"user":"ada"}')).json()) as Record<string, string>;
    const jwks = await (await fetch(`${url}/.well-known/jwks.json`)).text();
    expect(jwks).not.toContain('"d"');
    const verify = createSessionVerifier({ issuer: url, audience: CLIENT_ID, jwks });
    const until = new Date(expiresAt ?? '');
    expect(await verify(token ?? '')).toMatchObject({ userId: 'ada', name: 'Ada Sommer', expiresAt: until });
    expect(Math.round((until.getTime() - Date.now()) / 3_600_000)).toBe(12);
  });

  test('creates unknown users and keeps them over a restart', async () => {
    expect((await post('{"user":"zoe"}')).status).toBe(200);
    expect((await openUserDirectory(usersFile)).list().map(({ id }) => id)).toContain('zoe');
  });

  test.each(['{', 'null', '{"user":["ada"]}', '{"user":"../etc"}', '{"user":"a\\n"}'])(
    'refuses %s',
    async (body) => {
      expect((await post(body)).status).toBe(400);
    },
  );
});

test.each(['/users', '/.well-known/openid-configuration'])(
  '%s answers on the host names of this machine only',
  async (path) => {
    const statusAt = (host: string) => {
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      sendRequest(url + path, { headers: { host } }, (answer) => resolve(answer.resume().statusCode)).end();
      return promise;
    };
    expect([await statusAt('localhost'), await statusAt('evil.example:8090')]).toEqual([200, 400]);
  },
);

describe('a stock OpenID client', () => {
  test('needs its secret, which appears in no log', async () => {
    const log = jest.spyOn(console, 'error').mockReturnValue();
    const callback = await browser.submit(await authorize(), { user: 'ada' });
    await expect(exchange(callback, await discover('a-wrong-secret'))).rejects.toMatchObject({
      error: 'invalid_client',
    });
    expect(JSON.stringify(log.mock.calls)).not.toMatch(/a-wrong-secret|a-secret-of/);
  });
});

describe('a sign-out', () => {
  test('with the ID token of somebody else asks first', async () => {
    const { idToken } = await signIn('grace');
    browser = new SmallBrowser(url);
    await signIn('ada');
    expect((await openSignOut({ id_token_hint: idToken })).text).not.toContain('.click()');
    expect(await isSignedIn()).toBe(true);
  });
});

test.each([{ Origin: 'http://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }])(
  'a form of another site signs nobody in or out: %j',
  async (headers: Record<string, string>) => {
    expect((await browser.submit(await authorize(), { user: 'ada' }, { headers })).status).toBe(400);
    expect(await isSignedIn()).toBe(false);
    await signIn('ada');
    const asked = await browser.open('/session/end');
    expect((await browser.submit(asked, { logout: 'yes' }, { headers })).status).toBe(400);
    expect(await isSignedIn()).toBe(true);
  },
);
