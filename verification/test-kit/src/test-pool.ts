import pg from 'pg';

/**
 * Opens a pool of connections to a test database. It ignores connection errors: `pool.end()` does not wait until the server has
 * closed them, and dropping the database terminates the remaining ones.
 */
export function openTestPool(
  connectionString: string,
  options: Omit<pg.PoolConfig, 'connectionString'>,
): pg.Pool {
  const pool = new pg.Pool({ connectionString, ...options });
  pool.on('error', () => undefined);
  return pool;
}
