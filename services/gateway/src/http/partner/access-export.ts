import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ACCESS_CSV_HEADER, toAccessCsvLine } from '@phds/catalog/access-csv';
import type { AccessRecord } from '@phds/contracts/phds/consent/v1/access_pb';
import { AppError } from '@phds/service-kit/errors';
import { type Exchange, onBehalf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { readQuery } from '../list-query.ts';
import { GUARDS } from '../respond.ts';
import { ACCESS_QUERY, readAccessFilter } from './accesses.ts';
import { toAccessJson } from './consent-json.ts';

/** Concurrent exports allowed for one person; each holds a connection and memory. */
const AT_ONCE = 2;
const RETRY_AFTER_SECONDS = 5;

/** A client that reads nothing for this long is treated as gone. */
const IDLE_MS = 60_000;

const HEAD = {
  'Content-Type': 'text/csv; charset=utf-8; header=present',
  'Content-Disposition': 'attachment; filename="access-history.csv"',
  'Cache-Control': 'no-store',
  ...GUARDS,
};

type ReadPiece = (afterId: string) => Promise<readonly AccessRecord[]>;

/**
 * `GET /partner/consent/accesses.csv`: all accesses that match the list's filters, newest first. The response is streamed: at most
 * two pieces are in memory, and the next is requested when the client has read the previous one. If a piece cannot be read, the
 * connection ends without the last chunk, so that no client takes the file for complete.
 */
export function createAccessExport(gateway: Gateway): (exchange: Exchange) => Promise<void> {
  const running = new Map<string, number>();
  return async (exchange) => {
    const userId = exchange.session?.userId ?? '';
    const others = running.get(userId) ?? 0;
    if (others >= AT_ONCE) throw new AppError('rate_limited', '', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    running.set(userId, others + 1);
    try {
      await exportAccesses(gateway, exchange);
    } finally {
      const left = (running.get(userId) ?? 1) - 1;
      if (left > 0) running.set(userId, left);
      else running.delete(userId);
    }
  };
}

async function exportAccesses(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { request, response, requestId } = exchange;
  const query = readQuery(request.originalUrl, ACCESS_QUERY);
  const filter = readAccessFilter(query);
  query.check();
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // If the client disconnected during session and limit checks, 'close' has already been emitted.
  if (response.destroyed) return;
  const options = { ...onBehalf(exchange), signal: gone.signal };
  const readPiece: ReadPiece = async (afterId) =>
    (await gateway.backends.accesses.exportAccesses({ ...filter, afterId }, options)).accesses;
  // Read before the head is sent, so that an error can still set the status.
  const first = await readPiece('');
  response.writeHead(200, HEAD);
  response.setTimeout(IDLE_MS, () => response.destroy());
  try {
    await pipeline(Readable.from(toCsv(first, readPiece)), response);
  } catch (err) {
    if (!gone.signal.aborted) gateway.log.warn({ err, requestId }, 'an export of accesses broke off');
    response.destroy();
  }
}

async function* toCsv(first: readonly AccessRecord[], readPiece: ReadPiece): AsyncGenerator<string> {
  yield ACCESS_CSV_HEADER;
  for (let piece = first; ; ) {
    const last = piece.at(-1);
    if (last === undefined) return;
    yield piece.map(toLine).join('');
    piece = await readPiece(last.id);
  }
}

function toLine(record: AccessRecord): string {
  const { at, app, from, to, outcome, reason, ...access } = toAccessJson(record);
  return toAccessCsvLine({
    ...access,
    at: at ?? '',
    outcome: outcome === 'released' ? outcome : 'refused',
    app: app.clientId,
    appName: app.name,
    from: from ?? '',
    to: to ?? '',
    page: record.page,
    requestId: record.requestId,
    reason: reason ?? '',
  });
}
