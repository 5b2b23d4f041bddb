import { connect, createServer, type Server, type Socket } from 'node:net';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { listenOnLoopback } from './loopback.ts';
import type { ProxyMode } from './proxy-mode.ts';
import { createDelivery } from './tcp-delivery.ts';

/** Receives a chunk that the server sends to one client and returns what is forwarded instead. */
export type Editor = (chunk: Buffer) => readonly Buffer[];

/** Of either side. Null resets the connection. */
type SideEditor = (chunk: Buffer) => readonly Buffer[] | null;

/** A proxy between clients and a server that simulates network faults. */
export interface TcpProxy extends AsyncDisposable {
  /** The server's URL through the proxy. */
  readonly url: string;
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Number of open connections. */
  readonly connections: number;
  /** Changes the mode, for open connections as well. */
  set(mode: ProxyMode): void;
  /** Forwards new connections to this port of the server's host; open ones stay. */
  redirect(port: number): void;
  /** Resets the next connection on which a chunk with this text comes from this side, in place of the chunk. */
  resetAt(side: 'client' | 'server', text: string): void;
  /** Closes every connection and refuses new ones until `restore`. */
  cut(): Promise<void>;
  /** Accepts connections again, on the same port. */
  restore(): Promise<void>;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'postgresql:': 5432,
  'postgres:': 5432,
  'redis:': 6379,
};

/**
 * Starts a proxy on a port of 127.0.0.1 in front of the server of `targetUrl`. It forwards everything until `set` is called.
 * `edit` creates the editor of one connection.
 */
export async function startTcpProxy(targetUrl: string, edit?: () => Editor): Promise<TcpProxy> {
  const url = new URL(targetUrl);
  const target = { host: url.hostname, port: Number(url.port) || DEFAULT_PORTS[url.protocol] };
  if (target.port === undefined) throw new Error(`no port in ${url.protocol}//${url.host}`);
  const address = { host: target.host, port: target.port };
  const pairs = new Set<Pair>();
  let mode: ProxyMode = { kind: 'pass' };
  let trap: Trap | null = null;
  const trapped = (side: Trap['side'], editor: SideEditor = (chunk) => [chunk]): SideEditor => {
    return (chunk) => {
      if (trap?.side !== side || !chunk.includes(trap.text)) return editor(chunk);
      trap = null;
      return null;
    };
  };
  const server = createServer((client) => {
    const edits = { client: trapped('client'), server: trapped('server', edit?.()) };
    const pair = new Pair(client, connect(address), () => mode, edits);
    pairs.add(pair);
    client.on('close', () => pairs.delete(pair));
  });
  const cut = async () => {
    const closed = close(server);
    for (const pair of [...pairs]) pair.destroy();
    await closed;
  };
  const port = await listenOnLoopback(server, await leasePort());
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return {
    url: url.href,
    port,
    get connections() {
      return pairs.size;
    },
    set(next) {
      mode = next;
      for (const pair of [...pairs]) pair.applyMode();
    },
    redirect(next) {
      address.port = next;
    },
    resetAt(side, text) {
      trap = { side, text };
    },
    cut,
    restore: async () => void (await listenOnLoopback(server, port)),
    [Symbol.asyncDispose]: cut,
  };
}

interface Trap {
  readonly side: 'client' | 'server';
  readonly text: string;
}

/** A client's connection and the corresponding one to the server. */
class Pair {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #mode: () => ProxyMode;
  /** After bytes were lost, or only the server's side was closed, nothing is forwarded any more. */
  #dead = false;
  #held = false;

  constructor(
    client: Socket,
    server: Socket,
    mode: () => ProxyMode,
    edits: Readonly<Record<Trap['side'], SideEditor>>,
  ) {
    this.#client = client;
    this.#server = server;
    this.#mode = mode;
    this.#join(client, server, edits.client);
    this.#join(server, client, edits.server);
    this.applyMode();
  }

  /** Applies the new mode to an open connection. */
  applyMode(): void {
    const { kind } = this.#mode();
    if (kind === 'reset' && this.#client.bytesRead > 0) this.#reset();
    if (kind === 'half-open') {
      this.#dead = true;
      this.#server.destroy();
    }
    const wasHeld = this.#held;
    this.#held = kind === 'hold';
    for (const socket of [this.#client, this.#server]) {
      if (this.#held) socket.pause();
      else if (wasHeld) socket.resume();
    }
  }

  destroy(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #reset(): void {
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
  }

  #join(from: Socket, to: Socket, edit: SideEditor): void {
    const deliver = createDelivery(from, to, this.#mode);
    from.setNoDelay(true);
    from.on('data', (chunk: Buffer) => {
      const { kind } = this.#mode();
      if (kind === 'drop') this.#dead = true;
      if (kind === 'reset') this.#reset();
      if (this.#dead || kind === 'reset') return;
      const edited = edit(chunk);
      if (edited === null) return this.#reset();
      for (const each of edited) deliver(each);
    });
    // A close is lost like data: a dead connection does not forward it.
    from.on('end', () => {
      if (!this.#dead) deliver(null);
    });
    from.on('error', () => {
      if (!this.#dead) to.destroy();
    });
    from.on('close', () => {
      if (from === this.#client || !this.#dead) to.destroy();
    });
  }
}

function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  return promise;
}
