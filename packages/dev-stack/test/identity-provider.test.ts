import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createSessionVerifier } from '@phds/service-kit/session';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { createIdentityProvider } from '../src/identity-provider/identity-provider.ts';
import { openUserDirectory } from '../src/identity-provider/user-directory.ts';
import { ensureKeyFiles } from '../src/key-files.ts';

const AUDIENCE = 'phds';

let directory: string;
let server: Server;
let base: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'phds-idp-'));
  const keys = await ensureKeyFiles(directory);
  server = createServer();
  base = `http://localhost:${await listenOnLoopback(server)}`;
  server.on(
    'request',
    createIdentityProvider({
      issuer: base,
      audience: AUDIENCE,
      privateKeyPem: await readFile(keys.identityProviderPrivateKey, 'utf8'),
      publicKeys: await readFile(keys.identityProviderPublicKeys, 'utf8'),
      users: await openUserDirectory(join(directory, 'users.txt')),
    }),
  );
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(directory, { recursive: true, force: true });
});

function post(path: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(base + path, { method: 'POST', body, headers, redirect: 'manual' });
}

const JSON_BODY = { 'Content-Type': 'application/json' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

async function signIn(user: string): Promise<Response> {
  return post('/sessions', JSON.stringify({ user }), JSON_BODY);
}

async function listUserIds(): Promise<string[]> {
  const { users } = (await (await fetch(`${base}/users`)).json()) as { users: { id: string }[] };
  return users.map(({ id }) => id);
}

/** fetch sets the Host header itself, so this uses node:http. */
function getWithHost(host: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request(`${base}/users`, { headers: { host } }, (response) => resolve(response.resume().statusCode))
    .once('error', reject)
    .end();
  return promise;
}

describe('POST /sessions', () => {
  test('returns a session that the services accept for twelve hours', async () => {
    const response = await signIn('ada');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { token, expiresAt, ...rest } = (await response.json()) as { token: string; expiresAt: string };
    expect(rest).toEqual({});
    const jwks = `${base}/.well-known/jwks.json`;
    const session = await createSessionVerifier({ issuer: base, audience: AUDIENCE, jwks })(token);
    expect(session).toMatchObject({ userId: 'ada', expiresAt: new Date(expiresAt) });
    expect(Math.round((Date.parse(expiresAt) - Date.now()) / 3_600_000)).toBe(12);
  });

  test('creates unknown users and keeps them over a restart', async () => {
    expect((await signIn('zoe')).status).toBe(200);
    expect((await signIn('zoe')).status).toBe(200);
    expect(await listUserIds()).toEqual(['ada', 'grace', 'sparse', 'empty', 'zoe']);
    const reopened = await openUserDirectory(join(directory, 'users.txt'));
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

describe('the sign-in page', () => {
  test('shows every user', async () => {
    const page = await (await fetch(`${base}/`)).text();
    for (const name of ['Ada Sommer', 'Grace Miller', 'Sam Reed', 'Emma Stone']) expect(page).toContain(name);
  });

  test('signs in with a cookie and returns to the previous page', async () => {
    const returnTo = 'http://localhost:8080/consent/apr_1?a=1&b=2';
    const form = new URLSearchParams({ user: 'ada', return_to: returnTo });
    const response = await post('/sign-in', form.toString(), FORM);
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(returnTo);
    const cookie = response.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^session=eyJ[^;]+; Max-Age=43200; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
    const page = await fetch(`${base}/`, { headers: { cookie: cookie.split(';')[0] ?? '' } });
    expect(await page.text()).toContain('Signed in as <b>ada</b>');
  });

  test('signs out by removing the cookie', async () => {
    const response = await post('/sign-out', '', FORM);
    expect(response.status).toBe(303);
    expect(response.headers.get('set-cookie')).toMatch(/^session=; Path=\/; Expires=Thu, 01 Jan 1970/);
  });

  test.each([
    'https://localhost:8080/',
    'http://example.com/',
    'http://127.0.0.1:8080/',
    'http://localhost.example.com/',
    'http://me@localhost:8080/',
    'javascript:alert(1)',
    '//example.com',
    '/elsewhere',
  ])('never redirects to %s', async (returnTo) => {
    const query = new URLSearchParams({ return_to: returnTo }).toString();
    expect((await fetch(`${base}/?${query}`)).status).toBe(400);
    const response = await post('/sign-in', `user=ada&${query}`, FORM);
    expect(response.status).toBe(400);
    expect(response.headers.get('set-cookie')).toBeNull();
  });

  test('escapes its input', async () => {
    const query = new URLSearchParams({ return_to: 'http://localhost:8080/"><script>' }).toString();
    expect(await (await fetch(`${base}/?${query}`)).text()).not.toContain('<script>');
  });

  test.each([{ Origin: 'http://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }])(
    'ignores a form of another site: %j',
    async (headers) => {
      const response = await post('/sign-in', 'user=ada', { ...FORM, ...headers } as Record<string, string>);
      expect(response.status).toBe(400);
      expect(response.headers.get('set-cookie')).toBeNull();
    },
  );
});

describe('the identity provider', () => {
  test('answers on loopback host names only', async () => {
    expect(await getWithHost('localhost')).toBe(200);
    expect(await getWithHost('evil.example:8090')).toBe(400);
  });

  test('publishes public keys only', async () => {
    const { keys } = (await (await fetch(`${base}/.well-known/jwks.json`)).json()) as { keys: object[] };
    expect(keys).toEqual([
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: expect.any(String),
        kid: 'identity-provider',
        alg: 'EdDSA',
        use: 'sig',
      },
    ]);
  });

  test('answers 404 for other pages', async () => {
    expect((await fetch(`${base}/nowhere`)).status).toBe(404);
  });
});
