import type { ServerResponse } from 'node:http';
import type { Config } from '../config.ts';

/** Sent with every response except the uniform 401. */
export const GUARDS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

export type Headers = Readonly<Record<string, string>>;

/** Ends an exchange. The given header fields replace default fields of the same name. */
export function send(
  response: ServerResponse,
  status: number,
  headers: Headers,
  body: string | Buffer,
): void {
  // A 204 must not have a Content-Length (RFC 9110 8.6).
  const length = status === 204 ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  response.writeHead(status, { 'Cache-Control': 'no-store', ...GUARDS, ...headers, ...length });
  // Node writes a text together with the header.
  response.end(body);
}

/**
 * Sent with every response when the public address is https (RFC 6797). No includeSubDomains: other hosts of the domain are not
 * ours.
 */
export function transportHeaders({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): Headers {
  return PUBLIC_URL.startsWith('https:') ? { 'Strict-Transport-Security': 'max-age=31536000' } : {};
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Headers = {},
): void {
  const type = { 'Content-Type': 'application/json; charset=utf-8' };
  send(response, status, { ...type, ...headers }, JSON.stringify(body));
}

/** Redirects with 303, so that the browser continues with GET. */
export function redirect(response: ServerResponse, location: string, headers: Headers = {}): void {
  send(response, 303, { ...headers, Location: location }, '');
}

/** CORS fields that open a document to every origin; used for public documents only. */
const OPEN = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
} as const;

const PREFLIGHT = {
  ...OPEN,
  'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
  // `*` does not stand for Authorization.
  'Access-Control-Allow-Headers': '*, Authorization',
  'Access-Control-Max-Age': '86400',
} as const;

/** Sends a public document, given as JSON text, or answers the CORS preflight for it. */
export function answerPublicly(
  response: ServerResponse,
  method: string,
  json: string | Buffer,
  headers: Headers,
): void {
  const type = { 'Content-Type': 'application/json; charset=utf-8' };
  if (method === 'OPTIONS') send(response, 204, PREFLIGHT, '');
  else send(response, 200, { ...type, ...OPEN, ...headers }, json);
}
