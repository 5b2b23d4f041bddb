import pg from 'pg';

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
