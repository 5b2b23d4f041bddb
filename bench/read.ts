import { Agent, get } from 'node:http';

const PATIENCE_MS = 10_000;
const agent = new Agent({ keepAlive: true });

/** Reads to the last byte; answers the status, 0 for none. */
export function read(url: string, token: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const headers = { Authorization: `Bearer ${token}` };
  const request = get(url, { agent, headers, signal: AbortSignal.timeout(PATIENCE_MS) }, (response) => {
    response.resume();
    response.once('end', () => resolve(response.statusCode ?? 0));
    response.once('error', () => resolve(0));
  });
  request.once('error', () => resolve(0));
  return promise;
}
