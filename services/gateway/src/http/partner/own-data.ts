import { addAbortSignal, Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { CallOptions } from '@connectrpc/connect';
import { toCsvLine } from '@phds/catalog/access-csv';
import { LANGUAGES, type Language } from '@phds/catalog/languages';
import { OWN_DATA } from '@phds/catalog/own-data';
import type { Listed, Page } from '@phds/catalog/pagination';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, toAppError } from '@phds/service-kit/errors';
import yazl from 'yazl';
import { z } from 'zod';
import { requireChange } from '../credentials.ts';
import { type Exchange, onBehalf, takeFromLimit, userOf } from '../exchange.ts';
import { text } from '../openapi/fields.ts';
import { type MountedOperation, sessionOperation } from '../operation.ts';
import { findChoice, readQuery } from '../query.ts';
import { GUARDS } from '../respond.ts';
import { toCsv } from './accesses.ts';
import { toGrantJson } from './grants.ts';
import { toActJson } from './operator-acts.ts';
import { type ArchivedData, toIndexPage } from './own-data-index.ts';

const QUERY = {
  lang: z.enum(LANGUAGES).meta({ description: 'Language of the index; by default that of the browser.' }),
};

/** The person's download of their health data, connections, receipts and access history. */
export const OWN_DATA_OPERATIONS: readonly MountedOperation[] = [
  sessionOperation({
    method: 'GET',
    path: '/partner/consent/own-data.zip',
    operationId: 'downloadOwnData',
    summary: 'Download all of one’s health data, connections, receipts and access history',
    description:
      'A JSON and a CSV file for each type of data with items, the lists of connections, receipts, accesses and acts of operators, and `index.html`. Recorded before the first byte is sent. A download that breaks off has no central directory, so no program opens it.',
    query: QUERY,
    answers: {
      200: {
        description: 'A ZIP archive.',
        body: text,
        type: 'application/zip',
        headers: ['Content-Disposition'],
      },
    },
    handle: downloadOwnData,
  }),
];

const RETRY_AFTER_SECONDS = 60;

/** A client that reads nothing for this long is treated as gone. */
const IDLE_MS = 60_000;

const LIST_PAGE = 100;

const HEAD = {
  'Content-Type': 'application/zip',
  'Content-Disposition': 'attachment; filename="my-health-data.zip"',
  'Cache-Control': 'no-store',
  ...GUARDS,
};

/** Downloads at once in this process, of all people; each keeps health-data busy. */
const AT_ONCE = 8;

/** People with a download in progress in this process. */
const running = new Set<string>();

