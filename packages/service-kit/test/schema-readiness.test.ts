import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openPostgres } from '../src/postgres/postgres.ts';
import { createLibraryDatabase } from './library-database.ts';

test('a service is ready only with the newest migration of its release, and names the missing one', async () => {
  await using database = await createLibraryDatabase();
  await using workspace = await mkdtempDisposable(join(tmpdir(), 'phds-migrations-'));
  const migrations = workspace.path;
  for (const name of ['0001_init', '0002_rules']) await mkdir(join(migrations, name));
  await writeFile(join(migrations, 'migration_lock.toml'), '');
  const open = () =>
    openPostgres({
      connectionString: database.url,
      schema: database.schema,
      applicationName: 'schema-readiness-test',
      poolSize: 1,
      statementTimeoutMs: 20_000,
      connectTimeoutMs: 20_000,
      migrations,
    });
  await using current = open();
  await current.ping();
  await mkdir(join(migrations, '0003_shelves'));
  await using tooNew = open();
  await expect(tooNew.ping()).rejects.toThrow('the database lacks the migration 0003_shelves');
});
