import { connect, createServer, type Server, type Socket } from 'node:net';
import { createDelivery } from './delivery.ts';
import type { ProxyMode } from './proxy-mode.ts';

/** Sees what the server sends to a client and says what is passed on, in place of it. */
export type Editor = (chunk: Buffer) => readonly Buffer[];

export interface FaultProxyOptions {
  readonly host: string;
  readonly port: number;
  /** Makes the editor of one connection. */
  readonly edit?: () => Editor;
}

/** Stands on one edge between a client and a server, and misbehaves as it is told. */
export interface FaultProxy extends AsyncDisposable {
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Connections at this moment. */
  readonly connections: number;
  /** Changes what it does, to the connections there are as well. */
  set(mode: ProxyMode): void;
}

const PASS: ProxyMode = { kind: 'pass' };

/** Starts a proxy on a free port of 127.0.0.1. It passes everything on until told otherwise. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  let mode = PASS;
  const server = createServer((client) => {
    const pair = new Pair(client, options, () => mode);
    pairs.add(pair);
    pair.onGone = () => void pairs.delete(pair);
  });
  const port = await listen(server);
  return {
    port,
    get connections() {
      return pairs.size;
    },
    set(next) {
      mode = next;
      for (const pair of [...pairs]) pair.applyMode();
    },
    [Symbol.asyncDispose]: async () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      for (const pair of [...pairs]) pair.destroy();
      await closed.promise;
    },
  };
}

/** One connection of a client, and the one to the server behind it. */
class Pair {
  onGone: () => void = () => undefined;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #mode: () => ProxyMode;
  /** Lost bytes, or the server without knowing: nothing passes any more. */
  #dead = false;

  constructor(client: Socket, options: FaultProxyOptions, mode: () => ProxyMode) {
    this.#client = client;
    this.#mode = mode;
    this.#server = connect({ host: options.host, port: options.port });
    const editor = options.edit?.() ?? ((chunk: Buffer) => [chunk]);
    this.#join(this.#client, this.#server, (chunk) => [chunk]);
    this.#join(this.#server, this.#client, editor);
    this.applyMode();
  }

  /** Applies the present mode to an open connection. */
  applyMode(): void {
    const { kind } = this.#mode();
    if (kind === 'reset' && this.#client.bytesRead > 0) this.#reset();
    if (kind === 'half-open') {
      this.#dead = true;
      this.#server.destroy();
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

  #join(from: Socket, to: Socket, edit: Editor): void {
    const deliver = createDelivery(from, to, this.#mode);
    from.setNoDelay(true);
    from.on('data', (chunk: Buffer) => {
      const { kind } = this.#mode();
      if (kind === 'drop') this.#dead = true;
      if (kind === 'reset') this.#reset();
      if (this.#dead || kind === 'reset') return;
      for (const each of edit(chunk)) deliver(each);
    });
    // A close is a message too: one that got lost is not passed on.
    from.on('end', () => {
      if (!this.#dead) deliver(null);
    });
    from.on('error', () => {
      if (!this.#dead) to.destroy();
    });
    from.on('close', () => {
      if (from === this.#client || !this.#dead) to.destroy();
      if (from === this.#client) this.onGone();
    });
  }
}

function listen(server: Server): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  return promise;
}
