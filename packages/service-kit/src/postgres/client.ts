import { Socket } from 'node:net';
import pg from 'pg';
import { currentDeadline, type Deadline, type Ongoing } from '../deadline.ts';

/** Runs `use` in a transaction on a connection of the pool. Commits unless `use` throws, or took longer than `limitMs`. */
export async function inTransaction<T>(
  pool: pg.Pool,
  use: (client: pg.ClientBase) => Promise<T>,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const client = await pool.connect();
  const startedAt = performance.now();
  let isOver = false;
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    const result = await use(client);
    if (performance.now() - startedAt > limitMs) throw givenUp();
    await client.query(COMMIT);
    isOver = true;
    return result;
  } catch (error) {
    isOver = await client.query(ROLLBACK).then(
      () => true,
      () => false,
    );
    throw error;
  } finally {
    // A connection with an unfinished transaction is closed instead of reused.
    client.release(!isOver);
  }
}

/**
 * A Postgres client that closes its connection when the server is silent for too long during a query. It replaces the driver's
 * `query_timeout`, which creates a function for each query that keeps the query and its rows alive through minor collections. Queries in progress reject with ETIMEDOUT.
 *
 * It also observes the deadline of the current call. It does not start a statement whose caller has stopped waiting, and closes the
 * connection when the caller gives up during one. It commits only while there is time for the commit and the answer; otherwise it
 * rolls back.
 */
export class WatchedClient extends pg.Client implements Ongoing {
  readonly #socket: Socket;
  /** Deadline of the call that last used the client. */
  #deadline: Deadline | undefined;

  constructor(config?: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
    socket.on('timeout', () => {
      const { timeout } = socket;
      socket.destroy(Object.assign(new Error(`no answer for ${timeout} ms`), { code: 'ETIMEDOUT' }));
    });
    // The pool listens for errors while a client is idle. A client in use reports a lost connection through its queries, and an
    // unhandled error event would end the process.
    this.on('error', () => undefined);
  }

  /** Sets the maximum silence of the server from now on, in milliseconds; 0 means unlimited. */
  watch(silenceMs: number): void {
    this.#socket.setTimeout(silenceMs);
  }

  override query = ((...args: QueryArguments) => {
    const deadline = currentDeadline();
    const text = textOf(args[0]);
    if (deadline === undefined || text === ROLLBACK) return this.#send(args);
    if (text === COMMIT) {
      // Released, because closing the connection during a COMMIT would leave its outcome unknown.
      this.leaveDeadline();
      return deadline.remainingMs() < COMMIT_MARGIN_MS ? this.#rollBack(args) : this.#send(args);
    }
    if (deadline.remainingMs() === 0) return refuse(args);
    if (this.#deadline !== deadline) {
      this.leaveDeadline();
      this.#deadline = deadline;
      deadline.hold(this);
    }
    return this.#send(args);
  }) as pg.Client['query'];

  /** Called when the caller gives up. Closing the connection ends the work of the server. */
  abort(): void {
    this.leaveDeadline();
    const { readyForQuery } = this as unknown as { readyForQuery: boolean };
    if (!readyForQuery) this.#socket.destroy(givenUp());
  }

  /** Detaches the client from the call. */
  leaveDeadline(): void {
    this.#deadline?.release(this);
    this.#deadline = undefined;
  }

  #send(args: QueryArguments): unknown {
    return (super.query as unknown as (...sent: QueryArguments) => unknown)(...args);
  }

  /** Replaces the COMMIT, because not every caller rolls back after a failed commit. */
  #rollBack(args: QueryArguments): unknown {
    const outcome = super.query(ROLLBACK).then(() => Promise.reject(givenUp()));
    return answer(args, outcome);
  }
}

type Callback = (error: Error, result?: unknown) => void;
type QueryArguments = [query: unknown, ...rest: unknown[]];

const COMMIT = 'COMMIT';
const ROLLBACK = 'ROLLBACK';

/** Time reserved for a commit and the answer, so that a caller that timed out does not find its change committed. */
const COMMIT_MARGIN_MS = 100;

function textOf(query: unknown): unknown {
  return typeof query === 'object' && query !== null && 'text' in query ? query.text : query;
}

function refuse(args: QueryArguments): unknown {
  return answer(args, Promise.reject(givenUp()));
}

/** Delivers the result as `query` does: to the callback or as a promise. */
function answer(args: QueryArguments, outcome: Promise<never>): unknown {
  const callback = args.find((arg): arg is Callback => typeof arg === 'function');
  if (callback === undefined) return outcome;
  outcome.catch(callback);
  return undefined;
}

/** Throws if the caller waits for less than `ms`. For transactions whose answer takes time after the commit. */
export function requireTimeLeft(ms: number): void {
  const deadline = currentDeadline();
  if (deadline !== undefined && deadline.remainingMs() < ms) throw givenUp();
}

/** The error for work that was not started or not finished because the caller stopped waiting. */
export function givenUp(): Error {
  return Object.assign(new Error('the caller stopped waiting'), { code: 'ETIMEDOUT' });
}

/**
 * Runs `use` on a new connection and closes it. If the connection, and with it any lock it holds, is lost before `use` ends, the
 * promise rejects after `use` has ended, even if `use` itself succeeded. Without an error handler, losing an idle connection would
 * end the process.
 */
export async function withConnection<T>(
  config: pg.ClientConfig & { readonly application_name: string },
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(config);
  let loss: Error | undefined;
  client.on('error', (cause) => {
    const text = `the database connection ${config.application_name} was lost together with its lock; run the command again`;
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
