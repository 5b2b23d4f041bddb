import { connect } from 'node:net';

/** A request as it goes over the wire; nothing is added but Host, Connection and the length of the body. */
export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  /** In this order, repeated names and all. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

const TIMEOUT_MS = 15_000;

/** Sends one request over a socket of its own and answers every byte that came back, one character a byte. */
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

/** The answer with its Date taken out. Throws unless it has exactly one. */
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
