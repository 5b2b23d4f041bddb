import { connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between a client and a server, to take the server away as a network would. */
export interface TcpProxy extends AsyncDisposable {
  /** The server's URL, by way of the proxy. */
  readonly url: string;
  /** Drops every connection and refuses new ones until `restore`. */
  cut(): Promise<void>;
  /** Accepts connections again, on the same port. */
  restore(): Promise<void>;
  /** Keeps connections open and delivers nothing any more, in either direction, until `thaw`. */
  freeze(): void;
  /** Delivers again, beginning with what was held back. */
  thaw(): void;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'postgresql:': 5432,
  'postgres:': 5432,
  'redis:': 6379,
};

/** Starts a proxy on a free port of 127.0.0.1 before the server that `targetUrl` names. */
export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const host = target.hostname;
  const targetPort = Number(target.port) || DEFAULT_PORTS[target.protocol];
  if (targetPort === undefined) throw new Error(`no port in ${target.protocol}//${target.host}`);

  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((client) => {
    const upstream = connect({ host, port: targetPort });
    join(client, upstream);
    join(upstream, client);
    if (frozen) for (const socket of [client, upstream]) socket.pause();
  });
  const join = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on('data', (chunk) => void to.write(chunk));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const cut = async () => {
    const closed = close(server);
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const port = await listen(server, 0);
  target.hostname = '127.0.0.1';
  target.port = String(port);
  return {
    url: target.href,
    cut,
    restore: async () => void (await listen(server, port)),
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    [Symbol.asyncDispose]: cut,
  };
}

function listen(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen(port, '127.0.0.1', () => {
    server.removeListener('error', reject);
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : 0);
  });
  return promise;
}

function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  return promise;
}
