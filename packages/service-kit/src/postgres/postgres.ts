import { readdirSync } from 'node:fs';
import { Socket } from 'node:net';
import pg from 'pg';
import { currentDeadline, type Deadline, keepContext, type Ongoing } from '../current-work.ts';
import type { Logger } from '../telemetry/log.ts';
import { explainConnectionFailure } from './errors.ts';

export interface PostgresOptions {
  /**
   * Connection string of the service's runtime role. It must not have the parameter `options`, which would override the settings of
   * each connection.
   */
  readonly connectionString: string;
  /** The setting that has it, for errors. Default DATABASE_URL. */
  readonly setting?: string;
  /** The service's own Postgres schema, which unqualified names in SQL refer to. */
  readonly schema: string;
  /** Maximum number of connections. */
  readonly poolSize: number;
  /** The server cancels longer statements. Milliseconds. */
  readonly statementTimeoutMs: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Maximum wait for a connection from the pool, including a new one. Milliseconds, default 2000. */
  readonly connectTimeoutMs?: number;
  /** Additional server settings for every connection, such as planner settings of a hot path. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** The service's `prisma/migrations`, whose newest one `ping` requires. Default: any schema will do. */
  readonly migrations?: string;
  readonly log?: Pick<Logger, 'warn'>;
}

/**
 * Planner settings for a pool whose statements all find a handful of rows by their keys: one plan, nested loops over indexes, is right
 * whatever the tables hold.
 */
export const KEY_LOOK_UPS = {
  // Planned once for each connection.
  plan_cache_mode: 'force_generic_plan',
  // A plan made while the tables were empty would read and hash them from end to end for good.
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  // Compiling a plan takes longer than running it.
  jit: 'off',
} as const;

/** A pool of connections to one service's schema. */
export interface Postgres extends AsyncDisposable {
  /** `pool.query({ name, text, values })` prepares a statement once for each connection. */
  readonly pool: pg.Pool;
  /**
   * Resolves if the database answers and has the newest of `migrations`, else rejects; for readiness probes. If DATABASE_URL may be wrong,
   * it rejects with a ConfigError.
   */
  ping(): Promise<void>;
}

/** Milliseconds. */
export const DATABASE_CONNECT_TIMEOUT_MS = 2_000;
const CONNECTION_CHECK_MS = 250;
const IDLE_TIMEOUT_MS = 30_000;

// How much longer than the server's own limit we wait for an answer. It matters only when the network fails silently.
export const ANSWER_GRACE_MS = 1_000;

/**
 * A pool that runs the callback in the context of the caller that requested the connection, not of the one that released it. A
 * caller that has stopped waiting does not get a connection: refusing its first statement would close a connection that others are
 * waiting for.
 */
class DeadlinePool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    const isLate = isPresentCallerLate();
    if (callback === undefined) return isLate ? Promise.reject(givenUp()) : super.connect().then(keepInTime);
    if (isLate) process.nextTick(callback, givenUp(), undefined, () => undefined);
    else super.connect(keepContext(inTime(callback)));
    return undefined;
  }
}

type ConnectCallback = Parameters<pg.Pool['connect']>[0];

function isPresentCallerLate(): boolean {
  return currentDeadline()?.remainingMs() === 0;
}

function keepInTime(client: pg.PoolClient): pg.PoolClient {
  if (!isPresentCallerLate()) return client;
  client.release();
  throw givenUp();
}

function inTime(callback: ConnectCallback): ConnectCallback {
  return (error, client, done) => {
    if (client === undefined || !isPresentCallerLate()) return callback(error, client, done);
    // Deferred: a synchronous release would recurse through the whole queue of waiting callers.
    process.nextTick(() => client.release());
    return callback(givenUp(), undefined, () => undefined);
  };
}

/**
 * Opens a service's database without connecting. If the database is unavailable, queries fail fast but start-up succeeds. Disposal
 * waits for running queries and closes every connection.
 */
