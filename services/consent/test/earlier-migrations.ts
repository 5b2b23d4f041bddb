import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMigrations } from '@phds/service-kit/postgres/migrations';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';

const MIGRATIONS = join(import.meta.dirname, '../prisma/migrations');

/** A database of the release before a migration. */
export interface EarlierDatabase {
  readonly database: TestDatabase;
  /** Applies the migrations that are missing, all or those before `end`. */
  readonly upgrade: (end?: string) => Promise<string[]>;
}

/** Creates a database with the migrations before `end`. */
export async function createDatabaseBefore(end: string): Promise<EarlierDatabase> {
  const database = await withMigrationsBefore(end, (migrations) =>
    createTestDatabase('consent', { migrations }),
  );
  const { ownerUrl, schema } = database;
  const upgradeFrom = (directory: string) =>
    applyMigrations({ connectionString: ownerUrl, schema, directory });
  return {
    database,
    upgrade: (before) =>
      before === undefined ? upgradeFrom(MIGRATIONS) : withMigrationsBefore(before, upgradeFrom),
  };
}

async function withMigrationsBefore<T>(end: string, use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'phds-migrations-'));
  try {
    const entries = await readdir(MIGRATIONS, { withFileTypes: true });
    for (const entry of entries.filter((entry) => entry.isDirectory() && entry.name < end))
      await cp(join(MIGRATIONS, entry.name), join(directory, entry.name), { recursive: true });
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}
