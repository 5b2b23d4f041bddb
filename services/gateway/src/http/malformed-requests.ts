import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@phds/service-kit/clock';
import { newId } from '@phds/service-kit/ids';
import { disconnectPipelining } from './connection-limits.ts';
import { HttpError } from './http-error.ts';
import { toOauthError } from './oauth-error.ts';
import { sendProblem, toProblem } from './problem.ts';
import { GUARDS, type Headers } from './respond.ts';
import { type Surface, surfaceOf } from './surface.ts';

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

/** A connection with the response to its current request. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse | null };

/**
 * Answers requests that Node's HTTP parser rejects. Node would answer without a body; these responses have a `code` like all
 * others.
 */
export function answerMalformedRequests(server: Server, transport: Headers, clock: Clock): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    if (disconnectPipelining(request, response)) return;
    sendProblem(response, EXPECTATION, newId('req', 96), transport);
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
export function refuseWithoutHost(
  { httpVersion, rawHeaders }: IncomingMessage,
  response: ServerResponse,
  transport: Headers,
): boolean {
  if (httpVersion !== '1.1') return false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') return false;
  }
  sendProblem(response, NO_HOST, newId('req', 96), { ...transport, Connection: 'close' });
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
  const toAnswer = surface === 'oauth' ? toOauthError : toProblem;
  const { status, headers, body } = toAnswer(error, newId('req', 96));
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
