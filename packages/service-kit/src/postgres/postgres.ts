import { readdirSync } from 'node:fs';
import pg from 'pg';
import { currentDeadline, keepContext } from '../deadline.ts';
import type { Logger } from '../telemetry/log.ts';
import { givenUp, WatchedClient } from './client.ts';
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

export const DEFAULT_CONNECT_TIMEOUT_MS = 2_000;
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
    connectionTimeoutMillis: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
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
