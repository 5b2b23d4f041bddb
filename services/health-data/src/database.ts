import { withinCalendar } from '@phds/catalog/instants';
import { createTurns, type Turns } from '@phds/service-kit/batcher';
import { notFound } from '@phds/service-kit/errors';
import { toHalf } from '@phds/service-kit/postgres/postgres';
import { readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';

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

/** The same for the coordinator of a Citus cluster, which finds the server of a person by the value of the parameter. */
const COORDINATOR_SETTINGS = { ...POOL_SETTINGS, plan_cache_mode: 'auto' } as const;

/** Whether the rows are spread over several servers, by person. Then a statement can only address one person, or everybody. */
export interface Placement {
  readonly distributed: boolean;
}

export const ONE_SERVER: Placement = { distributed: false };

export function toPoolSettings({ distributed }: Placement) {
  return distributed ? COORDINATOR_SETTINGS : POOL_SETTINGS;
}

/** Names an import of a person: the format, and the SHA-256 of the imported content in lower-case hex. */
export interface ImportName {
  readonly format: string;
  readonly digest: string;
}

const LOCK_PERSON = readStatement(new URL('sql/lock-person.sql', import.meta.url));
const FIND_IMPORT = readStatement(new URL('sql/find-import.sql', import.meta.url));

/**
 * Runs a transaction that does not overlap with other writes of the same user. Concurrent importers of one user wait for each
 * other, which avoids deadlocks and keeps counts correct. Throws NOT_FOUND if the write belongs to an import (`during`) that does not
 * exist, because the person was erased since it started.
 */
export function writeForUser<T>(
  pool: pg.Pool,
  userId: string,
  write: (client: pg.PoolClient) => Promise<T>,
  during?: ImportName,
): Promise<T> {
  const work = async (client: pg.PoolClient) => {
    await runStatement(client, LOCK_PERSON, userId);
    if (during !== undefined) await requireImport(client, userId, during);
    return write(client);
  };
  return inWriteTurn(pool, userId, () => transact(pool, 'BEGIN', work));
}

/** Reads with a statement timeout in milliseconds, and with memory to group the hours of some years. */
export function readWithin<T>(
  pool: pg.Pool,
  statementTimeoutMs: number,
  read: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  return transact(
    pool,
    `BEGIN READ ONLY; SET LOCAL statement_timeout = ${statementTimeoutMs}; SET LOCAL work_mem = '32MB'`,
    read,
  );
}

export async function transact<T>(
  pool: pg.Pool,
  begin: string,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that cannot roll back must not be reused.
    await client.query('ROLLBACK').catch((cause: Error) => {
      broken = cause;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Checked under the lock that an erasure takes too, so that a batch of a running import cannot restore erased data. */
async function requireImport(
  client: pg.ClientBase,
  userId: string,
  { format, digest }: ImportName,
): Promise<void> {
  const known = await runStatement(client, FIND_IMPORT, userId, format, digest);
  if (known === 0) throw notFound('There is no such import.');
}

/** Whether a statement failed because Postgres does not know its time zone. */
export function isUnknownZone(error: unknown): boolean {
  return (error as { code?: unknown }).code === '22023';
}

/** Converts the text of a timestamptz in a UTC session to RFC 3339 with milliseconds: `2025-01-02 03:04:05.6+00`. */
export function toTimestamp(text: string): string {
  const milliseconds = text.slice(20, -3).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`;
}

/** A bound for `>=`; the beginning of time if open. */
export function lowerBound(at: Date | null): string {
  return at === null ? '-infinity' : withinCalendar(at).toISOString();
}

/** A bound for `<`; the end of time if open. */
export function upperBound(at: Date | null): string {
  return at === null ? 'infinity' : withinCalendar(at).toISOString();
}

/** Returns rows as arrays of Postgres's text values, so that only the query's own reader parses them. */
export const TEXT_ROWS = {
  rowMode: 'array',
  types: { getTypeParser: () => (text: string) => text },
} as const;

const turnsOf = new WeakMap<pg.Pool, Turns>();

const PATIENT = { perKey: 1, maxQueued: Number.POSITIVE_INFINITY, maxWaitMs: Number.POSITIVE_INFINITY };

/**
 * Runs a write when it is its turn: one at a time for each user, and at most half of the pool for all. Writes wait without holding
 * a connection, so reads always find one, however many importers there are.
 */
function inWriteTurn<T>(pool: pg.Pool, userId: string, write: () => Promise<T>): Promise<T> {
  const turns = turnsOf.get(pool) ?? createTurns({ ...PATIENT, atOnce: toHalf(pool) });
  turnsOf.set(pool, turns);
  return turns(userId, write);
}
