import { openPostgres } from '@phds/service-kit/postgres/postgres';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import type pg from 'pg';
import { POOL_SETTINGS } from '../src/store/database.ts';

/** A database of the service's schema, and a pool with the settings of the service. */
export interface StorePool extends AsyncDisposable {
  readonly database: TestDatabase;
  readonly pool: pg.Pool;
}

export async function openStorePool(
  applicationName: string,
  poolSize: number,
  timeoutMs = 20_000,
): Promise<StorePool> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await createTestDatabase('health-data'));
  const { pool } = stack.use(
    openPostgres({
      connectionString: database.url,
      schema: database.schema,
      poolSize,
      statementTimeoutMs: timeoutMs,
      connectTimeoutMs: timeoutMs,
      applicationName,
      settings: POOL_SETTINGS,
    }),
  );
  const running = stack.move();
  return { database, pool, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
