import type { ServerResponse } from 'node:http';
import type { Headers } from './respond.ts';
import type { Surface } from './surface.ts';

interface Frozen {
  readonly headers: readonly string[];
  readonly body: Buffer;
}

function freeze(headers: readonly string[], text: string): Frozen {
  const body = Buffer.from(text);
  return Object.freeze({
    headers: Object.freeze([...headers, 'Content-Length', String(body.length)]),
    body,
  });
}

const RESPONSES: Readonly<Record<Surface, Frozen>> = {
  oauth: freeze(
    [
      'Content-Type',
      'application/json; charset=utf-8',
      'WWW-Authenticate',
      'Basic realm="phds"',
      'Cache-Control',
      'no-store',
      'Pragma',
      'no-cache',
      'X-Content-Type-Options',
      'nosniff',
    ],
    '{"error":"invalid_client","error_description":"Client authentication failed.","code":"UNAUTHORIZED"}',
  ),
  problem: freeze(
    [
      'Content-Type',
      'application/problem+json',
      'WWW-Authenticate',
      'Bearer realm="phds"',
      'Cache-Control',
      'no-store',
      'X-Content-Type-Options',
      'nosniff',
    ],
    '{"type":"/problems/unauthorized","title":"Unauthorized","status":401,"code":"UNAUTHORIZED","detail":"Authentication failed."}',
  ),
};

/**
 * Sends the surface's uniform authentication failure: the same bytes, header names, values and order for every cause; only `Date`
 * differs. Written directly, bypassing anything that could add fields. `transport` depends only on the
 * configuration.
 */
export function sendUniform401(response: ServerResponse, surface: Surface, transport: Headers): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const { headers, body } = RESPONSES[surface];
  response.writeHead(401, [...Object.entries(transport).flat(), ...headers]);
  response.end(body);
}
