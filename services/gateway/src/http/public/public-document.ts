import type { ServerResponse } from 'node:http';
import { type Headers, send } from '../respond.ts';

/** CORS fields that open a document to every origin; used for public documents only. */
const OPEN = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
} as const;

const PREFLIGHT = {
  ...OPEN,
  'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Max-Age': '86400',
} as const;

/** Sends a public document, given as JSON text, or answers the CORS preflight for it. */
export function answerPublicly(
  response: ServerResponse,
  method: string,
  json: string | Buffer,
  headers: Headers = { 'Cache-Control': 'public, max-age=300' },
): void {
  const type = { 'Content-Type': 'application/json; charset=utf-8' };
  if (method === 'OPTIONS') send(response, 204, PREFLIGHT, '');
  else send(response, 200, { ...type, ...OPEN, ...headers }, json);
}