export function openPostgres(options: PostgresOptions): Postgres {
  if (/[?&]options=/i.test(options.connectionString)) {
    throw new Error('the connection string of the database must not have the parameter options');
  }
  const pool = new DeadlinePool({
    Client: WatchedClient,
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.poolSize,
    connectionTimeoutMillis: options.connectTimeoutMs ?? DATABASE_CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    options: toServerOptions({
      search_path: options.schema,
      // Prisma's adapter ignores the offset of a timestamptz and assumes UTC.
      timezone: 'UTC',
      statement_timeout: options.statementTimeoutMs,
      // A statement whose caller has given up loses its connection. This setting bounds how soon the server notices, even behind a
      // lock.
      client_connection_check_interval: CONNECTION_CHECK_MS,
      idle_in_transaction_session_timeout: options.statementTimeoutMs,
      // Set explicitly, whatever the server's default: an acknowledged change must survive a crash.
      synchronous_commit: 'on',
      // Set explicitly, whatever the role, database or server default: stores rely on a fresh snapshot after a lock.
      default_transaction_isolation: 'read committed',
      ...options.settings,
    }),
  });
  // The pool replaces an idle connection that dies. An unhandled error event would end the process.
  pool.on('error', (error) => options.log?.warn({ err: error }, 'idle database connection lost'));
  pool.on('acquire', (client) => expectAnswers(client, options.statementTimeoutMs));
  pool.on('release', (_error, client) => {
    const watched = toWatched(client);
    watched.watch(0);
    watched.leaveDeadline();
  });
  let closing: Promise<void> | undefined;
  return {
    pool,
    ping: createPing(pool, options),
    [Symbol.asyncDispose]: () => {
      closing ??= pool.end();
      return closing;
    },
  };
}

const HAS_MIGRATION = `SELECT EXISTS (
  SELECT FROM _prisma_migrations WHERE migration_name = $1 AND finished_at IS NOT NULL AND rolled_back_at IS NULL
) AS applied`;

function createPing(pool: pg.Pool, { migrations, setting }: PostgresOptions): Postgres['ping'] {
  if (migrations === undefined) return async () => void (await pool.query('SELECT 1'));
  const migration = findNewestMigration(migrations);
  return async () => {
    const { rows } = await pool.query(HAS_MIGRATION, [migration]).catch((error: unknown) => {
      throw explainConnectionFailure(error, setting);
    });
    if (!rows[0].applied) throw new Error(`the database lacks the migration ${migration}`);
  };
}

/** Migrations are applied in the order of their names, so a database that has the last one has them all. */
function findNewestMigration(directory: string): string {
  const entries = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const newest = entries
    .map(({ name }) => name)
    .sort()
    .at(-1);
  if (newest === undefined) throw new Error(`no migrations in ${directory}`);
  return newest;
}

/**
 * Allows longer statements, in milliseconds, on a client taken from the pool, until it is released. The caller also has to raise
 * the server's own limit (`SET LOCAL statement_timeout`).
 */
export function expectAnswers(client: pg.ClientBase, statementTimeoutMs: number): void {
  toWatched(client).watch(statementTimeoutMs + ANSWER_GRACE_MS);
}

function toWatched(client: pg.ClientBase): WatchedClient {
  if (client instanceof WatchedClient) return client;
  throw new TypeError('not a client of openPostgres');
}

/** Options are separated by spaces, so a space inside a value is escaped with a backslash. */
function toServerOptions(settings: Record<string, string | number>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${`${value}`.replaceAll(/[\\\s]/g, '\\$&')}`)
    .join(' ');
}

/** Half of the connections of a pool, at least one: what work in turns uses at most, so that other work finds connections. */
export function toHalf(pool: pg.Pool): number {
  return Math.max(1, Math.floor(pool.options.max / 2));
}

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

/** Runs `change` while nobody else holds the lock of this name. In no transaction, because it may call other services. */
export async function whileLocked<T>(pool: pg.Pool, name: string, change: () => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name]);
    return await change();
  } finally {
    const isFree = await client.query('SELECT pg_advisory_unlock_all()').then(
      () => true,
      () => false,
    );
    client.release(!isFree);
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
class WatchedClient extends pg.Client implements Ongoing {
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
