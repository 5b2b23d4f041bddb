import { withinCalendar } from '@phds/catalog/instants';
import { notFound } from '@phds/service-kit/errors';
import type pg from 'pg';
import type { ImportKey } from '../domain/import-progress.ts';
import { inWriteTurn } from './write-turns.ts';

/**
 * Planner settings of the service's connections. Every statement finds one user's rows by an index and in its order, so one
 * plan is right whether tables are empty, hold a few large users or many small ones.
 */
export const POOL_SETTINGS = {
  // Planned once for each connection: planning took a third of the time of readings-newest.sql.
  plan_cache_mode: 'force_generic_plan',
  // A plan made on empty tables would read them from end to end for good.
  enable_seqscan: 'off',
  // A bitmap loses the order of the index, in which lists stop after a page.
  enable_bitmapscan: 'off',
  // Compiling a plan takes longer than running it.
  jit: 'off',
} as const;

export interface WriteOptions {
  readonly signal?: AbortSignal;
  /** The import that the write is part of. */
  readonly during?: ImportKey | null;
}

/**
 * Runs a transaction that no other write of the same user overlaps. Importers of one user wait for each other instead
 * of meeting in deadlocks, and counts kept beside the rows are counted once. The signal ends the connection: the server
 * then gives up the running statement and everything before it. Throws NOT_FOUND when the write is part of an import that does
 * not exist (any more).
 */
export function writeForUser<T>(
  pool: pg.Pool,
  userId: string,
  write: (client: pg.PoolClient) => Promise<T>,
  options: WriteOptions = {},
): Promise<T> {
  return inWriteTurn(pool, userId, () => transactForUser(pool, userId, write, options));
}

function transactForUser<T>(
  pool: pg.Pool,
  userId: string,
  write: (client: pg.PoolClient) => Promise<T>,
  { signal, during }: WriteOptions,
): Promise<T> {
  const work = async (client: pg.PoolClient) => {
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended('health-data ' || $1, 0))", [userId]);
    if (during) await requireImport(client, during);
    return write(client);
  };
  return transact(pool, 'BEGIN', work, signal);
}

/** Reads with statements that may take so long and no longer, in milliseconds. */
export function readWithin<T>(
  pool: pg.Pool,
  statementTimeoutMs: number,
  read: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  return transact(pool, `BEGIN READ ONLY; SET LOCAL statement_timeout = ${statementTimeoutMs}`, read);
}

async function transact<T>(
  pool: pg.Pool,
  begin: string,
  work: (client: pg.PoolClient) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const client = await pool.connect();
  const abort = () => void client.end();
  let broken: Error | undefined;
  try {
    signal?.throwIfAborted();
    signal?.addEventListener('abort', abort);
    await client.query(begin);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that cannot roll back is in no state to be used again.
    await client.query('ROLLBACK').catch((cause: Error) => {
      broken = cause;
    });
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
    client.release(broken);
  }
}

/** Under the lock that an erasure takes as well: what it has removed, a batch of a running import does not bring back. */
async function requireImport(client: pg.ClientBase, { userId, format, digest }: ImportKey): Promise<void> {
  const text = 'SELECT FROM import WHERE user_id = $1 AND format = $2 AND digest = $3';
  const known = await client.query({ name: 'require-import', text, values: [userId, format, digest] });
  if (known.rowCount === 0) throw notFound('There is no such import.');
}

/** The text of a timestamptz of a UTC session as RFC 3339 with milliseconds: `2025-01-02 03:04:05.6+00`. */
export function toTimestamp(text: string): string {
  const milliseconds = text.slice(20, -3).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`;
}

/** A bound for `>=`; open is the beginning of time. */
export function lowerBound(at: Date | null): string {
  return at === null ? '-infinity' : withinCalendar(at).toISOString();
}

/** A bound for `<`; open is the end of time. */
export function upperBound(at: Date | null): string {
  return at === null ? 'infinity' : withinCalendar(at).toISOString();
}

/** Rows as arrays of Postgres's own texts: nothing is parsed that the query's reader does not parse itself. */
export const TEXT_ROWS = {
  rowMode: 'array',
  types: { getTypeParser: () => (text: string) => text },
} as const;
