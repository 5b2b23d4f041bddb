import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseService, KeyFiles } from '@phds/service-kit/keys/key-files';
import { DATABASE_SERVICES, readDatabasePassword, writeSecretFile } from '@phds/service-kit/keys/key-files';
import type { ServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { closeDatabases, ensureServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { applyMigrations } from '@phds/service-kit/postgres/migrations';
import type { DataDirectory } from './data-directory.ts';
import { repositoryRoot } from './data-directory.ts';
import type { EmbeddedPostgres } from './servers/embedded-postgres.ts';
import { startEmbeddedPostgres } from './servers/embedded-postgres.ts';

/** Starts the database server of a data directory. */
export async function startPostgres(options: {
  readonly directory: DataDirectory;
  readonly keys: KeyFiles;
  readonly port: number;
  readonly settings?: Readonly<Record<string, string>> | undefined;
  readonly onLog: (line: string) => void;
}): Promise<EmbeddedPostgres> {
  const password = (await readFile(options.keys.postgresPassword, 'utf8')).trim();
  return startEmbeddedPostgres({
    directory: options.directory.postgres,
    port: options.port,
    password,
    settings: options.settings ?? {},
    onLog: options.onLog,
  });
}

/**
 * Creates or updates the database, roles and schema of each service, applies its migrations, and revokes these roles' access to all
 * other databases.
 */
export async function prepareDatabases(
  adminUrl: string,
  keys: KeyFiles,
): Promise<Readonly<Record<DatabaseService, ServiceDatabase>>> {
  const prepared = DATABASE_SERVICES.map(async (service) => {
    const [owner, runtime] = await Promise.all([
      readDatabasePassword(keys, service, 'owner'),
      readDatabasePassword(keys, service, 'runtime'),
    ]);
    const database = await ensureServiceDatabase({ adminUrl, service, passwords: { owner, runtime } });
    await writeSecretFile(keys.databaseUrls[service], database.url);
    await applyMigrations({
      connectionString: database.ownerUrl,
      schema: database.schema,
      directory: join(repositoryRoot, 'services', service, 'prisma/migrations'),
    }).catch((cause: Error) => {
      throw new Error(
        `${service}: ${cause.message}. \`npm start -- --fresh\` replaces data of another version.`,
        {
          cause,
        },
      );
    });
    return [service, database] as const;
  });
  const databases = Object.fromEntries(await Promise.all(prepared)) as Record<
    DatabaseService,
    ServiceDatabase
  >;
  await closeDatabases(adminUrl);
  return databases;
}
