import pg from 'pg';

/**
 * A pool of connections to a test database. `pool.end()` does not wait until the server has closed them, and dropping the database ends
 * the last ones by force: the pool reports that as an error, which is none here.
 */
export function openTestPool(
  connectionString: string,
  options: Omit<pg.PoolConfig, 'connectionString'>,
): pg.Pool {
  const pool = new pg.Pool({ connectionString, ...options });
  pool.on('error', () => undefined);
  return pool;
}
