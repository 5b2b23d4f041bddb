import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ensureServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { applyMigrations } from '@phds/service-kit/postgres/migrations';
import { withConnection } from '@phds/service-kit/postgres/postgres';
import {
  toDatabaseUrl,
  toOwnerRole,
  toRuntimeRole,
  toSchemaName,
} from '@phds/service-kit/postgres/postgres-names';
import type pg from 'pg';
import { createCitusDatabase, distributeHealthData, dropCitusDatabase, findCitusNodes } from './citus.ts';
import { askForServer } from './test-server-variables.ts';

/** A migrated, empty database of a service, for one test file. */
export interface TestDatabase extends AsyncDisposable {
  /** Connects with the service's runtime role: rows of its own schema, no table changes. */
  readonly url: string;
  /** Connects as the owner of the schema, like migrations. */
  readonly ownerUrl: string;
  /** Connects to this database as administrator of the server. */
  readonly adminUrl: string;
  readonly schema: string;
  /** Whether its tables are spread over several servers; false unless a test run names a Citus cluster. */
  readonly distributed: boolean;
}

interface TestDatabaseOptions {
  /** Migrations to apply; default `services/<service>/prisma/migrations`. */
  readonly migrations?: string;
}

const workspace = resolve(import.meta.dirname, '../../..');

// Roles belong to the server, so all databases of a service share these.
const PASSWORDS = { owner: 'test-owner', runtime: 'test-runtime' };

/**
 * Creates a database with a service's migrations applied, on the server of this test run. The first one of a service becomes a
 * template, and the others are copied from it. Disposal drops it even if clients are connected. To simulate an outage, put a
 * `startTcpProxy` in front of it.
 */
export async function createTestDatabase(
  service: string,
  options: TestDatabaseOptions = {},
): Promise<TestDatabase> {
  const nodes = findCitusNodes();
  if (service === 'health-data' && nodes !== null && options.migrations === undefined)
    return createDistributedDatabase(nodes);
  const adminUrl = await askForServer<string>('postgres');
  const directory = options.migrations ?? join(workspace, 'services', service, 'prisma/migrations');
  const schema = toSchemaName(service);
  const template = `phds_template_${schema}_${await hashMigrations(directory)}`;
  const database = `phds_test_${schema}_${randomBytes(6).toString('hex')}`;
  const admin = { connectionString: adminUrl, application_name: 'phds-test-databases' };
  await withConnection(admin, async (client) => {
    // By copying files, which costs half of writing them through the log. The lock is also held while copying, because Postgres does not copy a database with open connections.
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [template]);
    await ensureTemplate(client, { adminUrl, service, directory, template });
    await client.query(`CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY FILE_COPY`);
  });
  const toUrl = (user: string, password: string) => toDatabaseUrl(adminUrl, { database, user, password });
  return {
    url: toUrl(toRuntimeRole(service), PASSWORDS.runtime),
    ownerUrl: toUrl(toOwnerRole(service), PASSWORDS.owner),
    adminUrl: toDatabaseUrl(adminUrl, { database }),
    schema,
    distributed: false,
    [Symbol.asyncDispose]: () =>
      withConnection(admin, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
      }),
  };
}

/** Without a template, which the background process of Citus would keep open. */
async function createDistributedDatabase(nodes: readonly [string, ...string[]]): Promise<TestDatabase> {
  const service = 'health-data';
  const directory = join(workspace, 'services', service, 'prisma/migrations');
  const database = `phds_test_citus_${randomBytes(6).toString('hex')}`;
  await createCitusDatabase(nodes, database);
  const { url, ownerUrl, schema } = await ensureServiceDatabase({
    adminUrl: nodes[0],
    service,
    database,
    passwords: PASSWORDS,
  });
  const adminUrl = toDatabaseUrl(nodes[0], { database });
  await applyMigrations({ connectionString: ownerUrl, schema, directory });
  await distributeHealthData(ownerUrl, adminUrl);
  return {
    ...{ url, ownerUrl, adminUrl, schema },
    distributed: true,
    [Symbol.asyncDispose]: () => dropCitusDatabase(nodes, database),
  };
}

interface Template {
  readonly adminUrl: string;
  readonly service: string;
  readonly directory: string;
  readonly template: string;
}

async function ensureTemplate(admin: pg.Client, wanted: Template): Promise<void> {
  const { adminUrl, service, directory, template } = wanted;
  const known = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
  if (known.rowCount !== 0) return;
  // Renamed when complete, so that an interrupted run leaves no partial template.
  const draft = `${template}_draft`;
  await admin.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  const { ownerUrl, schema } = await ensureServiceDatabase({
    adminUrl,
    service,
    database: draft,
    passwords: PASSWORDS,
  });
  await applyMigrations({ connectionString: ownerUrl, schema, directory });
  await admin.query(`ALTER DATABASE ${draft} RENAME TO ${template}`);
}

async function hashMigrations(directory: string): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(directory, { withFileTypes: true });
  for (const name of entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()) {
    hash.update(name).update(await readFile(join(directory, name, 'migration.sql')));
  }
  return hash.digest('hex').slice(0, 12);
}
