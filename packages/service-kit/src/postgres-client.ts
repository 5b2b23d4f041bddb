import { Socket } from 'node:net';
import pg from 'pg';
import { currentDeadline, type Deadline, type Ongoing } from './deadline.ts';

/** Runs `use` in a transaction on a connection of the pool: commits what it did unless it throws. */
export async function inTransaction<T>(
  pool: pg.Pool,
  use: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isOver = false;
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    const result = await use(client);
    await client.query('COMMIT');
    isOver = true;
    return result;
  } finally {
    // A transaction that is not over ends with its connection.
    client.release(!isOver);
  }
}

/**
 * A connection that is given up when the server is silent for too long while somebody waits for it. In place of the driver's own
 * `query_timeout`, which makes a function for each query that keeps the query with its rows alive through minor collections
 * (closed-streams.ts says why). Queries under way reject with ETIMEDOUT.
 *
 * Statements of a call are not begun when its caller waits no more, and those under way end with the connection when the caller
 * gives up. A transaction is committed only while there is time left for the commit and the answer; otherwise it is rolled back.
 */
export class WatchedClient extends pg.Client implements Ongoing {
  readonly #socket: Socket;
  /** Of the call that the client was last used for. */
  #deadline: Deadline | undefined;

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

  override query = ((...args: QueryArguments) => {
    const deadline = currentDeadline();
    const text = textOf(args[0]);
    if (deadline === undefined || text === ROLLBACK) return this.#send(args);
    if (text === COMMIT) {
      // What it has come to would not be known any more once the connection is lost.
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

  /** The caller has given up: what the server is doing for it ends with the connection. */
  abandon(): void {
    this.leaveDeadline();
    const { readyForQuery } = this as unknown as { readyForQuery: boolean };
    if (!readyForQuery) this.#socket.destroy(givenUp());
  }

  /** From now on the client is not used for that call. */
  leaveDeadline(): void {
    this.#deadline?.release(this);
    this.#deadline = undefined;
  }

  #send(args: QueryArguments): unknown {
    return (super.query as unknown as (...sent: QueryArguments) => unknown)(...args);
  }

  /** In place of the commit, since not everybody rolls back after a commit that failed. */
  #rollBack(args: QueryArguments): unknown {
    const outcome = super.query(ROLLBACK).then(() => Promise.reject(givenUp()));
    return answer(args, outcome);
  }
}

type Callback = (error: Error, result?: unknown) => void;
type QueryArguments = [query: unknown, ...rest: unknown[]];

const COMMIT = 'COMMIT';
const ROLLBACK = 'ROLLBACK';

/** What a commit and the answer's way back take at most, as a rule: a caller that gave up must not find its work done. */
const COMMIT_MARGIN_MS = 100;

function textOf(query: unknown): unknown {
  return typeof query === 'object' && query !== null && 'text' in query ? query.text : query;
}

function refuse(args: QueryArguments): unknown {
  return answer(args, Promise.reject(givenUp()));
}

/** Answers as `query` does: to the callback, or by a promise. */
function answer(args: QueryArguments, outcome: Promise<never>): unknown {
  const callback = args.find((arg): arg is Callback => typeof arg === 'function');
  if (callback === undefined) return outcome;
  outcome.catch(callback);
  return undefined;
}

/** Throws when the caller waits for less than that: for the end of a transaction after whose commit the answer takes its time. */
export function requireTimeLeft(ms: number): void {
  const deadline = currentDeadline();
  if (deadline !== undefined && deadline.remainingMs() < ms) throw givenUp();
}

/** The error of whatever is not done, or not finished, because the caller waits no more. */
export function givenUp(): Error {
  return Object.assign(new Error('the caller waits no more'), { code: 'ETIMEDOUT' });
}
