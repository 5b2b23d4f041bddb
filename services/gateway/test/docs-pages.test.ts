import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docs-'));
  await mkdir(join(directory, 'docs'));
  await mkdir(join(directory, 'assets'));
  const page = '<h1>Tokens</h1><code>curl http://localhost:8080/oauth/token</code>';
  await writeFile(join(directory, 'docs/index.html'), '<h1>Overview</h1>');
  await writeFile(join(directory, 'docs/tokens.html'), page);
  await writeFile(join(directory, 'docs/tokens.md'), '# Tokens');
  await writeFile(join(directory, 'llms.txt'), '# Service');
  await writeFile(join(directory, 'assets/page-1.js'), 'plain()');
  await writeFile(join(directory, '.built-from'), 'not to be served');
  gateway = await startTestGateway({ DOCS_DIRECTORY: directory, PUBLIC_URL: 'https://data.example' });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

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
  await using bare = await startTestGateway({ DOCS_DIRECTORY: join(directory, 'nothing') });
  for (const path of ['/docs', '/docs/tokens', '/problems/not-found']) {
    const response = await bare.fetch(path);
    expect([response.status, (await response.text()).includes('not built on this server')]).toEqual([
      503,
      true,
    ]);
  }
});
