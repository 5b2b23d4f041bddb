import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createSessionVerifier } from '@phds/service-kit/trust/session';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { openUserDirectory } from '../src/identity-provider/users.ts';
import { ensureKeyFiles } from '../src/key-files.ts';
import { ManagedProcess } from '../src/managed-process.ts';
import { findRandomPorts } from '../src/ports.ts';
import { toGatewayEnvironment, toIdentityProviderEnvironment } from '../src/service-environments.ts';
import {
  CLIENT_ID,
  GATEWAY,
  getWithHost,
  type StartedProvider,
  StockClient,
  startProvider,
} from './fixtures/stock-client.ts';

let provider: StartedProvider;

beforeEach(async () => {
  provider = await startProvider();
});

afterEach(async () => {
  await provider[Symbol.asyncDispose]();
});

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
