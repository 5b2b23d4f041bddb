import { connect } from 'node:net';

/** A request as sent over the wire. Only Host, Connection and Content-Length are added. */
export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  /** In this order, including repeated names. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

const TIMEOUT_MS = 60_000;

/** Sends one request over a new socket and returns every received byte as one character. */
export function sendRaw(base: string, request: RawRequest): Promise<string> {
  const { hostname, port, host } = new URL(base);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(encode(host, request)));
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no answer to ${request.path}`)));
  socket.on('data', (chunk) => void chunks.push(chunk));
  socket.on('error', reject);
  socket.on('end', () => resolve(Buffer.concat(chunks).toString('latin1')));
  return promise.finally(() => socket.destroy());
}

/** The response without its Date. Throws unless there is exactly one. */
export function withoutDate(raw: string): string {
  const parts = raw.split(/\r\nDate: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
  if (parts.length !== 2) throw new Error(`not one Date in ${JSON.stringify(raw)}`);
  return parts.join('\r\n');
}

function encode(host: string, { method = 'GET', path, headers = [], body }: RawRequest): Buffer {
  const fields = [['Host', host], ['Connection', 'close'], ...headers];
  if (body !== undefined) fields.push(['Content-Length', String(Buffer.byteLength(body))]);
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body ?? ''}`);
}
