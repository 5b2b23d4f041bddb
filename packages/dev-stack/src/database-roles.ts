import { withConnection } from '@phds/service-kit/postgres-client';
import {
  toDatabaseUrl,
  toOwnerRole,
  toReaderRole,
  toRuntimeRole,
  toSchemaName,
} from '@phds/service-kit/postgres-names';
import type pg from 'pg';

interface DatabaseOptions {
  /** Connection string of a role that may create databases and roles; its database is only passed through. */
  readonly adminUrl: string;
  /** Service name, such as `health-data`. */
  readonly service: string;
  /** Database that all services share, each with its schema. Default `phds`. */
  readonly database?: string;
}

export interface ServiceDatabaseOptions extends DatabaseOptions {
  readonly passwords: { readonly owner: string; readonly runtime: string };
}

export interface ReaderOptions extends DatabaseOptions {
  readonly password: string;
}

export interface ServiceDatabase {
  readonly schema: string;
  /** What the service connects with: rows of its own schema, no table changes. */
  readonly url: string;
  /** What migrations connect with. */
  readonly ownerUrl: string;
}

// One at a time on a server: concurrent changes of one role fail with "tuple concurrently updated".
const LOCK_KEY = 7_420_001;

/** A second schema of a service, for what its runtime role may add to and never take back; migrations fill it. */
const AUDIT_SCHEMAS: Readonly<Record<string, string>> = { consent: 'consent_audit' };

const DEFAULT_DATABASE = 'phds';
const DUPLICATE_DATABASE = '42P04';

/**
 * Makes a service's database, schema and two roles what they should be, whatever of it exists already: the owner
 * role owns the schema and migrates it; the runtime role gets SELECT, INSERT, UPDATE and DELETE on every table the
 * owner creates (a migration may REVOKE) and sees no other schema.
 */
export async function ensureServiceDatabase(options: ServiceDatabaseOptions): Promise<ServiceDatabase> {
  const database = options.database ?? DEFAULT_DATABASE;
  const owner = toOwnerRole(options.service);
  const runtime = toRuntimeRole(options.service);
  await withClient(options.adminUrl, async (admin) => {
    await admin.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    await ensureRole(admin, owner, options.passwords.owner);
    await ensureRole(admin, runtime, options.passwords.runtime);
    // Who is no superuser can only hand objects to roles it belongs to.
    await admin.query(`DO $$ BEGIN
      IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        EXECUTE 'GRANT ${owner} TO CURRENT_USER';
      END IF;
    END $$`);
    await ensureDatabase(admin, database);
    await withClient(toDatabaseUrl(options.adminUrl, { database }), (client) =>
      grantSchema(client, { database, schema: toSchemaName(options.service), owner, runtime }),
    );
    await ensureAuditSchema(options, database, owner);
  });
  return {
    schema: toSchemaName(options.service),
    url: toDatabaseUrl(options.adminUrl, { database, user: runtime, password: options.passwords.runtime }),
    ownerUrl: toDatabaseUrl(options.adminUrl, { database, user: owner, password: options.passwords.owner }),
  };
}

/**
 * Makes the role that reads a service's tables, those that are there and those that the owner will create, and changes nothing.
 * The service's database has to be there. Answers the connection string.
 */
export async function ensureReader(options: ReaderOptions): Promise<string> {
  const { adminUrl, service, password, database = DEFAULT_DATABASE } = options;
  const reader = toReaderRole(service);
  const url = toDatabaseUrl(adminUrl, { database });
  const schemas = [toSchemaName(service), AUDIT_SCHEMAS[service]].filter((name) => name !== undefined);
  await withClient(adminUrl, async (admin) => {
    await admin.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    await ensureRole(admin, reader, password);
    await admin.query(`GRANT CONNECT ON DATABASE ${admin.escapeIdentifier(database)} TO ${reader}`);
    await withClient(url, async (client) => {
      for (const schema of schemas)
        await grantReading(client, { schema, owner: toOwnerRole(service), reader });
    });
  });
  return toDatabaseUrl(url, { user: reader, password });
}

async function ensureRole(admin: pg.Client, role: string, password: string): Promise<void> {
  const known = await admin.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
  const verb = known.rowCount === 0 ? 'CREATE' : 'ALTER';
  await admin.query(`${verb} ROLE ${role} LOGIN PASSWORD ${admin.escapeLiteral(password)}`);
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

async function grantSchema(
  client: pg.Client,
  names: { database: string; schema: string; owner: string; runtime: string },
): Promise<void> {
  const { owner, runtime } = names;
  // Quoted: `authorization` is a word of SQL.
  const schema = client.escapeIdentifier(names.schema);
  const database = client.escapeIdentifier(names.database);
  await client.query(`
    REVOKE ALL ON DATABASE ${database} FROM PUBLIC;
    GRANT CONNECT ON DATABASE ${database} TO ${owner}, ${runtime};
    REVOKE ALL ON SCHEMA public FROM PUBLIC;
    CREATE SCHEMA IF NOT EXISTS ${schema} AUTHORIZATION ${owner};
    REVOKE ALL ON SCHEMA ${schema} FROM PUBLIC;
    GRANT USAGE ON SCHEMA ${schema} TO ${runtime};
    ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA ${schema}
      GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${runtime};
    ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA ${schema}
      GRANT USAGE, SELECT ON SEQUENCES TO ${runtime};
    ALTER ROLE ${owner} IN DATABASE ${database} SET search_path = ${schema};
    ALTER ROLE ${runtime} IN DATABASE ${database} SET search_path = ${schema};
  `);
}

async function grantReading(
  client: pg.Client,
  names: { schema: string; owner: string; reader: string },
): Promise<void> {
  const { owner, reader } = names;
  const schema = client.escapeIdentifier(names.schema);
  await client.query(`
    GRANT USAGE ON SCHEMA ${schema} TO ${reader};
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${reader};
    ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA ${schema} GRANT SELECT ON TABLES TO ${reader};
  `);
}

async function ensureAuditSchema(
  { adminUrl, service }: ServiceDatabaseOptions,
  database: string,
  owner: string,
): Promise<void> {
  const schema = AUDIT_SCHEMAS[service];
  if (schema === undefined) return;
  await withClient(toDatabaseUrl(adminUrl, { database }), async (client) => {
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema} AUTHORIZATION ${owner}`);
    await client.query(`REVOKE ALL ON SCHEMA ${schema} FROM PUBLIC`);
  });
}

function withClient<T>(connectionString: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  return withConnection({ connectionString, application_name: 'phds-database-roles' }, use);
}
