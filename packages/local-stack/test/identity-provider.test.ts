import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request as sendRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createSessionVerifier } from '@phds/service-kit/trust/session';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { type Page, SmallBrowser } from '@phds/test-kit/small-browser';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as openid from 'openid-client';
import { createIdentityProvider } from '../src/identity-provider/identity-provider.ts';
import type { OpenIdProviderOptions } from '../src/identity-provider/openid-provider.ts';
import { openUserDirectory } from '../src/identity-provider/users.ts';
import { ensureKeyFiles } from '../src/key-files.ts';
import { ManagedProcess } from '../src/managed-process.ts';
import { findRandomPorts } from '../src/ports.ts';
import { toGatewayEnvironment, toIdentityProviderEnvironment } from '../src/service-environments.ts';

const CLIENT_ID = 'phds';
const CLIENT_SECRET = 'a-secret-of-thirty-two-characters';
/** Nothing listens here: tests only check redirects to it. */
const GATEWAY = 'http://localhost:1';

/** A development identity provider in this process, with a place that receives its logout tokens. */
interface StartedProvider extends AsyncDisposable {
  readonly url: string;
  readonly directory: string;
  /** The bodies of all back-channel logout requests. */
  readonly logouts: readonly URLSearchParams[];
}

async function startProvider(options: Partial<OpenIdProviderOptions> = {}): Promise<StartedProvider> {
  const directory = await mkdtemp(join(tmpdir(), 'phds-idp-'));
  const keys = await ensureKeyFiles(directory);
  const logouts: URLSearchParams[] = [];
  const receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    logouts.push(new URLSearchParams(body));
    response.end();
  });
  const server = createServer();
  const url = `http://localhost:${await listenOnLoopback(server)}`;
  const receiverPort = await listenOnLoopback(receiver);
  server.on(
    'request',
    createIdentityProvider({
      issuer: url,
      clientId: CLIENT_ID,
      client: {
        secret: CLIENT_SECRET,
        gatewayUrls: [GATEWAY, 'http://localhost:2'],
        backchannelLogoutUrl: `http://127.0.0.1:${receiverPort}/sign-out/back-channel`,
      },
      privateKeyPem: await readFile(keys.identityProviderPrivateKey, 'utf8'),
      users: await openUserDirectory(join(directory, 'users.txt')),
      ...options,
    }),
  );
  return {
    url,
    directory,
    logouts,
    async [Symbol.asyncDispose]() {
      for (const each of [server, receiver]) {
        each.closeAllConnections();
        each.close();
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const STATE = 'the-state';
const NONCE = 'the-nonce';

/** Configures openid-client by discovery. */
function discover(provider: string, secret = CLIENT_SECRET): Promise<openid.Configuration> {
  const execute = [openid.allowInsecureRequests];
  return openid.discovery(new URL(provider), CLIENT_ID, secret, undefined, { execute });
}

/** A person with a browser, at a service that signs people in with openid-client, unchanged, at a provider of its own. */
class StockClient implements AsyncDisposable {
  readonly provider: StartedProvider;
  readonly openid: openid.Configuration;
  readonly verifier = openid.randomPKCECodeVerifier();
  /** Where people return to from the provider. */
  readonly callback: string;
  browser: SmallBrowser;

  static async start(options: Partial<OpenIdProviderOptions> = {}): Promise<StockClient> {
    return StockClient.connect(await startProvider(options));
  }

  static async connect(provider: StartedProvider, { secret = CLIENT_SECRET, gateway = GATEWAY } = {}) {
    return new StockClient(provider, await discover(provider.url, secret), gateway);
  }

  private constructor(provider: StartedProvider, configuration: openid.Configuration, gateway: string) {
    this.provider = provider;
    this.openid = configuration;
    this.callback = `${gateway}/sign-in/callback`;
    this.browser = new SmallBrowser(provider.url);
  }

  /** Opens the authorization endpoint, and returns the page where the redirects end. */
  async authorize(parameters: Record<string, string> = {}): Promise<Page> {
    return this.browser.open(
      openid.buildAuthorizationUrl(this.openid, {
        redirect_uri: this.callback,
        scope: 'openid',
        state: STATE,
        nonce: NONCE,
        code_challenge: await openid.calculatePKCECodeChallenge(this.verifier),
        code_challenge_method: 'S256',
        ...parameters,
      }),
    );
  }

  exchange({ url }: Page, { verifier = this.verifier, as = this.openid } = {}) {
    const expected = { pkceCodeVerifier: verifier, expectedState: STATE, expectedNonce: NONCE };
    return openid.authorizationCodeGrant(as, url, expected);
  }

  /** Signs in on the page to pick a person. */
  async signIn(user: string, parameters: Record<string, string> = {}) {
    const callback = await this.browser.submit(await this.authorize(parameters), { user });
    const tokens = await this.exchange(callback);
    const claims = tokens.claims();
    if (claims === undefined || tokens.id_token === undefined) throw new Error('there is no ID token');
    return { claims, idToken: tokens.id_token };
  }

  /** Whether the provider signs the person in without asking. */
  async isSignedIn(): Promise<boolean> {
    return this.errorOf(await this.authorize({ prompt: 'none' })) !== 'login_required';
  }

  /** The error that the client was sent back with; null when there is none. */
  errorOf({ url }: Page): string | null {
    const { searchParams } = url;
    const isOurs = searchParams.get('state') === STATE && searchParams.get('iss') === this.provider.url;
    if (!url.href.startsWith(`${this.callback}?`) || !isOurs)
      throw new Error(`${url.href} is not the answer to the request`);
    return searchParams.get('error');
  }

  endSessionUrl(parameters: Record<string, string> = {}): URL {
    const returning = { post_logout_redirect_uri: new URL('/', this.callback).href, state: STATE };
    return openid.buildEndSessionUrl(this.openid, { ...returning, ...parameters });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.provider[Symbol.asyncDispose]();
  }
}

/** The status of a GET with a `Host` header of its own, which fetch does not allow. */
function getWithHost(url: string, host: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  sendRequest(url, { headers: { host } }, (response) => resolve(response.resume().statusCode))
    .once('error', reject)
    .end();
  return promise;
}

let provider: StartedProvider;

function post(path: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(provider.url + path, { method: 'POST', body, headers, redirect: 'manual' });
}

const JSON_BODY = { 'Content-Type': 'application/json' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

async function signIn(user: string): Promise<Response> {
  return post('/sessions', JSON.stringify({ user }), JSON_BODY);
}

async function listUserIds(): Promise<string[]> {
  const { users } = (await (await fetch(`${provider.url}/users`)).json()) as { users: { id: string }[] };
  return users.map(({ id }) => id);
}

describe('POST /sessions', () => {
  test('returns a session that the services accept for twelve hours', async () => {
    const response = await signIn('ada');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { token, expiresAt, ...rest } = (await response.json()) as { token: string; expiresAt: string };
    expect(rest).toEqual({});
    const jwks = await (await fetch(`${provider.url}/.well-known/jwks.json`)).text();
    const verify = createSessionVerifier({ issuer: provider.url, audience: CLIENT_ID, jwks });
    expect(await verify(token)).toMatchObject({
      userId: 'ada',
      name: 'Ada Sommer',
      expiresAt: new Date(expiresAt),
    });
    expect(Math.round((Date.parse(expiresAt) - Date.now()) / 3_600_000)).toBe(12);
  });

  test('creates unknown users and keeps them over a restart', async () => {
    expect((await signIn('zoe')).status).toBe(200);
    expect((await signIn('zoe')).status).toBe(200);
    expect(await listUserIds()).toEqual(['ada', 'grace', 'sparse', 'empty', 'zoe']);
    const reopened = await openUserDirectory(join(provider.directory, 'users.txt'));
    expect(reopened.list().map(({ id }) => id)).toContain('zoe');
  });

  test('accepts JSON with any Content-Type', async () => {
    expect((await post('/sessions', '{"user":"ada"}', FORM)).status).toBe(200);
  });

  test.each(['', '../etc', '-x', 'a b', 'a\n', 'ü', 'x'.repeat(65)])(
    'refuses the user id %j',
    async (user) => {
      const response = await signIn(user);
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({ error: expect.stringContaining('user must be an id') });
    },
  );

  test.each(['{', 'null', '"ada"', '[]', '{"user":7}', '{"user":["ada"]}'])(
    'refuses the body %j',
    async (body) => {
      const response = await post('/sessions', body, JSON_BODY);
      expect(response.status).toBe(400);
      expect(response.headers.get('content-type')).toContain('application/json');
    },
  );
});

describe('the identity provider', () => {
  test('answers on loopback host names only', async () => {
    const url = `${provider.url}/users`;
    expect(await getWithHost(url, 'localhost')).toBe(200);
    expect(await getWithHost(url, 'evil.example:8090')).toBe(400);
    expect(await getWithHost(`${provider.url}/.well-known/openid-configuration`, 'evil.example')).toBe(400);
  });

  test('answers on the host name of its issuer too', async () => {
    await using named = await startProvider({ issuer: 'http://identity-provider.localhost:8090' });
    expect(await getWithHost(`${named.url}/users`, 'identity-provider.localhost:8090')).toBe(200);
    expect(await getWithHost(`${named.url}/users`, 'other.localhost:8090')).toBe(400);
  });

  test('publishes public keys only', async () => {
    const { keys } = (await (await fetch(`${provider.url}/.well-known/jwks.json`)).json()) as {
      keys: object[];
    };
    expect(keys).toEqual([
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: expect.any(String),
        kid: expect.stringMatching(/^[\w-]{43}$/),
        alg: 'EdDSA',
        use: 'sig',
      },
    ]);
  });

  test('links its home page to the service', async () => {
    expect(await (await fetch(`${provider.url}/`)).text()).toContain(`href="${GATEWAY}/"`);
  });

  test('answers 404 with a page for other pages', async () => {
    const response = await fetch(`${provider.url}/nowhere`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('There is no such page.');
  });
});

test('the provider of the stack serves a client with the settings of any gateway, and prints nothing', async () => {
  await using cleanup = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'phds-idp-'));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const ports = await findRandomPorts(2);
  const context = { ports, keys: await ensureKeyFiles(directory), redisUrl: null };
  const logFile = join(directory, 'log');
  const url = `http://localhost:${ports.identityProvider}`;
  let logouts = 0;
  const firstGateway = createServer(({ url: path }, response) => {
    if (path === '/sign-out/back-channel') logouts += 1;
    response.end();
  });
  cleanup.defer(() => void firstGateway.close().closeAllConnections());
  await listenOnLoopback(firstGateway, ports.gateways[0]);

  const provider = new ManagedProcess({
    name: 'identity-provider',
    program: 'packages/local-stack/src/identity-provider/main.ts',
    env: { ...toIdentityProviderEnvironment(context, join(directory, 'users')), ID_TOKEN_SECONDS: '60' },
    logFile,
    readyUrl: `${url}/readyz`,
    notice: () => undefined,
  });
  cleanup.defer(() => provider.kill());
  await provider.start();

  const started = { url, directory, logouts: [], [Symbol.asyncDispose]: async () => undefined };
  for (const [index, port] of ports.gateways.entries()) {
    const settings = toGatewayEnvironment(context, index);
    const secret = (await readFile(settings['OIDC_CLIENT_SECRET_FILE'] ?? '', 'utf8')).trim();
    const gateway = `http://localhost:${port}`;
    expect(settings['OIDC_ISSUER']).toBe(url);
    const client = await StockClient.connect(started, { secret, gateway });
    const { claims, idToken } = await client.signIn('ada');
    expect([claims.sub, claims.aud, claims.exp - claims.iat]).toEqual([
      'ada',
      settings['OIDC_CLIENT_ID'],
      60,
    ]);
    const page = await client.browser.open(client.endSessionUrl({ id_token_hint: idToken }));
    expect((await client.browser.submit(page, { logout: 'yes' })).url.origin).toBe(gateway);
  }
  expect(logouts).toBe(2);
  expect(await readFile(logFile, 'utf8')).toBe('');
  const key = (await readFile(context.keys.signInKey, 'utf8')).trim();
  expect(Buffer.from(key, 'base64').length).toBe(32);
});

let client: StockClient;

beforeEach(async () => {
  // The package warns that it cannot restrict its requests, because Jest's globals have no default dispatcher of undici.
  jest.spyOn(console, 'warn').mockReturnValue();
  client = await StockClient.start();
  provider = client.provider;
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
