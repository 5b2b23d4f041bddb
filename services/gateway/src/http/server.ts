import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from '@phds/service-kit/clock';
import { newId } from '@phds/service-kit/ids';
import { listenHttp } from '@phds/service-kit/probes';
import { requirePair } from '@phds/service-kit/rpc/tls';
import type { Reloads } from '@phds/service-kit/settings/reload';
import type { Express } from 'express';
import type { Config } from '../config.ts';
import { HttpError, type Surface, sendError, surfaceOf, toErrorAnswer } from './http-error.ts';
import { GUARDS, type Headers, transportHeaders } from './respond.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;
/** How late the two may fire. Node's default is 30 seconds. */
const TIMEOUTS_CHECK_MS = 1_000;
const DRAIN_LIMIT_MS = 5_000;
const DRAIN_STEP_MS = 20;

export type ServerConfig = Pick<
  Config,
  | 'HOST'
  | 'PORT'
  | 'PUBLIC_URL'
  | 'MAX_HEADER_BYTES'
  | 'MAX_CONNECTIONS'
  | 'STALLED_CONNECTION_MS'
  | 'KEEP_ALIVE_SECONDS'
  | 'MIN_READ_BYTES_PER_SECOND'
> &
  Partial<Pick<Config, 'PUBLIC_TLS_CERT' | 'PUBLIC_TLS_KEY'>>;

interface HttpServer extends AsyncDisposable {
  readonly port: number;
  /** From now on, each answer ends its connection, so that clients connect elsewhere before the port closes. */
  leave(): void;
}

/**
 * Opens the public port with limits on slow clients, for HTTPS if the settings have a certificate. Disposal waits up to five seconds for
 * requests in progress.
 */
export async function startHttpServer(
  app: Express,
  config: ServerConfig,
  {
    clock,
    reloads,
  }: { readonly clock: Clock; readonly reloads: Pick<Reloads, 'watch' | 'measureCertificate'> },
): Promise<HttpServer> {
  const limits = {
    maxHeaderSize: config.MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUTS_CHECK_MS,
    keepAliveTimeout: config.KEEP_ALIVE_SECONDS * 1_000,
    // Checked in refuseWithoutHost, whose response has a body.
    requireHostHeader: false,
  };
  const transport = transportHeaders(config);
  let isLeaving = false;
  const server = createHttpServer(limits, config, reloads, (request, response) => {
    if (disconnectPipelining(request, response)) return;
    request.url = toOriginForm(request.url ?? '');
    if (isLeaving) response.shouldKeepAlive = false;
    if (!refuseWithoutHost(request, response, transport)) app(request, response);
  });
  answerMalformedRequests(server, transport, clock);
  server.maxConnections = config.MAX_CONNECTIONS;
  // A slow reader keeps its response in memory.
  server.timeout = config.STALLED_CONNECTION_MS;
  disconnectSlowReaders(server, {
    graceMs: config.STALLED_CONNECTION_MS,
    bytesPerSecond: config.MIN_READ_BYTES_PER_SECOND,
  });
  return {
    port: await listenHttp(server, config.HOST, config.PORT),
    leave: () => {
      isLeaving = true;
    },
    [Symbol.asyncDispose]: () => {
      isLeaving = true;
      return drain(server);
    },
  };
}

function createHttpServer(
  limits: ServerOptions,
  { PUBLIC_TLS_CERT: cert, PUBLIC_TLS_KEY: key }: ServerConfig,
  { watch, measureCertificate }: Pick<Reloads, 'watch' | 'measureCertificate'>,
  listener: RequestListener,
): Server {
  if (cert === undefined || key === undefined) return createServer(limits, listener);
  const check = (pair: { readonly cert: string; readonly key: string }) =>
    requirePair('PUBLIC_TLS_CERT', pair, 'PUBLIC_TLS_CERT and PUBLIC_TLS_KEY');
  check({ cert, key });
  const measure = measureCertificate('PUBLIC_TLS_CERT', cert);
  const secure = { ...limits, cert, key, handshakeTimeout: HEADERS_TIMEOUT_MS };
  const server = createSecureServer(secure, listener);
  watch(['PUBLIC_TLS_CERT', 'PUBLIC_TLS_KEY'], (changed) => {
    const pair = { cert: changed.PUBLIC_TLS_CERT ?? cert, key: changed.PUBLIC_TLS_KEY ?? key };
    check(pair);
    server.setSecureContext(pair);
    measure(pair.cert);
  });
  return server;
}

