import { connect } from 'node:net';

/** Sends a request and returns the whole response as it comes over the wire, with its Date replaced. */
export async function exchangeRaw(port: number, head: string, body = ''): Promise<string> {
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket
    .on('data', (chunk) => chunks.push(chunk))
    .on('error', reject)
    .on('close', () => resolve());
  socket.write(`${head}\r\nHost: gateway.test\r\n${length}Connection: close\r\n\r\n${body}`);
  await promise;
  return Buffer.concat(chunks)
    .toString('latin1')
    .replace(/\r\nDate: [^\r]*/, '\r\nDate: now');
}

/** The uniform 401 of every surface with problem documents. */
export const UNIFORM_PROBLEM = `HTTP/1.1 401 Unauthorized\r
Content-Type: application/problem+json\r
WWW-Authenticate: Bearer realm="phds", DPoP realm="phds", algs="ES256 EdDSA Ed25519 PS256"\r
Cache-Control: no-store\r
X-Content-Type-Options: nosniff\r
Content-Length: 125\r
Date: now\r
Connection: close\r
\r
{"type":"/problems/unauthorized","title":"Unauthorized","status":401,"code":"UNAUTHORIZED","detail":"Authentication failed."}`;

/** A raw answer without what differs from request to request: its id, and the state and size of limits. */
export function withoutVariations(raw: string): string {
  return raw
    .replaceAll(/req_[0-9A-Za-z]+/g, 'req')
    .replace(/(RateLimit: "[a-z-]+";r=)[1-9]\d*;t=\d+/, '$1n;t=s')
    .replace(/r=0;t=\d+/, 'r=0;t=s')
    .replace(/Retry-After: (?!1\r)\d+/, 'Retry-After: s')
    .replace(/q=\d+/, 'q=n');
}
