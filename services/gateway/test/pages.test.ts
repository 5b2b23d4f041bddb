import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from '@jest/globals';
import { PROBLEM_CODES, PROBLEMS, toProblemType } from '@phds/catalog/problems';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { messageIn, shareTestGateway, startTestGateway, VISIT } from './test-gateway.ts';

describe('documentation', () => {
  const files = openFilesOfTest();
  afterAll(() => files[Symbol.dispose]());
  const url = 'http://localhost:8080/oauth/token';
  const inline = 'let isDark = true';
  files.write(
    'docs/tokens.html',
    `<meta content="{{deployment}}"><script id="a">${inline}</script><td>{{operator}}</td>curl ${url}`,
  );
  files.write('docs/index.html', '<h1>Overview</h1>');
  files.write('docs/404.html', 'own page');
  files.write('docs/reference.html', '<script src="/docs/assets/scalar.js" defer></script>');
  files.write('docs/problems/not-found.html', '<h1>NOT_FOUND</h1>');
  files.write('docs/tokens.md', '# Tokens');
  files.write('docs/llms.txt', '# Service');
  files.write('docs/assets/chunks/page.1.js', `plain("${url}")`);
  files.write('docs/.built-from', 'not to be served');
  const built = join(files.directory, 'docs');
  const settings = { PUBLIC_URL: 'https://data.example', DEPLOYMENT: '{"operator":"Clinic <A>"}' };
  const gateway = shareTestGateway(settings, { constants: { DOCS_DIRECTORY: built } });
  const SHORT = 'public, max-age=300';

  test.each([
    ['/docs/', 'text/html; charset=utf-8', '<h1>Overview</h1>', SHORT],
    ['/docs/tokens.md', 'text/markdown; charset=utf-8', '# Tokens', SHORT],
    ['/docs/llms.txt', 'text/plain; charset=utf-8', '# Service', SHORT],
    [
      '/docs/assets/chunks/page.1.js',
      'text/javascript; charset=utf-8',
      'plain("https://data.example/oauth/token")',
      'public, max-age=31536000, immutable',
    ],
  ])(
    '%s is public and cacheable, and shows the address of the service',
    async (path, type, content, cached) => {
      const { status, headers, ...response } = await get(path);
      expect([status, headers.get('content-type'), response.text]).toEqual([200, type, content]);
      expect(headers.get('cache-control')).toBe(cached);
    },
  );

  test.each([
    ['/docs', '/docs/'],
    ['/problems', '/docs/problems'],
    ['/problems/not-found', '/docs/problems/not-found'],
    ['/llms.txt', '/docs/llms.txt'],
  ])('%s leads to %s', async (path, target) => {
    const { status, headers } = await gateway.fetch(path, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([303, target]);
  });

  test('a page states what the settings say, escaped, and allows only its own inline scripts', async () => {
    const { text, headers } = await get('/docs/tokens');
    expect(text).toContain('<td>Clinic &lt;A&gt;</td>curl https://data.example/oauth/token');
    expect(text).toContain('&quot;operator&quot;:&quot;Clinic &lt;A&gt;&quot;');
    const hash = createHash('sha256').update(inline).digest('base64');
    const policy = headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'sha256-[^']+'; style-src 'self' '/);
    expect(policy).toContain(`'sha256-${hash}'`);
    expect(policy).toMatch(
      /; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
    );
  });

  test('only the page of the reference allows style elements', async () => {
    const policies = [await get('/docs/reference'), await get('/docs/tokens')].map(({ headers }) =>
      /style-src '[^;]+/.exec(headers.get('content-security-policy') ?? '')?.[0].includes("'unsafe-inline'"),
    );
    expect(policies).toEqual([true, false]);
  });

  test('pages are compressed for clients that accept it, and equal', async () => {
    const taken = await Promise.all(
      ['identity', 'br, gzip'].map((coding) => get('/docs/tokens', { 'accept-encoding': coding })),
    );
    expect(taken.map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip']);
    expect(taken[1]?.text).toBe(taken[0]?.text);
  });

  test.each(['/docs/nothing', '/docs/.built-from', '/docs/assets/..%2f.built-from', '/docs/constructor'])(
    '%s is answered with 404: a page of its own for browsers, JSON for programs',
    async (path) => {
      const seen = await get(path, { accept: 'text/html' });
      expect([seen.status, seen.text]).toEqual([404, 'own page']);
      const { status, headers } = await get(path);
      expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    },
  );

  test('a page answers GET and HEAD only', async () => {
    const posted = await gateway.fetch('/docs/tokens', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('a message says that they are not built, and are served as soon as they are', async () => {
    const later = join(files.directory, 'later');
    await using early = await startTestGateway(settings, { constants: { DOCS_DIRECTORY: later } });
    const response = await early.fetch('/docs/tokens', { headers: VISIT });
    expect([response.status, messageIn(await response.text())]).toEqual([
      503,
      { code: 'DOCUMENTATION_NOT_READY', requestId: expect.stringMatching(/^req_\w+$/) as unknown },
    ]);
    expect([response.headers.get('retry-after'), response.headers.get('refresh')]).toEqual(['5', '5']);
    expect((await early.fetch('/docs/tokens')).status).toBe(503);
    await rename(built, later);
    expect((await early.fetch('/docs/tokens')).status).toBe(200);
    await rename(later, built);
  });

  async function get(path: string, headers: Record<string, string> = {}) {
    const response = await gateway.fetch(path, { headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
});

test('every error code has a page at its `type`, which is linked and says what the code means', async () => {
  await using gateway = await startTestGateway();
  const index = await (await gateway.fetch('/docs/problems')).text();
  for (const code of PROBLEM_CODES) {
    const path = toProblemType(code);
    expect(index).toContain(`href="/docs${path}"`);
    const text = await (await gateway.fetch(`/docs${path}`)).text();
    expect(text).toContain(`<h1 id="${code.toLowerCase()}"`);
    expect(text).toContain(`HTTP status ${PROBLEMS[code].statuses.join(', ')}.`);
  }
  expect((await gateway.fetch('/docs/problems/nothing')).status).toBe(404);
});

describe('the web app', () => {
  const files = openFilesOfTest();
  afterAll(() => files[Symbol.dispose]());
  files.write(
    'index.html',
    '<meta property="csp-nonce" nonce="CSP_NONCE"><meta content="CHANGE_LIMIT_MS"><meta content="DEPLOYMENT"><meta name="message" content="PAGE_MESSAGE"><div id="root">',
  );
  files.write('assets/a-1.js', 'plain()');
  files.write('assets/a-1.js.gz', gzipSync('plain()'));
  files.write('assets/a-1.js.br', brotliCompressSync('plain()'));
  const gone = files.write('assets/gone-1.css', 'a{}');
  files.write('secret.txt', 'not to be served');
  const deadlines = { AUTHORIZATION_DEADLINE_MS: 5_000, CONSENT_DEADLINE_MS: 3_000 };
  const stated = {
    DEPLOYMENT: JSON.stringify({ operator: 'Clinic <A>', privacyNotice: 'https://clinic.test/privacy' }),
    SUPPORT_URL: 'https://help.test/?topic=apps&lang=en',
  };
  const gateway = shareTestGateway(stated, { constants: { ...deadlines, WEB_DIRECTORY: files.directory } });

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
      '/data/read:mood',
      '/console',
      '/console/new',
    ])('is served at %s, signed in or not', async (path) => {
      const { status, text } = await get(path);
      expect([status, text.includes('id="root"')]).toEqual([200, true]);
    });

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

    test('says who runs the deployment, and where its privacy notice and its support are', async () => {
      const json =
        '{"operator":"Clinic &lt;A&gt;","privacyUrl":"https://clinic.test/privacy","supportUrl":"https://help.test/?topic=apps&amp;lang=en"}';
      expect((await get('/apps')).text).toContain(`<meta content="${json.replaceAll('"', '&quot;')}">`);
    });

    test('has a message only where the gateway has one', async () => {
      expect(messageIn((await get('/apps')).text)).toBeNull();
    });

    test('has a new nonce in each response, equal in header and page', async () => {
      const answers = [await get('/'), await get('/')];
      const nonces = answers.map(({ text }) => /nonce="([^"]+)"/.exec(text)?.[1] ?? '');
      expect(nonces[0]).not.toBe(nonces[1]);
      for (const [index, { headers }] of answers.entries()) {
        expect(headers.get('content-security-policy')).toContain(`'nonce-${nonces[index]}'`);
      }
    });

    test('is an error as JSON when it is not built', async () => {
      await using bare = await startTestGateway(
        {},
        { constants: { WEB_DIRECTORY: join(files.directory, 'nothing') } },
      );
      for (const path of ['/', '/histroy', '/sign-in']) {
        const response = await bare.fetch(path, { headers: VISIT });
        expect([response.status, await response.json()]).toMatchObject([503, { code: 'INTERNAL_ERROR' }]);
      }
      expect(bare.log.join('')).toContain('the web app is not built');
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
    const session = await gateway.sessions.issueSession('ada', { claims: { exp: expires, name: 'Ada' } });
    const { status, text } = await get('/partner/session', { cookie: `session=${session}` });
    const expiresAt = new Date(expires * 1000).toISOString();
    expect([status, JSON.parse(text)]).toEqual([200, { data: { userId: 'ada', name: 'Ada', expiresAt } }]);
    expect((await get('/partner/session')).status).toBe(401);
  });
});

describe('what /docs has beside the pages', () => {
  const gateway = shareTestGateway();
  const run = promisify(execFile);
  const readText = (file: string) => readFileSync(resolve(import.meta.dirname, '../../..', file), 'utf8');

  test('the SDK is installed from a running gateway into an empty folder, under the name that the documents have', async () => {
    using files = openFilesOfTest();
    const { version } = JSON.parse(readText('packages/sdk/package.json'));
    const path = `/docs/sdk/phds-sdk-${version}.tgz`;
    for (const document of ['docs/partners/sdk.md', 'packages/sdk/README.md']) {
      expect(readText(document)).toContain(`npm install http://localhost:8080${path}\n`);
    }
    files.write('package.json', '{"type":"module"}');
    const cwd = files.directory;
    const url = `http://127.0.0.1:${gateway.port}${path}`;
    await run('npm', ['install', '--no-audit', '--no-fund', url], { cwd });
    const program = 'import { createClient } from "@phds/sdk"; console.log(typeof createClient)';
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd });
    expect(stdout).toBe('function\n');
    const absent = await gateway.fetchUnchecked('/docs/sdk/phds-sdk-0.0.0.tgz');
    expect(absent.status).toBe(404);
  });

  test('security.txt names the contact of the settings', async () => {
    await using stated = await startTestGateway({ SECURITY_CONTACT: 'mailto:security@clinic.test' });
    const security = await stated.fetchUnchecked('/.well-known/security.txt');
    expect(security.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await security.text()).toMatch(
      /^Contact: mailto:security@clinic.test\nExpires: \d{4}-\d\d-\d\dT[\d:.]+Z\nCanonical: /,
    );
    expect((await gateway.fetchUnchecked('/.well-known/security.txt')).status).toBe(404);
  });
});
