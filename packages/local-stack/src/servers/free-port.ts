import { createServer, type Server } from 'node:net';

const FIRST_CANDIDATE = 20_000;
const BLOCK_SIZE = 64;
const BLOCKS = 190;

let candidates = (process.pid % BLOCKS) * BLOCK_SIZE;

/**
 * Finds a TCP port of the loopback interface that is currently free; each call returns another one. It lies below the range of
 * outgoing connections, which could otherwise take it before a server listens, or between a server's stop and its next start.
 * Different processes search different ranges.
 */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < BLOCK_SIZE * BLOCKS; tries += 1) {
    const port = FIRST_CANDIDATE + (candidates % (BLOCK_SIZE * BLOCKS));
    candidates += 1;
    if (await isFree(port)) return port;
  }
  throw new Error('There is no free port left.');
}

/** Whether nothing listens on a port. Checks both loopback addresses, because `localhost` may be resolved to either. */
export async function isFree(port: number): Promise<boolean> {
  for (const host of ['127.0.0.1', '::1']) {
    try {
      await close(await listen(port, host));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EADDRNOTAVAIL' && code !== 'EAFNOSUPPORT') return false;
    }
  }
  return true;
}

function listen(port: number, host: string): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const server = createServer();
  server.once('error', reject);
  server.listen({ port, host }, () => resolve(server));
  return promise;
}

function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  return promise;
}
