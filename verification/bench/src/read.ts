import { Agent } from 'undici';

const PATIENCE_MS = 10_000;
// As many connections as there are requests under way, none of which waits for another.
const agent = new Agent({ pipelining: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });

/** Reads to the last byte; answers the status, 0 for none. By callbacks: the load shares the machine with what it is a load for. */
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
