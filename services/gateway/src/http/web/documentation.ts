import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { notFound } from '@phds/service-kit/errors';
import type { Config } from '../../config.ts';
import type { Exchange } from '../exchange.ts';
import type { Route } from '../operation.ts';
import { html, sendPage, toScriptPageHeaders } from '../pages/page.ts';
import { send } from '../respond.ts';
import { toFileRoute } from './files.ts';

/** Serves the documentation for partner developers: `/docs`, `/problems`, `/llms.txt`. All of it is public. */
export function createDocumentation(config: Config): readonly Route[] {
  const { DOCS_DIRECTORY: directory } = config;
  const documents = readDocuments(directory, config);
  const page = (path: string, handle: Route['handle']): Route => ({
    method: 'GET',
    also: ['HEAD'],
    path,
    handle,
  });
  const pages = [...documents].map(([path, document]) =>
    page(path, (exchange) => sendDocument(exchange, document)),
  );
  const explanations = NOT_BUILT.map((path) => page(path, explain));
  const files = toFileRoute('/docs/assets', join(directory, 'assets'));
  // A build of the same version may differ.
  const sdk = toFileRoute('/docs/sdk', join(directory, '../../sdk/dist'), 'public, max-age=300');
  const security = page('/.well-known/security.txt', (exchange) => sendSecurityContact(exchange));
  return [...(documents.size === 0 ? explanations : pages), files, sdk, security];
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
function statementsOf(config: Config): readonly (readonly [string, string | undefined])[] {
  return [
    ['{{operator}}', config.DEPLOYMENT_OPERATOR],
    ['{{contact}}', config.DEPLOYMENT_CONTACT],
    ['{{terms}}', config.DEPLOYMENT_TERMS],
    ['{{status page}}', config.DEPLOYMENT_STATUS_PAGE],
    ['{{webhook senders}}', config.DEPLOYMENT_WEBHOOK_SENDERS],
    ['{{region}}', config.DEPLOYMENT_REGION],
  ];
}

/** The paths that explain that the documentation is not built. */
const NOT_BUILT = ['/docs', '/docs/:page', '/problems', '/problems/:code', '/llms.txt'];

function explain(exchange: Exchange): void {
  const content = html`<p>The documentation is not built on this server. Its programming interfaces work.</p>`;
  sendPage(exchange, { en: { title: 'Not here', content } }, 503);
}

/** The address of the local stack. The examples of the documentation use it. */
const WRITTEN_URL = 'http://localhost:8080';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

const HEADERS = { 'Cache-Control': 'public, max-age=300', ...toScriptPageHeaders() } as const;

const compress = promisify(gzip);

/** A file of the documentation with its content type. */
interface Document {
  readonly type: string;
  readonly content: Buffer;
  /** Made at the first request that accepts it. */
  compressed?: Promise<Buffer>;
}

/**
 * Reads the built documentation, by path: `docs/tokens.html` is `/docs/tokens`, `docs/index.html` is `/docs`. Examples show the address of
 * this service.
 */
function readDocuments(directory: string, config: Config): ReadonlyMap<string, Document> {
  if (!existsSync(directory)) return new Map();
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const documents = files.flatMap((file) => {
    const type = TYPES[extname(file)];
    if (type === undefined) return [];
    let text = readFileSync(join(directory, file), 'utf8').replaceAll(WRITTEN_URL, config.PUBLIC_URL);
    for (const [name, value = 'not stated'] of statementsOf(config)) {
      text = text.replaceAll(name, () => html`${value}`.markup);
    }
    return [[`/${file.replace(/(\/index)?\.html$/, '')}`, { type, content: Buffer.from(text) }] as const];
  });
  return new Map(documents);
}

async function sendDocument({ request, response }: Exchange, document: Document): Promise<void> {
  response.vary('Accept-Encoding');
  const isCompressed = request.acceptsEncodings('gzip') === 'gzip';
  if (isCompressed) document.compressed ??= compress(document.content);
  const body = isCompressed ? await document.compressed : undefined;
  const coding = body === undefined ? {} : { 'Content-Encoding': 'gzip' };
  send(response, 200, { ...HEADERS, ...coding, 'Content-Type': document.type }, body ?? document.content);
}
