import { Socket } from 'node:net';
import pg from 'pg';

/**
 * A connection that is given up when the server is silent for too long while somebody waits for it. In place of the driver's own
 * `query_timeout`, which makes a function for each query that keeps the query with its rows alive through minor collections
 * (closed-streams.ts says why). Queries under way reject with ETIMEDOUT.
 */
export class WatchedClient extends pg.Client {
  readonly #socket: Socket;

  constructor(config?: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
    socket.on('timeout', () => {
      const { timeout } = socket;
      socket.destroy(Object.assign(new Error(`no answer for ${timeout} ms`), { code: 'ETIMEDOUT' }));
    });
    // The pool listens while a client is idle. A client in use tells of a lost connection by its queries, and unhandled the
    // error would end the process.
    this.on('error', () => undefined);
  }

  /** Longest silence from now on, in milliseconds; 0 is any. */
  watch(silenceMs: number): void {
    this.#socket.setTimeout(silenceMs);
  }
}
