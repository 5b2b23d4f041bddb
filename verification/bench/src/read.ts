import { Agent } from 'undici';

const PATIENCE_MS = 10_000;
// As many connections as concurrent requests, so that no request waits for another.
const agent = new Agent({ pipelining: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });

/**
 * Reads the whole response and returns its status, 0 for none. Uses callbacks, because the load shares the machine with its target.
 */
export function read(url: string, token: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const { origin, pathname, search } = new URL(url);
  const headers = { authorization: `Bearer ${token}` };
  let status = 0;
  agent.dispatch(
    { origin, path: pathname + search, method: 'GET', headers },
    {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, statusCode) => {
        status = statusCode;
      },
      onResponseData: () => undefined,
      onResponseEnd: () => resolve(status),
      onResponseError: () => resolve(0),
    },
  );
  return promise;
}
