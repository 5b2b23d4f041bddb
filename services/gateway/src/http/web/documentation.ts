import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { notFound, unavailable } from '@phds/service-kit/errors';
import type { Config } from '../../config.ts';
import type { Exchange } from '../exchange.ts';
import type { Route } from '../operation.ts';
import { type Headers, redirect, send } from '../respond.ts';
import { toFileRoute } from './web-app.ts';
import { escapeHtml, showMessage, toPolicyHeaders, wantsHtml } from './web-page.ts';

/** Serves the documentation for partner developers below `/docs`. The pages of problems are there too; errors name them without `/docs`. */
export function createDocumentation(config: Config): readonly Route[] {
  const { DOCS_DIRECTORY: directory } = config;
  const get = (path: string, handle: Route['handle']): Route => ({
    method: 'GET',
    also: ['HEAD'],
    path,
    handle,
  });
  const sendFile = toSender(config);
  const moved = (path: string) =>
    get(path, ({ request, response }) => redirect(response, `/docs${request.path}`));
  return [
    get('/docs', ({ response }) => redirect(response, '/docs/')),
    get('/docs/{*path}', sendFile),
    moved('/problems'),
    moved('/problems/:code'),
    moved('/llms.txt'),
    // A build of the same version may differ.
    toFileRoute('/docs/sdk', join(directory, '../../sdk/dist'), 'public, max-age=300'),
    get('/.well-known/security.txt', (exchange) => sendSecurityContact(exchange)),
  ];
}

const DAY_MS = 86_400_000;

/** RFC 9116. It is always fresh, because it is true as long as the setting is. */
function sendSecurityContact({ gateway, response }: Exchange): void {
  const { SECURITY_CONTACT: contact, PUBLIC_URL } = gateway.config;
  if (contact === undefined) throw notFound();
  const expires = new Date(gateway.clock.now().getTime() + 90 * DAY_MS).toISOString();
  const text = `Contact: ${contact}\nExpires: ${expires}\nCanonical: ${PUBLIC_URL}/.well-known/security.txt\n`;
  send(
    response,
    200,
    { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'public, max-age=300' },
    text,
  );
}

/** What the pages call `{{operator}}` and so on. */
function statementsOf({ DEPLOYMENT: stated }: Config): Readonly<Record<string, string>> {
  const names = ['operator', 'contact', 'terms', 'statusPage', 'webhookSenders', 'region'] as const;
  return Object.fromEntries(names.map((name) => [name, stated[name] ?? 'not stated']));
}

/** The address of the local stack. The examples of the documentation use it. */
const WRITTEN_URL = 'http://localhost:8080';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

const SHORT = 'public, max-age=300';
// Names of assets contain a hash of the content or a version.
const FOR_GOOD = 'public, max-age=31536000, immutable';
const RETRY_SECONDS = '5';

const compress = promisify(gzip);

/** A file of the documentation with its header fields. */
interface Document {
  readonly headers: Headers;
  readonly content: Buffer;
  /** Made at the first request that accepts it. */
  compressed?: Promise<Buffer>;
}

/**
 * Sends the files of the built documentation. They are read when they are first asked for and complete (the build puts the directory in its
 * place at once); until then, the answer is 503.
 */
function toSender(config: Config): (exchange: Exchange) => Promise<void> {
  let reading: Promise<ReadonlyMap<string, Document>> | undefined;
  return async (exchange) => {
    if (reading === undefined && !existsSync(config.DOCS_DIRECTORY)) return explain(exchange);
    reading ??= readDocuments(config).catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    const documents = await reading;
    const { request } = exchange;
    const document = documents.get(request.path);
    if (document !== undefined) return sendDocument(exchange, document, 200);
    const absent = documents.get('/docs/404');
    if (absent === undefined || !wantsHtml(request)) throw notFound();
    return sendDocument(exchange, absent, 404);
  };
}

function explain(exchange: Exchange): void {
  // A browser loads the page again then.
  const again = { 'Retry-After': RETRY_SECONDS, Refresh: RETRY_SECONDS };
  const error = unavailable('the documentation is not built');
  showMessage(exchange, error, { code: 'DOCUMENTATION_NOT_READY' }, again);
}

/**
 * Reads the built documentation by path: `tokens.html` is `/docs/tokens`, `index.html` is `/docs/`. Examples show the address of this
 * service. File by file, so that other requests are answered meanwhile.
 */
async function readDocuments(config: Config): Promise<ReadonlyMap<string, Document>> {
  const { DOCS_DIRECTORY: directory } = config;
  const statements = statementsOf(config);
  const values = { ...statements, deployment: JSON.stringify(statements) };
  const documents = new Map<string, Document>();
  for (const file of await readdir(directory, { recursive: true })) {
    const type = TYPES[extname(file)];
    if (type === undefined) continue;
    const text = (await readFile(join(directory, file), 'utf8')).replaceAll(WRITTEN_URL, config.PUBLIC_URL);
    const path = `/docs/${file.replace(/(^index)?\.html$/, '')}`;
    const isScript = type.startsWith('text/javascript');
    documents.set(path, toDocument(path, type, isScript ? text : fill(text, values)));
  }
  return documents;
}

/** The text with what the settings state about the deployment. */
function fill(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce(
    (filled, [name, value]) => filled.replaceAll(`{{${name}}}`, () => escapeHtml(value)),
    text,
  );
}

function toDocument(path: string, type: string, text: string): Document {
  const headers = {
    'Content-Type': type,
    'Cache-Control': path.startsWith('/docs/assets/') ? FOR_GOOD : SHORT,
    ...(type.startsWith('text/html') ? toPageHeaders(path, text) : {}),
  };
  return { headers, content: Buffer.from(text) };
}

/** The style element with which VitePress 1 switches between light and dark. */
const NO_TRANSITION = "'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='";

/**
 * A page may load only what comes from this service. VitePress has small scripts in its pages, which their hashes admit, and colors of code
 * in `style` attributes. Scalar's bundle adds its style sheet as an element, which only `'unsafe-inline'` admits; its page shows nothing but
 * our own OpenAPI document.
 */
function toPageHeaders(path: string, text: string): Headers {
  const inline = [...text.matchAll(/<script(?![^>]* src=)[^>]*>(.*?)<\/script>/gs)];
  const hashes = inline.map(
    ([, code = '']) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`,
  );
  const styles =
    path === '/docs/reference'
      ? "style-src 'self' 'unsafe-inline'"
      : `style-src 'self' ${NO_TRANSITION}; style-src-attr 'unsafe-inline'`;
  const scripts = ["script-src 'self'", ...new Set(hashes)].join(' ');
  return toPolicyHeaders({ scripts, styles, images: "img-src 'self' data:" });
}

async function sendDocument(
  { request, response }: Exchange,
  document: Document,
  status: number,
): Promise<void> {
  response.vary('Accept-Encoding');
  const isCompressed = request.acceptsEncodings('gzip') === 'gzip';
  if (isCompressed) document.compressed ??= compress(document.content);
  const body = isCompressed ? await document.compressed : undefined;
  const coding = body === undefined ? {} : { 'Content-Encoding': 'gzip' };
  send(response, status, { ...document.headers, ...coding }, body ?? document.content);
}
