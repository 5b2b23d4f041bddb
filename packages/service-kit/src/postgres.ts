import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { currentDeadline, keepDeadline } from './deadline.ts';
import type { Logger } from './log.ts';
import { givenUp, WatchedClient } from './postgres-client.ts';

export interface PostgresOptions {
  /** Connects as the service's runtime role. Must not have the parameter `options`, which would replace the settings of each connection. */
  readonly connectionString: string;
  /** The service's own Postgres schema; unqualified names in SQL mean it. */
  readonly schema: string;
  /** Most connections at once. */
  readonly poolSize: number;
  /** A statement that takes longer is cancelled by the server. Milliseconds. */
  readonly statementTimeoutMs: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Longest wait for a connection, a free one of the pool or a new one. Milliseconds, default 2000. */
  readonly connectTimeoutMs?: number;
  /** Server settings of every connection beyond those that each pool has, such as planner settings of a hot path. */
  readonly settings?: Readonly<Record<string, string | number>>;
  readonly log?: Pick<Logger, 'warn'>;
}

/** One pool for both ways of asking: named `pg` queries on hot paths, Prisma for everything else. */
export interface Postgres extends AsyncDisposable {
  /** `pool.query({ name, text, values })` prepares a statement once for each connection. */
  readonly pool: pg.Pool;
  /** For `new PrismaClient({ adapter })`. Disconnecting the client leaves the pool open. */
  readonly adapter: PrismaPg;
  /** Resolves when the database answers; rejects otherwise, for readiness probes. */
  ping(): Promise<void>;
}

const DEFAULT_CONNECT_TIMEOUT_MS = 2_000;
const CONNECTION_CHECK_MS = 250;
const IDLE_TIMEOUT_MS = 30_000;

// How much longer than the server's own limit we wait for an answer: only a dead network needs it.
const ANSWER_GRACE_MS = 1_000;

/**
 * A pool that calls back in the context of whoever asked for a connection, not of whoever gave it back. Whoever waits no more by the
 * time a connection is free does not get it: the refusal of its first statement would close a connection that others wait for.
 */
class DeadlinePool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    const isLate = isPresentCallerLate();
    if (callback === undefined) return isLate ? Promise.reject(givenUp()) : super.connect().then(keepInTime);
    if (isLate) process.nextTick(callback, givenUp(), undefined, () => undefined);
    else super.connect(keepDeadline(inTime(callback)));
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
    // Not at once: the pool would hand the connection to the next in the queue on the same stack, and so on.
    process.nextTick(() => client.release());
    return callback(givenUp(), undefined, () => undefined);
  };
}

/**
 * Opens a service's database. Nothing is connected yet: the first query does, and a database that is away makes
 * queries fail fast, not the start. Disposing waits for the queries in flight and closes every connection.
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
    connectionTimeoutMillis: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    options: toServerOptions({
      search_path: options.schema,
      // Prisma's adapter takes the offset of a timestamptz for UTC, whatever it says.
      timezone: 'UTC',
      statement_timeout: options.statementTimeoutMs,
      // A statement whose caller has given up loses its connection; this is how soon the server notices, also behind a lock.
      client_connection_check_interval: CONNECTION_CHECK_MS,
      idle_in_transaction_session_timeout: options.statementTimeoutMs,
      // What was answered as done has to survive a crash, whatever the server's default says.
      synchronous_commit: 'on',
      // Stores read in a fresh snapshot after a lock, whatever the default of the role, the database or the server says.
      default_transaction_isolation: 'read committed',
      ...options.settings,
    }),
  });
  // The pool replaces a connection that dies idle; unhandled, its error would end the process.
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
    adapter: new PrismaPg(pool, { schema: options.schema }),
    ping: async () => {
      await pool.query('SELECT 1');
    },
    [Symbol.asyncDispose]: () => {
      closing ??= pool.end();
      return closing;
    },
  };
}

/**
 * Says that a statement may take so long, in milliseconds, on a client that was taken from the pool, until it is released. The server's own
 * limit is for the caller to raise (`SET LOCAL statement_timeout`).
 */
export function expectAnswers(client: pg.ClientBase, statementTimeoutMs: number): void {
  toWatched(client).watch(statementTimeoutMs + ANSWER_GRACE_MS);
}

function toWatched(client: pg.ClientBase): WatchedClient {
  if (client instanceof WatchedClient) return client;
  throw new TypeError('not a client of openPostgres');
}

/** Where options are separated by spaces, a backslash keeps one that is part of a value. */
function toServerOptions(settings: Record<string, string | number>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${`${value}`.replaceAll(/[\\\s]/g, '\\$&')}`)
    .join(' ');
}
