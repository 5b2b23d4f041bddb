import { openPostgres } from '@phds/service-kit/postgres/postgres';
import { createTestDatabase } from '@phds/test-kit/databases';
import { shared } from '@phds/test-kit/shared';
import pg from 'pg';
import { toPoolSettings } from '../src/database.ts';

/** A database of the service's schema, and a pool with the settings of the service, for all tests of the file. */
export async function shareStorePool(applicationName: string, poolSize: number, timeoutMs = 20_000) {
  const database = shared.use(await createTestDatabase('health-data'));
  const { pool } = shared.use(
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
  // As administrator, with the schema of the service.
  const admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  shared.defer(() => admin.end());
  await admin.query(`SET search_path = ${database.schema}`);
  return { database, pool, admin };
}
