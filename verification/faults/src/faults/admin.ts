import { toDatabaseUrl } from '@phds/service-kit/postgres/postgres-names';
import pg from 'pg';
import type { ProxiedStack } from '../proxied-stack.ts';

/** Runs `use` with a superuser session in the services' database, bypassing every proxy. */
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
