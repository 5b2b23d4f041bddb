import { connect, createServer, type Socket } from 'node:net';

/** Stands between gateways and Redis, and can keep what is published to itself. */
export interface EventFilter extends AsyncDisposable {
  /** Redis by way of the filter. */
  readonly url: string;
  /** Subscribers stay connected and hear nothing; every other command works. */
  swallow(on: boolean): void;
  /** How many pieces of news were kept back. */
  readonly swallowed: number;
}

// How Redis answers a SUBSCRIBE. From then on a connection receives what is published and nothing else.
const SUBSCRIBED = '$9\r\nsubscribe\r\n';
const MESSAGE = '$7\r\nmessage\r\n';

/** Starts a filter on a free port of 127.0.0.1 before the Redis of this URL. */
export async function startEventFilter(redisUrl: string): Promise<EventFilter> {
  const { hostname: host, port } = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let swallowing = false;
  let swallowed = 0;
  const server = createServer((client) => {
    const redis = connect({ host, port: Number(port) });
    let subscribed = false;
    client.on('data', (chunk) => void redis.write(chunk));
    redis.on('data', (chunk) => {
      if (subscribed && swallowing) swallowed += chunk.toString('latin1').split(MESSAGE).length - 1;
      else client.write(chunk);
      subscribed ||= chunk.includes(SUBSCRIBED);
    });
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject).listen(0, '127.0.0.1', () => listening.resolve());
  await listening.promise;
  return {
    url: `redis://127.0.0.1:${(server.address() as { port: number }).port}`,
    swallow: (on) => {
      swallowing = on;
    },
    get swallowed() {
      return swallowed;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      for (const socket of sockets) socket.destroy();
      await closed.promise;
    },
  };
}
