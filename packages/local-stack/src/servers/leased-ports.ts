import { createServer, type Server } from 'node:net';

/** All blocks lie below the range of outgoing connections (on Linux 32768 and above), which could take a port between two listeners. */
const FIRST_PORT = 20_000;
const BLOCK_SIZE = 64;
const BLOCKS = 190;

const leased = lease();

/**
 * A TCP port of the loopback interface that belongs to this process while it lives: no other process leases it, and each call returns
 * another one. So its server may start later, and stop and start again.
 */
export async function leasePort(): Promise<number> {
  const { done, value } = await leased.next();
  if (done) throw new Error('There is no free port left.');
  return value;
}

/**
 * A process has a block of ports while it listens on the first one; when a process ends, its block is free at once. The next block follows
 * when the ports of one are used up. Ports of a block on which a stranger listens are left out.
 */
async function* lease(): AsyncGenerator<number, void> {
  for (let tries = 0; tries < BLOCKS; tries += 1) {
    const first = FIRST_PORT + ((process.pid + tries) % BLOCKS) * BLOCK_SIZE;
    if (!(await hold(first))) continue;
    for (let port = first + 1; port < first + BLOCK_SIZE; port += 1) if (await isFree(port)) yield port;
  }
}

/** Listens on a port until this process ends, without keeping it alive. Returns whether that was possible. */
async function hold(port: number): Promise<boolean> {
  try {
    (await listen(port, '127.0.0.1')).unref();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
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
  const server = createServer((socket) => socket.destroy());
  server.once('error', reject);
  // Exclusive: the workers of a cluster would share a listener.
  server.listen({ port, host, exclusive: true }, () => resolve(server));
  return promise;
}

function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  return promise;
}
