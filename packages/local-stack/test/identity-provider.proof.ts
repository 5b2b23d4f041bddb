import { readFile } from 'node:fs/promises';
import { createServer, request as sendRequest } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ensureKeyFiles } from '@phds/service-kit/keys/key-files';
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
  // The package warns that its memory and plain HTTP are for development.
  jest.spyOn(console, 'warn').mockReturnValue();
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
  const execute = [openid.allowInsecureRequests];
  client = await openid.discovery(new URL(url), CLIENT_ID, SECRET, undefined, { execute });
  browser = new SmallBrowser(url);
});
afterEach(() => {
  jest.restoreAllMocks();
  stop();
});

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

const signIn = async (user: string) => browser.submit(await authorize(), { user });

const isSignedIn = async () =>
  (await authorize({ prompt: 'none' })).url.searchParams.get('error') !== 'login_required';

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

test('a sign-out with the ID token of somebody else asks first', async () => {
  const { url: callback } = await signIn('grace');
  const expected = { pkceCodeVerifier: verifier, expectedState: STATE, expectedNonce: NONCE };
  const { id_token = '' } = await openid.authorizationCodeGrant(client, callback, expected);
  browser = new SmallBrowser(url);
  await signIn('ada');
  const asked = await browser.open(openid.buildEndSessionUrl(client, { id_token_hint: id_token }));
  expect(asked.text).toContain('name="logout"');
  expect(asked.text).not.toContain('.click()');
  expect(await isSignedIn()).toBe(true);
});
