import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createSessionVerifier } from '@phds/service-kit/trust/session';
import { openUserDirectory } from '../src/identity-provider/user-directory.ts';
import { getWithHost } from './fixtures/host-header.ts';
import { CLIENT_ID, GATEWAY, type StartedProvider, startProvider } from './fixtures/started-provider.ts';

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
