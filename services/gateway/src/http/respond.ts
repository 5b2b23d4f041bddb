import type { ServerResponse } from 'node:http';

/** What every answer carries besides the frozen 401. */
export const GUARDS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

export type Headers = Readonly<Record<string, string>>;

/** Ends an exchange; header fields given replace the usual ones of the same name. */
export function send(
  response: ServerResponse,
  status: number,
  headers: Headers,
  body: string | Buffer,
): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const all = { 'Cache-Control': 'no-store', ...GUARDS, ...headers, 'Content-Length': String(bytes.length) };
  response.writeHead(status, all);
  response.end(bytes);
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

/** 303: the browser goes on with GET, whatever it came with. */
export function redirect(response: ServerResponse, location: string, headers: Headers = {}): void {
  send(response, 303, { ...headers, Location: location }, '');
}