/** A client may send a whole URL as target, as to a proxy; its host does not matter here (RFC 9112 3.2.2). */
function toOriginForm(target: string): string {
  const origin = target.startsWith('/') ? null : /^https?:\/\/[^/?#]+/i.exec(target);
  if (origin === null) return target;
  const rest = target.slice(origin[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function drain(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // A busy connection becomes idle after its response and would then be kept alive.
  const step = setInterval(() => server.closeIdleConnections(), DRAIN_STEP_MS);
  const limit = setTimeout(() => server.closeAllConnections(), DRAIN_LIMIT_MS);
  server.close(() => {
    clearInterval(step);
    clearTimeout(limit);
    resolve();
  });
  return promise;
}

/** Requests that may wait on a connection behind the one that is being answered. */
const MAX_WAITING = 7;
const CHECK_INTERVAL_MS = 1_000;

/** Requests that wait behind another, by connection. */
const waiting = new WeakMap<Socket, number>();

/**
 * Disconnects a client that has sent more requests than a connection may have without an answer. Returns whether it is disconnected. It
 * gets no answer, because answers and requests that wait for a slow reader are the memory that it would take.
 */
function disconnectPipelining({ socket }: IncomingMessage, response: ServerResponse): boolean {
  if (socket.destroyed) return true;
  // A response that waits behind another has no connection yet. Requests one at a time therefore cost nothing here.
  if (response.socket !== null) return false;
  const count = waiting.get(socket) ?? 0;
  if (count >= MAX_WAITING) {
    disconnect(socket);
    return true;
  }
  waiting.set(socket, count + 1);
  response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
  return false;
}

/**
 * A connection with Node's parser and the response to its current request. What `onIncoming` returns tells the parser what follows the
 * request; 2 means that no HTTP follows, as after an upgrade.
 */
type HttpSocket = Socket & {
  readonly parser?: { onIncoming: () => number } | null;
  readonly _httpMessage?: ServerResponse | null;
};

/**
 * Node would go on to parse what it has received already, up to 64 KB, and keep thousands of requests of each such connection until the end
 * of the turn. There is no public way to stop it.
 */
function disconnect(socket: HttpSocket): void {
  if (socket.parser) socket.parser.onIncoming = () => 2;
  socket.destroy();
}

interface ReadingPace {
  /** A slow beginning is allowed for this long. */
  readonly graceMs: number;
  readonly bytesPerSecond: number;
}

/** An uninterrupted wait for a reader. */
interface Wait {
  readonly since: number;
  /** How much the system had taken of the connection's output when the wait began. */
  readonly taken: number;
}

/**
 * Disconnects readers that take their answers more slowly than the pace, on average since output began to wait for them. The timeout of
 * the server only finds those that take nothing.
 */
function disconnectSlowReaders(server: Server, { graceMs, bytesPerSecond }: ReadingPace): void {
  const connections = new Set<Socket>();
  const waits = new WeakMap<Socket, Wait>();
  // With TLS, what the client takes is measured behind the encryption.
  const opened = 'setSecureContext' in server ? 'secureConnection' : 'connection';
  server.on(opened, (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  const check = (now: number) => {
    for (const socket of connections) {
      const wait = waits.get(socket);
      if (socket.writableLength === 0) waits.delete(socket);
      // Counts the waiting bytes, too.
      else if (wait === undefined) {
        waits.set(socket, { since: now, taken: socket.bytesWritten - socket.writableLength });
      } else {
        // One large chunk counts as waiting until all of it is taken, so it is given the time that it may need.
        const allowedMs = graceMs + ((socket.bytesWritten - wait.taken) / bytesPerSecond) * 1000;
        if (now - wait.since > allowedMs) socket.destroy();
      }
    }
  };
  const interval = setInterval(() => check(performance.now()), CHECK_INTERVAL_MS).unref();
  server.once('close', () => clearInterval(interval));
}

/** How long the connection stays open for a client that is still sending, so that it can receive the response. */
const LINGER_MS = 1_000;

const MALFORMED = new HttpError(400, 'INVALID_REQUEST', 'The request is not well-formed HTTP.');
const REFUSALS: Readonly<Record<string, HttpError>> = {
  HPE_HEADER_OVERFLOW: new HttpError(431, 'INVALID_REQUEST', 'The header fields are too large.'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new HttpError(413, 'INVALID_REQUEST', 'The chunk extensions are too large.'),
  HPE_INVALID_EOF_STATE: new HttpError(400, 'INVALID_REQUEST', 'The request broke off before its end.'),
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError(408, 'INVALID_REQUEST', 'The request did not arrive in time.'),
};
const NO_HOST = new HttpError(400, 'INVALID_REQUEST', 'The Host field is missing.');
const EXPECTATION = new HttpError(417, 'INVALID_REQUEST', 'No expectation but 100-continue is met.');

/**
 * Answers requests that Node's HTTP parser rejects. Node would answer without a body; these responses have a `code` like all
 * others.
 */
export function answerMalformedRequests(server: Server, transport: Headers, clock: Clock): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    if (disconnectPipelining(request, response)) return;
    sendError(response, 'problem', EXPECTATION, newId('req', 96), transport);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: HttpSocket) => {
    // The parser also reports bytes that arrive on this connection after the answer.
    if (socket.writableEnded) return;
    const response = socket._httpMessage ?? null;
    // Once part of a response has been sent, the client would read a second one as its continuation. Node's own handler makes the
    // same check.
    const isAnswering = response?.headersSent === true;
    const refusal = error.code === 'ECONNRESET' || isAnswering ? null : findRefusal(error);
    if (refusal === null || !socket.writable) return void socket.destroy();
    socket.end(toMessage(refusal, surfaceOf(findUrl(response)), transport, clock.now()));
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
}

/** Refuses an HTTP/1.1 request without `Host` (RFC 9112 3.2). Returns whether it did. */
function refuseWithoutHost(
  { httpVersion, rawHeaders }: IncomingMessage,
  response: ServerResponse,
  transport: Headers,
): boolean {
  if (httpVersion !== '1.1') return false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') return false;
  }
  sendError(response, 'problem', NO_HOST, newId('req', 96), { ...transport, Connection: 'close' });
  return true;
}

/** The URL of the current request; empty until its head has arrived. Not `url`, which Express shortens inside routers. */
function findUrl(response: ServerResponse | null): string {
  const request: (IncomingMessage & { readonly originalUrl?: string }) | undefined = response?.req;
  return request?.originalUrl ?? request?.url ?? '';
}

function findRefusal({ code = '' }: NodeJS.ErrnoException): HttpError | null {
  return REFUSALS[code] ?? (code.startsWith('HPE_') ? MALFORMED : null);
}

function toMessage(error: HttpError, surface: Surface, transport: Headers, now: Date): string {
  const { status, headers, body } = toErrorAnswer(surface, error, newId('req', 96));
  const fields = {
    ...transport,
    'Cache-Control': 'no-store',
    ...GUARDS,
    ...headers,
    'Content-Length': String(Buffer.byteLength(body)),
    Date: now.toUTCString(),
    Connection: 'close',
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`;
}
