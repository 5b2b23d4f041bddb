import type { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';

/** Starts listening on 127.0.0.1; returns the port, a free one for 0. Rejects if the port is taken. */
export function listenOnLoopback(server: Server, port = 0): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen(port, '127.0.0.1', () => {
    server.removeListener('error', reject);
    resolve((server.address() as { port: number }).port);
  });
  return promise;
}

/** Stops listening and breaks every connection. */
export function closeAtOnce(server: HttpServer): Promise<void> {
  const closed = server[Symbol.asyncDispose]();
  server.closeAllConnections();
  return closed;
}
