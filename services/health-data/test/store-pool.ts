import { openPostgres } from '@phds/service-kit/postgres/postgres';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import pg from 'pg';
import { toPoolSettings } from '../src/store/database.ts';

/** A database of the service's schema, and a pool with the settings of the service. */
export interface StorePool extends AsyncDisposable {
  readonly database: TestDatabase;
  readonly pool: pg.Pool;
  /** As administrator, with the schema of the service. */
  readonly admin: pg.Client;
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
      settings: toPoolSettings(database),
    }),
  );
  const admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  stack.defer(() => admin.end());
  await admin.query(`SET search_path = ${database.schema}`);
  const running = stack.move();
  return { database, pool, admin, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
