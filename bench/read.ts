import { Agent, get } from 'node:http';

const PATIENCE_MS = 10_000;
// A timeout of the socket costs nothing; a signal for each request would be kept, with all it holds, until its time is over.
const agent = new Agent({ keepAlive: true, timeout: PATIENCE_MS });

/** Reads to the last byte; answers the status, 0 for none. */
export function read(url: string, token: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const headers = { Authorization: `Bearer ${token}` };
  const request = get(url, { agent, headers }, (response) => {
    response.resume();
    response.once('end', () => resolve(response.statusCode ?? 0));
    response.once('error', () => resolve(0));
  });
  request.once('timeout', () => request.destroy());
  request.once('error', () => resolve(0));
  return promise;
}
