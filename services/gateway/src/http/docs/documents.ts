import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Exchange } from '../exchange.ts';
import { toScriptPageHeaders } from '../pages/script-policy.ts';
import { send } from '../respond.ts';

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
export function readDocuments(directory: string, publicUrl: string): ReadonlyMap<string, Document> {
  if (!existsSync(directory)) return new Map();
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const documents = files.flatMap((file) => {
    const type = TYPES[extname(file)];
    if (type === undefined) return [];
    const text = readFileSync(join(directory, file), 'utf8').replaceAll(WRITTEN_URL, publicUrl);
    return [[`/${file.replace(/(\/index)?\.html$/, '')}`, { type, content: Buffer.from(text) }] as const];
  });
  return new Map(documents);
}

export async function sendDocument({ request, response }: Exchange, document: Document): Promise<void> {
  response.vary('Accept-Encoding');
  const isCompressed = request.acceptsEncodings('gzip') === 'gzip';
  if (isCompressed) document.compressed ??= compress(document.content);
  const body = isCompressed ? await document.compressed : undefined;
  const coding = body === undefined ? {} : { 'Content-Encoding': 'gzip' };
  send(response, 200, { ...HEADERS, ...coding, 'Content-Type': document.type }, body ?? document.content);
}
