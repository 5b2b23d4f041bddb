import { Socket } from 'node:net';
import pg from 'pg';

/**
 * Runs `use` on a connection of its own and closes it. When the connection is lost meanwhile, with the locks that it held, the whole
 * fails and says so, even if `use` had nothing left to ask: unhandled, the loss of an idle connection would end the process. `use`
 * runs to its end before.
 */
export async function withConnection<T>(
  config: pg.ClientConfig & { readonly application_name: string },
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(config);
  let loss: Error | undefined;
  client.on('error', (cause) => {
    const text = `the database connection ${config.application_name} was lost, and with it the lock that it held; run it again`;
    loss ??= new Error(text, { cause });
  });
  await client.connect();
  try {
    const result = await use(client);
    if (loss !== undefined) throw loss;
    return result;
  } catch (error) {
    throw loss ?? error;
  } finally {
    await client.end();
  }
}

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
