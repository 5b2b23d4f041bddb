/**
 * Applies a service's migrations to its database, for deployments: `node packages/service-kit/bin/migrate.ts <service>`. Connects as
 * the role that owns the schema (`phds_<service>_owner`), using MIGRATION_DATABASE_URL or the content of
 * MIGRATION_DATABASE_URL_FILE. It is safe to run repeatedly and concurrently.
 */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { applyMigrations } from '../src/postgres/migrations.ts';
import { toSchemaName } from '../src/postgres/postgres-names.ts';

const services = resolve(import.meta.dirname, '../../../services');

async function readConnectionString(): Promise<string> {
  const file = process.env['MIGRATION_DATABASE_URL_FILE'];
  const value = file ? await readFile(file, 'utf8') : process.env['MIGRATION_DATABASE_URL'];
  if (!value?.trim()) throw new Error('set MIGRATION_DATABASE_URL or MIGRATION_DATABASE_URL_FILE');
  return value.trim();
}

const [service] = process.argv.slice(2);
if (service === undefined) {
  console.error('usage: node packages/service-kit/bin/migrate.ts <service>');
  process.exitCode = 2;
} else {
  const applied = await applyMigrations({
    connectionString: await readConnectionString(),
    schema: toSchemaName(service),
    directory: join(services, service, 'prisma/migrations'),
  });
  console.log(
    applied.length === 0 ? `${service}: nothing to apply` : `${service}: applied ${applied.join(', ')}`,
  );
}
