import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'web-'));
  await mkdir(join(directory, 'assets'));
  await writeFile(
    join(directory, 'index.html'),
    '<meta property="csp-nonce" nonce="CSP_NONCE"><meta content="CHANGE_LIMIT_MS"><div id="root">',
  );
  await writeFile(join(directory, 'assets/a-1.js'), 'plain()');
  await writeFile(join(directory, 'assets/a-1.js.gz'), gzipSync('plain()'));
  await writeFile(join(directory, 'assets/a-1.js.br'), brotliCompressSync('plain()'));
  await writeFile(join(directory, 'assets/gone-1.css'), 'a{}');
  await writeFile(join(directory, 'secret.txt'), 'not to be served');
  const deadlines = { AUTHORIZATION_DEADLINE_MS: '5000', CONSENT_DEADLINE_MS: '3000' };
  gateway = await startTestGateway({ WEB_DIRECTORY: directory, ...deadlines });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await gateway.fetch(path, { headers, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('the page', () => {
  test.each(['/', '/approve/apr_1', '/apps', '/apps/grt_1', '/history', '/data', '/console', '/console/new'])(
    'is served at %s, signed in or not',
    async (path) => {
      const { status, text } = await get(path);
      expect([status, text.includes('id="root"')]).toEqual([200, true]);
    },
  );

  test('allows no external resources, no inline code and no framing', async () => {
    const { headers } = await get('/approve/apr_1');
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w+/=]{24}'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect([headers.get('referrer-policy'), headers.get('cache-control')]).toEqual([
      'no-referrer',
      'no-store',
    ]);
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  });

  test('says for how long the gateway may work on a change, by its settings', async () => {
    expect((await get('/apps')).text).toContain('<meta content="8000">');
  });

  test('has a new nonce in each response, equal in header and page', async () => {
    const answers = [await get('/'), await get('/')];
    const nonces = answers.map(({ text }) => /nonce="([^"]+)"/.exec(text)?.[1] ?? '');
    expect(nonces[0]).not.toBe(nonces[1]);
    for (const [index, { headers }] of answers.entries()) {
      expect(headers.get('content-security-policy')).toContain(`'nonce-${nonces[index]}'`);
    }
  });

  test('says that it is not built when it is not', async () => {
    await using bare = await startTestGateway({ WEB_DIRECTORY: join(directory, 'nothing') });
    const response = await bare.fetch('/');
    expect([response.status, await response.text()]).toEqual([
      503,
      expect.stringContaining('not built on this server'),
    ]);
  });
});

describe('its files', () => {
  test('are cacheable for ever, because their names contain a hash, and are compressed', async () => {
    const { status, headers, text } = await get('/assets/a-1.js', { 'accept-encoding': 'gzip' });
    expect([status, text, headers.get('content-encoding')]).toEqual([200, 'plain()', 'gzip']);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('content-type')).toMatch(/^text\/javascript/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('are sent in the best encoding that the browser accepts, brotli before gzip', async () => {
    const take = async (accepted: string) => {
      const { text, headers } = await get('/assets/a-1.js', { 'accept-encoding': accepted });
      return [text, headers.get('content-encoding'), headers.get('vary')];
    };
    expect(await take('gzip, deflate, br')).toEqual(['plain()', 'br', 'Accept-Encoding']);
    expect(await take('br;q=0, gzip')).toEqual(['plain()', 'gzip', 'Accept-Encoding']);
    expect(await take('identity')).toEqual(['plain()', null, 'Accept-Encoding']);
  });

  test('are served as they were at start-up, even after deletion from the disk', async () => {
    await rm(join(directory, 'assets/gone-1.css'));
    const { status, headers, text } = await get('/assets/gone-1.css');
    expect([status, text, headers.get('content-type')]).toEqual([200, 'a{}', 'text/css; charset=utf-8']);
  });

  test.each([
    '/assets/b.js',
    '/assets/',
    '/assets/__proto__',
    '/assets/../secret.txt',
    '/assets/%2e%2e/secret.txt',
    '/secret.txt',
    '/index.html',
  ])('%s is not one of them', async (path) => {
    const { status, text } = await get(path);
    expect([status, text.includes('not to be served')]).toEqual([404, false]);
  });
});

describe('signing out', () => {
  const post = (headers: Record<string, string>) => gateway.fetch('/sign-out', { method: 'POST', headers });

  test('removes the session cookie, even an invalid one', async () => {
    const response = await post({ 'sec-fetch-site': 'same-origin', cookie: 'session=expired' });
    expect([response.status, await response.json()]).toEqual([
      200,
      { data: { signedOut: true, continueTo: null } },
    ]);
    expect(response.headers.get('set-cookie')).toBe('session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax');
  });

  test.each([{}, { 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.test' }])(
    'refuses requests from other sites: %j',
    async (headers) => {
      const response = await post(headers);
      expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null]);
    },
  );

  test('requires POST, so that a link cannot sign anybody out', async () => {
    const { status, headers } = await get('/sign-out');
    expect([status, headers.get('allow'), headers.get('set-cookie')]).toEqual([405, 'POST', null]);
  });
});

test('a page can read who is signed in, by id and name, and until when, and nothing else', async () => {
  const expires = Math.floor(gateway.clock.now().getTime() / 1000) + 3_600;
  const session = await gateway.sessions.issueSession('ada', { claims: { exp: expires } });
  const { status, text } = await get('/partner/session', { cookie: `session=${session}` });
  const expiresAt = new Date(expires * 1000).toISOString();
  expect([status, JSON.parse(text)]).toEqual([200, { data: { userId: 'ada', name: null, expiresAt } }]);
  expect((await get('/partner/session')).status).toBe(401);
});
