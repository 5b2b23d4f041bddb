import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type pg from 'pg';
import { withConnection } from './postgres.ts';
import { toDatabaseUrl, toOwnerRole, toReaderRole, toRuntimeRole, toSchemaName } from './postgres-names.ts';

interface ServiceDatabaseOptions {
  /** Connection string of a role that may create databases and roles. The database in it is only used to connect. */
  readonly adminUrl: string;
  /** Service name, such as `health-data`. */
  readonly service: string;
  /** Database shared by all services, with one schema each. Default `phds`. */
  readonly database?: string;
  readonly passwords: {
    readonly owner: string;
    readonly runtime: string;
    /** Password of the reader role; without it, no reader role is created. */
    readonly reader?: string;
  };
}

export interface ServiceDatabase {
  readonly schema: string;
  /** For the service: reads and writes rows of its own schema, cannot change tables. */
  readonly url: string;
  /** For migrations. */
  readonly ownerUrl: string;
  /** Read-only access to every table of the service; null without a reader password. */
  readonly readerUrl: string | null;
}

// Only one run at a time on a server: concurrent changes of one role fail with "tuple concurrently updated".
const LOCK_KEY = 7_420_001;

const DEFAULT_DATABASE = 'phds';
const DUPLICATE_DATABASE = '42P04';

/** Also run by a deployment's administrator (docs/operations/deploy.md). */
const ROLES_SQL = resolve(import.meta.dirname, '../../../../deploy/roles.sql');
const SERVER_SQL = resolve(import.meta.dirname, '../../../../deploy/server.sql');

/** Creates a service's database, schema, roles and privileges as defined in `deploy/roles.sql`. Existing objects are kept. */
export async function ensureServiceDatabase(options: ServiceDatabaseOptions): Promise<ServiceDatabase> {
  const { adminUrl, service, passwords, database = DEFAULT_DATABASE } = options;
  const rolesSql = await readFile(ROLES_SQL, 'utf8');
  await withClient(adminUrl, async (admin) => {
    await admin.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    await ensureDatabase(admin, database);
    await withClient(toDatabaseUrl(adminUrl, { database }), async (client) => {
      await setParameters(client, {
        'phds.schema': toSchemaName(service),
        'phds.owner_password': passwords.owner,
        'phds.runtime_password': passwords.runtime,
        'phds.reader_password': passwords.reader ?? '',
      });
      await client.query(rolesSql);
    });
  });
  const toUrl = (user: string, password: string) => toDatabaseUrl(adminUrl, { database, user, password });
  return {
    schema: toSchemaName(service),
    url: toUrl(toRuntimeRole(service), passwords.runtime),
    ownerUrl: toUrl(toOwnerRole(service), passwords.owner),
    readerUrl: passwords.reader === undefined ? null : toUrl(toReaderRole(service), passwords.reader),
  };
}

/** Revokes access to every database of the server from roles without an explicit grant, as defined in `deploy/server.sql`. */
export async function closeDatabases(adminUrl: string): Promise<void> {
  const serverSql = await readFile(SERVER_SQL, 'utf8');
  await withClient(adminUrl, async (admin) => {
    await admin.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    await admin.query(serverSql);
  });
}

async function ensureDatabase(admin: pg.Client, database: string): Promise<void> {
  const known = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
  if (known.rowCount !== 0) return;
  try {
    await admin.query(`CREATE DATABASE ${admin.escapeIdentifier(database)}`);
  } catch (error) {
    if ((error as { code?: string }).code !== DUPLICATE_DATABASE) throw error;
  }
}

async function setParameters(client: pg.Client, parameters: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(parameters)) {
    await client.query('SELECT set_config($1, $2, false)', [name, value]);
  }
}

function withClient<T>(connectionString: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  return withConnection({ connectionString, application_name: 'phds-database-roles' }, use);
}
