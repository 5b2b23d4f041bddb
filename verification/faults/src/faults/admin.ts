import { toDatabaseUrl } from '@phds/database/postgres-names';
import pg from 'pg';
import type { ProxiedStack } from '../proxied-stack.ts';

/** A session of the database's superuser, past every proxy, in the database of the services. */
export async function asAdmin<T>(
  { adminDatabaseUrl }: Pick<ProxiedStack, 'adminDatabaseUrl'>,
  use: (admin: pg.Client) => Promise<T>,
): Promise<T> {
  const connectionString = toDatabaseUrl(adminDatabaseUrl, { database: 'phds' });
  const admin = new pg.Client({ connectionString, application_name: 'phds-faults' });
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.end();
  }
}
