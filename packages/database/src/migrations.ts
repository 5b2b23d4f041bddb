import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type {
  DiffTarget,
  MigrationDirectory,
  MigrationList,
  SchemaEngine,
  SchemaFilter,
} from '@prisma/schema-engine-wasm/schema_engine_bg';
import type pg from 'pg';
import { withConnection } from './connection.ts';
import { withSchemaEngine } from './migrations-engine.ts';

export interface MigrationTarget {
  /** Connects as the role that owns the schema. */
  readonly connectionString: string;
  /** Postgres schema of the service; it exists already. */
  readonly schema: string;
  /** The service's `prisma/migrations`. */
  readonly directory: string;
}

/** What `prisma migrate` keeps beside the migrations to know their dialect. */
export const MIGRATION_LOCK = '# Names the dialect of these migrations to Prisma.\nprovider = "postgresql"\n';

/**
 * Applies the migrations that the database does not have yet, in the order of their names, and answers their names.
 * Each is one transaction: a migration that fails leaves nothing behind and is tried again by the next run. Two runs
 * at once are safe: the second waits and finds nothing to do. The history is Prisma's own table, so
 * `prisma migrate deploy` accepts the same database. Throws when an applied migration was edited since.
 */
export async function applyMigrations(target: MigrationTarget): Promise<string[]> {
  const migrationsList = await readMigrations(target.directory);
  return withMigrationLock(target, async (lock) => {
    await forgetInterrupted(lock);
    const applied = await withSchemaEngine(target, async (engine) => {
      await refuseEdited(engine, migrationsList);
      return engine.applyMigrations({ migrationsList, filters: NO_FILTER });
    });
    await closeHistory(lock);
    return applied.appliedMigrationNames;
  });
}

/** The SQL that makes an empty schema what this schema.prisma says. Needs a connection, changes nothing. */
export async function diffFromEmpty(
  target: Omit<MigrationTarget, 'directory'>,
  datamodel: string,
): Promise<string> {
  return diff(target, datamodel, { tag: 'empty' });
}

/** The SQL that makes the schema in the database what this schema.prisma says; empty when it already is. */
export async function diffToSql(
  target: Omit<MigrationTarget, 'directory'>,
  datamodel: string,
): Promise<string> {
  const files = [{ path: 'schema.prisma', content: datamodel }];
  return diff(target, datamodel, { tag: 'schemaDatasource', files, configDir: '/' });
}

/**
 * Compares what the migrations build with what schema.prisma says: applies them to the (empty, scratch) target and
 * answers the SQL of the difference, empty when there is none. What a Prisma schema has no words for does not count:
 * functions, triggers, grants, checks, partial indexes, partitions. Tables that only SQL knows are declared in
 * schema.prisma by a line `// external tables: first, second`.
 */
export async function checkDrift(target: MigrationTarget, datamodel: string): Promise<string> {
  await applyMigrations(target);
  return diffToSql(target, datamodel);
}

const NO_FILTER: SchemaFilter = { externalTables: [], externalEnums: [] };

async function diff(
  target: Omit<MigrationTarget, 'directory'>,
  datamodel: string,
  from: DiffTarget,
): Promise<string> {
  const files = [{ path: 'schema.prisma', content: datamodel }];
  const filters = { externalTables: findExternalTables(datamodel, target.schema), externalEnums: [] };
  const result = await withSchemaEngine({ ...target, datamodel }, (engine) =>
    engine.diff({ from, to: { tag: 'schemaDatamodel', files }, script: true, exitCode: true, filters }),
  );
  if (result.exitCode === 0) return '';
  // The schema is made together with the roles that may use it, not by a migration.
  const sql = (result.stdout ?? '').replace(/^-- CreateSchema\nCREATE SCHEMA .*\n+/m, '');
  return sql.trim() === '' ? '' : `${sql.trim()}\n`;
}

function findExternalTables(datamodel: string, schema: string): string[] {
  const lines = datamodel.matchAll(/^\s*\/\/ external tables:(.*)$/gm);
  const names = [...lines].flatMap(([, list]) => (list ?? '').split(',')).map((name) => name.trim());
  return names.filter((name) => name !== '').map((name) => `${schema}.${name}`);
}

async function readMigrations(directory: string): Promise<MigrationList> {
  const baseDir = resolve(directory);
  const entries = await readdir(baseDir, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return {
    baseDir,
    lockfile: { path: 'migration_lock.toml', content: MIGRATION_LOCK },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(names.sort().map((name) => readMigration(baseDir, name))),
  };
}

async function readMigration(baseDir: string, name: string): Promise<MigrationDirectory> {
  const value = await readFile(join(baseDir, name, 'migration.sql'), 'utf8');
  return { path: name, migrationFile: { path: 'migration.sql', content: { tag: 'ok', value } } };
}

async function refuseEdited(engine: SchemaEngine, migrationsList: MigrationList): Promise<void> {
  const history = await engine.diagnoseMigrationHistory({
    migrationsList,
    optInToShadowDatabase: false,
    filters: NO_FILTER,
  });
  if (history.editedMigrationNames.length === 0) return;
  const names = history.editedMigrationNames.join(', ');
  throw new Error(`changed after it was applied: ${names}; undo the edit and write a new migration`);
}

async function withMigrationLock<T>(
  target: MigrationTarget,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const config = {
    connectionString: target.connectionString,
    application_name: 'phds-migrations-lock',
    options: `-c search_path=${target.schema}`,
  };
  return withConnection(config, async (client) => {
    await client.query("SELECT pg_advisory_lock(hashtextextended('phds-migrations ' || $1, 0))", [
      target.schema,
    ]);
    return use(client);
  });
}

// The engine refuses to go on after a migration that did not finish. Ours left nothing behind (one transaction).
async function forgetInterrupted(client: pg.Client): Promise<void> {
  const known = await client.query("SELECT to_regclass('_prisma_migrations') AS history");
  if (known.rows[0]?.history === null) return;
  await client.query(
    'UPDATE _prisma_migrations SET rolled_back_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL',
  );
}

// Default privileges give the runtime role every table of the schema; this one is none of its business.
async function closeHistory(client: pg.Client): Promise<void> {
  await client.query(`DO $$ DECLARE grantee text; BEGIN
    IF to_regclass('_prisma_migrations') IS NULL THEN RETURN; END IF;
    FOR grantee IN
      SELECT DISTINCT pg_get_userbyid(entry.grantee)
      FROM pg_class, aclexplode(relacl) AS entry
      WHERE oid = '_prisma_migrations'::regclass AND entry.grantee NOT IN (0, relowner)
    LOOP EXECUTE format('REVOKE ALL ON _prisma_migrations FROM %I', grantee); END LOOP;
  END $$`);
}
