import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from '@jest/globals';
import { PROBLEM_CODES, PROBLEMS, toProblemType } from '@phds/catalog/problems';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shareTestGateway, startTestGateway } from './test-gateway.ts';

describe('documentation', () => {
  const files = openFilesOfTest();
  afterAll(() => files[Symbol.dispose]());
  const page = '<h1>Tokens</h1><code>curl http://localhost:8080/oauth/token</code>';
  files.write('docs/index.html', '<h1>Overview</h1>');
  files.write('docs/tokens.html', page);
  files.write('docs/tokens.md', '# Tokens');
  files.write('llms.txt', '# Service');
  files.write('assets/page-1.js', 'plain()');
  files.write('.built-from', 'not to be served');
  const gateway = shareTestGateway({ DOCS_DIRECTORY: files.directory, PUBLIC_URL: 'https://data.example' });

  test.each([
    ['/docs', 'text/html; charset=utf-8', '<h1>Overview</h1>'],
    ['/docs/tokens.md', 'text/markdown; charset=utf-8', '# Tokens'],
    ['/llms.txt', 'text/plain; charset=utf-8', '# Service'],
  ])('%s is public and cacheable', async (path, type, content) => {
    const response = await gateway.fetch(path);
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      type,
      content,
    ]);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
  });

  test('examples show the address of the service', async () => {
    expect(await (await gateway.fetch('/docs/tokens')).text()).toContain(
      'curl https://data.example/oauth/token',
    );
  });

  test('pages are compressed for clients that accept it, and equal', async () => {
    const take = async (coding: string) => {
      const { headers, status } = await gateway.fetch('/docs/tokens', {
        headers: { 'accept-encoding': coding },
      });
      return [status, headers.get('content-encoding'), headers.get('vary')];
    };
    expect(await take('identity')).toEqual([200, null, 'Accept-Encoding']);
    expect(await take('br, gzip')).toEqual([200, 'gzip', 'Accept-Encoding']);
    const texts = ['identity', 'gzip'].map(async (coding) => {
      const response = await gateway.fetch('/docs/tokens', { headers: { 'accept-encoding': coding } });
      return response.text();
    });
    const [plain, compressed] = await Promise.all(texts);
    expect(compressed).toBe(plain);
  });

  test('a page allows scripts and styles of the service only, nothing inline and no frame', async () => {
    const { headers } = await gateway.fetch('/docs');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    );
  });

  test('the files of the pages are cacheable for ever', async () => {
    const { headers } = await gateway.fetch('/docs/assets/page-1.js');
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  test.each([
    '/docs/',
    '/docs/nothing',
    '/docs/../.built-from',
    '/.built-from',
    '/docs/.built-from',
    '/docs/assets/..%2f.built-from',
  ])('%s is answered with 404', async (path) => {
    const response = await gateway.fetch(path);
    expect([response.status, (await response.text()).includes('not to be served')]).toEqual([404, false]);
  });

  test('a page answers GET and HEAD only', async () => {
    const posted = await gateway.fetch('/docs', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('the pages say that they are not built when they are not', async () => {
    await using bare = await startTestGateway({ DOCS_DIRECTORY: join(files.directory, 'nothing') });
    for (const path of ['/docs', '/docs/tokens', '/problems/not-found']) {
      const response = await bare.fetch(path);
      expect([response.status, (await response.text()).includes('not built on this server')]).toEqual([
        503,
        true,
      ]);
    }
  });
});

describe('pages of problems', () => {
  const gateway = shareTestGateway();

  describe('GET /problems', () => {
    test('the index links the page of every code, which has the `type` of its problems, and names its statuses', async () => {
      const response = await gateway.fetch('/problems');
      expect(response.status).toBe(200);
      const [, table = ''] = (await response.text()).split('<tbody>');
      const links = [...table.replaceAll('<wbr>', '').matchAll(/href="(\/problems\/[^"]+)">([A-Z_]+)</g)];
      expect(links.map(([, path, code]) => [path, code])).toEqual(
        PROBLEM_CODES.map((code) => [toProblemType(code), code]),
      );
      for (const code of PROBLEM_CODES) {
        const page = await gateway.fetch(toProblemType(code));
        expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
        const text = await page.text();
        expect(text).toContain(`>${code}</h1>`);
        for (const status of PROBLEMS[code].statuses) {
          expect(text).toMatch(new RegExp(`HTTP status [0-9, ]*\\b${status}\\b`));
        }
      }
      const unknown = await gateway.fetch('/problems/nothing');
      expect([unknown.status, await unknown.json()]).toMatchObject([
        404,
        { type: toProblemType('NOT_FOUND') },
      ]);
    });

    test('a page explains what the code means and what to do, with everything escaped', async () => {
      const text = await (await gateway.fetch(toProblemType('RATE_LIMITED'))).text();
      expect(text).toContain(PROBLEMS.RATE_LIMITED.meaning.split('`')[0]);
      expect(text).toContain('<code>Retry-After</code>');
      expect(text).not.toContain('`');
    });

    test('a page needs no credentials, is cacheable and answers HEAD', async () => {
      const response = await gateway.fetch('/problems/not-found', { method: 'HEAD' });
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
      const posted = await gateway.fetch('/problems/not-found', { method: 'POST' });
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    });
  });

  test('the OpenAPI document lists the codes and links their explanations', async () => {
    const { components } = (await (await gateway.fetch('/openapi.json')).json()) as {
      components: { schemas: { Problem: unknown } };
    };
    expect(components.schemas.Problem).toMatchObject({
      properties: { code: { enum: PROBLEM_CODES } },
      externalDocs: { url: '/problems' },
    });
  });
});

describe('the web app', () => {
  const files = openFilesOfTest();
  afterAll(() => files[Symbol.dispose]());
  files.write(
    'index.html',
    '<meta property="csp-nonce" nonce="CSP_NONCE"><meta content="CHANGE_LIMIT_MS"><div id="root">',
  );
  files.write('assets/a-1.js', 'plain()');
  files.write('assets/a-1.js.gz', gzipSync('plain()'));
  files.write('assets/a-1.js.br', brotliCompressSync('plain()'));
  const gone = files.write('assets/gone-1.css', 'a{}');
  files.write('secret.txt', 'not to be served');
  const deadlines = { AUTHORIZATION_DEADLINE_MS: '5000', CONSENT_DEADLINE_MS: '3000' };
  const gateway = shareTestGateway({ WEB_DIRECTORY: files.directory, ...deadlines });

  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await gateway.fetch(path, { headers, redirect: 'manual' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  describe('the page', () => {
    test.each([
      '/',
      '/approve/apr_1',
      '/apps',
      '/apps/grt_1',
      '/history',
      '/data',
      '/console',
      '/console/new',
    ])('is served at %s, signed in or not', async (path) => {
      const { status, text } = await get(path);
      expect([status, text.includes('id="root"')]).toEqual([200, true]);
    });

    test.each(['/histroy', '/%zz', '/assets/gone.js'])(
      'explains the mistyped address %s to a browser, with status 404',
      async (path) => {
        const { status, text } = await get(path, { accept: 'text/html', 'sec-fetch-mode': 'navigate' });
        expect([status, text.includes('id="root"')]).toEqual([404, true]);
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
      await using bare = await startTestGateway({ WEB_DIRECTORY: join(files.directory, 'nothing') });
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
      await rm(gone);
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
});
