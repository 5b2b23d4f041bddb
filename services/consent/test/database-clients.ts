import { createLogger } from '@phds/service-kit/telemetry/log';
import pg from 'pg';
import { openConnectionPools } from '../src/store/connection-pools.ts';

/** A connection that finds the tables of the service by their names. */
export async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, options: '-c search_path=consent' });
  await client.connect();
  return client;
}

/** A connection of a superuser, whom no trigger and no privilege stops. */
export async function connectAsSuperuser(database: { readonly adminUrl: string }): Promise<pg.Client> {
  const admin = await connect(database.adminUrl);
  await admin.query('SET session_replication_role = replica');
  return admin;
}

/** How many sessions of a database wait for a lock. */
export async function countLockWaits(admin: pg.Pool): Promise<number> {
  const { rows } = await admin.query<{ waiting: number }>(
    `SELECT count(*)::int AS waiting FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.waiting ?? 0;
}

/** Small pools of the service's own kind, as another instance opens them. */
export const openSmallPools = (databaseUrl: string) =>
  openConnectionPools(
    {
      DATABASE_URL: databaseUrl,
      DEADLINE_FACTOR: 10,
      DATABASE_STATEMENT_TIMEOUT_MS: 20_000,
      DATABASE_POOL_SIZE: 2,
      ACCESS_POOL_SIZE: 4,
      REVOCATION_POOL_SIZE: 1,
    },
    createLogger({ service: 'test', level: 'silent' }),
  );