async function downloadOwnData(exchange: Exchange): Promise<void> {
  // It leaves an entry in the person's history, which a page of another site must not cause.
  requireChange(exchange.session);
  const query = readQuery(exchange.request.originalUrl, QUERY);
  const language = findChoice(query, 'lang', LANGUAGES) ?? preferredLanguage(exchange);
  query.check();
  const userId = userOf(exchange);
  if (running.has(userId) || running.size >= AT_ONCE) {
    throw new AppError('rate_limited', '', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
  running.add(userId);
  try {
    await takeFromLimit(exchange, 'own-data', userId);
    await sendArchive(exchange, language);
  } finally {
    running.delete(userId);
  }
}

function preferredLanguage({ request }: Exchange): Language {
  return LANGUAGES.find((language) => language === request.acceptsLanguages([...LANGUAGES])) ?? 'en';
}

/**
 * Records the download, then writes the archive while it is read. The next page is read when the client has taken the one before. If a
 * part cannot be read, the connection ends without the central directory.
 */
async function sendArchive(exchange: Exchange, language: Language): Promise<void> {
  const { gateway, response, requestId } = exchange;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // If the client disconnected during session and limit checks, 'close' has already been emitted.
  if (response.destroyed) return;
  const options = { ...onBehalf(exchange), signal: gone.signal };
  const { number } = await gateway.backends.operatorActs.beginDownload({ requestId }, options);
  // Before the head is sent, so that an error can still set the status.
  await readFirst(readItems(exchange, options, 'profile'));
  response.writeHead(200, HEAD);
  response.flushHeaders();
  response.setTimeout(IDLE_MS, () => response.destroy());
  const zip = new yazl.ZipFile();
  zip.once('error', (error) => response.destroy(error));
  const archive = new Archive(zip, gone.signal, gateway.clock.now());
  try {
    await Promise.all([
      pipeline(zip.outputStream, response, { signal: gone.signal }),
      fillArchive(exchange, options, archive, { number, language }).then(() => zip.end()),
    ]);
  } catch (err) {
    if (!gone.signal.aborted) gateway.log.warn({ err, requestId }, 'a download of own data broke off');
    gone.abort();
    response.destroy();
  }
}

type Item = Readonly<Record<string, unknown>>;
type Pages = AsyncIterable<readonly Item[]>;

/** Adds files to an archive one after the other, so that only one is read at a time. */
class Archive {
  readonly #zip: yazl.ZipFile;
  readonly #signal: AbortSignal;
  readonly #mtime: Date;

  constructor(zip: yazl.ZipFile, signal: AbortSignal, mtime: Date) {
    this.#zip = zip;
    this.#signal = signal;
    this.#mtime = mtime;
  }

  /** Resolves when the content has been read to its end. Rejects when it fails or the client is gone. */
  async add(name: string, content: AsyncIterable<string>): Promise<void> {
    const stream = addAbortSignal(this.#signal, Readable.from(content, { objectMode: false }));
    const read = finished(stream);
    this.#zip.addReadStream(stream, name, { mtime: this.#mtime });
    await read;
  }
}

async function fillArchive(
  exchange: Exchange,
  options: CallOptions,
  archive: Archive,
  { number, language }: { readonly number: bigint; readonly language: Language },
): Promise<void> {
  const { backends } = exchange.gateway;
  const archived: ArchivedData[] = [];
  for (const { kind, file, scope, type } of OWN_DATA) {
    const read = () => readItems(exchange, options, kind);
    const counted: ArchivedData = { file, scope, type, count: 0, from: '', to: '' };
    const pages = await readFirst(read());
    // A type without data has no files.
    if (pages === null) continue;
    await archive.add(`${file}.json`, toJsonFile(counting(pages, counted)));
    await archive.add(`${file}.csv`, withMark(toCsvFile(read())));
    archived.push(counted);
  }
  const connections = await readConnections(exchange, options);
  await archive.add('connections.json', toJsonFile(of(connections)));
  await archive.add('connections.csv', withMark(toCsvFile(of(connections))));
  await archive.add('receipts.json', toJsonFile(readReceipts(exchange, options, connections)));
  const readPiece = (afterId: string) =>
    readAgain(exchange, options, async () => {
      const { accesses } = await backends.accesses.listAccesses({ inPieces: true, afterId }, options);
      return accesses;
    });
  await archive.add('access-history.csv', withMark(toCsv(await readPiece(''), readPiece)));
  const acts = await readActs(exchange, options);
  await archive.add('operator-acts.json', toJsonFile(of([...acts.values()])));
  // consent erases first: while the entry is listed, all data that was read before was complete.
  if (!acts.has(String(number))) throw new Error('the person was erased during the download');
  const page = toIndexPage(language, exchange.gateway.clock.now(), archived, {
    connections: connections.length,
    acts: acts.size,
  });
  await archive.add('index.html', of(page));
}

/** All items of one kind. Ends with `unauthorized` when the session does. */
async function* readItems(exchange: Exchange, options: CallOptions, kind: string): Pages {
  const { previews } = exchange.gateway.backends;
  let beforeMs: bigint | undefined;
  do {
    const asked = { kind, ...(beforeMs === undefined ? {} : { beforeMs }) };
    const page = await readAgain(exchange, options, () => previews.readOwn(asked, options));
    const items: Item[] = JSON.parse(new TextDecoder().decode(page.items));
    if (items.length > 0) yield items;
    beforeMs = page.nextBeforeMs;
  } while (beforeMs !== undefined);
}

async function readConnections(exchange: Exchange, options: CallOptions): Promise<readonly Item[]> {
  const { consent } = exchange.gateway.backends;
  const found = await readList(exchange, options, async (page) => {
    const { grants, total } = await consent.listGrants({ page, status: GrantStatus.UNSPECIFIED }, options);
    return { items: grants.map(toGrantJson), total };
  });
  return [...found.values()];
}

async function readActs(exchange: Exchange, options: CallOptions): Promise<ReadonlyMap<string, Item>> {
  const { operatorActs } = exchange.gateway.backends;
  return readList(exchange, options, async (page) => {
    const { acts, total } = await operatorActs.listOwnActs({ page }, options);
    return { items: acts.map(toActJson), total };
  });
}

/** All items of a list by their ids, because a new item moves others to a page that is read later. */
async function readList(
  exchange: Exchange,
  options: CallOptions,
  readPage: (page: Page) => Promise<Listed<Item & { readonly id: string }>>,
): Promise<ReadonlyMap<string, Item>> {
  const found = new Map<string, Item>();
  for (let page = 1, total = 1; (page - 1) * LIST_PAGE < total; page += 1) {
    const asked = { page, pageSize: LIST_PAGE };
    const listed = await readAgain(exchange, options, () => readPage(asked));
    for (const item of listed.items) found.set(item.id, item);
    ({ total } = listed);
  }
  return found;
}

async function* readReceipts(exchange: Exchange, options: CallOptions, connections: readonly Item[]): Pages {
  const { consent } = exchange.gateway.backends;
  for (const { id } of connections) {
    const asked = { grantId: String(id) };
    const { receipt } = await readAgain(exchange, options, () => consent.getReceipt(asked, options));
    yield [{ grantId: id, receipt }];
  }
}

/** Together less than `IDLE_MS`. */
const PAUSES_MS = [500, 2_000, 5_000];

/**
 * Reads once the session is checked. Repeats both when a service is unavailable: a download makes thousands of calls, and one failure
 * would end it.
 */
async function readAgain<T>(exchange: Exchange, { signal }: CallOptions, read: () => Promise<T>): Promise<T> {
  const { readSession, pause } = exchange.gateway;
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      await readSession(exchange.request);
      return await read();
    } catch (error) {
      const ms = PAUSES_MS[attempt];
      if (ms === undefined || toAppError(error).reason !== 'unavailable') throw error;
      await pause(ms);
    }
  }
}

/** Reads the first page. Returns all pages with it, or null if there is none. */
async function readFirst(pages: Pages): Promise<Pages | null> {
  const iterator = pages[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) return null;
  return (async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
}

async function* of<Content>(content: Content): AsyncGenerator<Content> {
  yield content;
}

/** Tells a spreadsheet that the file is UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

async function* withMark(content: AsyncIterable<string>): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK;
  yield* content;
}

const TIMES = ['timestamp', 'occurredAt', 'startsAt', 'generatedAt', 'sinceDate', 'at'];

/** Counts the items while they pass, and notes their first and last day. They are newest first, those without a time last. */
async function* counting(pages: Pages, counted: ArchivedData): Pages {
  for await (const items of pages) {
    for (const item of items) {
      const time = item[TIMES.find((field) => item[field]) ?? ''];
      const day = typeof time === 'string' ? time.slice(0, 10) : '';
      counted.count += 1;
      if (counted.to === '') counted.to = day;
      if (day !== '') counted.from = day;
    }
    yield items;
  }
}

async function* toJsonFile(pages: Pages): AsyncGenerator<string> {
  let before = '[\n';
  for await (const items of pages) {
    if (items.length === 0) continue;
    yield before + items.map((item) => JSON.stringify(item)).join(',\n');
    before = ',\n';
  }
  yield before === ',\n' ? '\n]\n' : '[]\n';
}

async function* toCsvFile(pages: Pages): AsyncGenerator<string> {
  let columns: readonly string[] | undefined;
  for await (const items of pages) {
    if (items.length === 0) continue;
    const rows = items.map((item) => toColumns(item));
    const isFirst = columns === undefined;
    columns ??= [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const shown = columns;
    const lines = rows.map((row) => toCsvLine(shown.map((column) => row[column] ?? '')));
    yield (isFirst ? toCsvLine(shown) : '') + lines.join('');
  }
}

/** The fields of an item as cells; those of an object within it by `object.field`. */
function toColumns(item: Item): Record<string, string | number> {
  const cells = Object.entries(item).flatMap(([name, value]): [string, string | number][] => {
    if (Array.isArray(value)) return [[name, value.map(toCell).join(' ')]];
    if (typeof value !== 'object' || value === null) return [[name, toCell(value)]];
    return Object.entries(value).map(([inner, content]) => [`${name}.${inner}`, toCell(content)]);
  });
  return Object.fromEntries(cells);
}

function toCell(value: unknown): string | number {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
