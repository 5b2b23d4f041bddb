import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { MigrationTarget } from '@phds/service-kit/postgres/migrations';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import { findDrift } from '../bin/schema-engine.ts';

/** The small service that the database tests of service-kit use in place of a real one. */
const LIBRARY_PRISMA = resolve(import.meta.dirname, '../../service-kit/test/fixtures/library/prisma');

const datamodel = await readFile(join(LIBRARY_PRISMA, 'schema.prisma'), 'utf8');
let workspace: string;
let database: TestDatabase;
let target: MigrationTarget;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'phds-drift-'));
  const none = join(workspace, 'none');
  await mkdir(none);
  database = await createTestDatabase('library', { migrations: none });
  const directory = join(workspace, 'migrations');
  await cp(join(LIBRARY_PRISMA, 'migrations'), directory, { recursive: true });
  target = { connectionString: database.ownerUrl, schema: database.schema, directory };
});

afterEach(async () => {
  await rm(workspace, { recursive: true });
  await database[Symbol.asyncDispose]();
});

async function writeMigration(name: string, sql: string): Promise<void> {
  await mkdir(join(target.directory, name), { recursive: true });
  await writeFile(join(target.directory, name, 'migration.sql'), sql);
}

test('finds a table that neither the schema nor its list of external tables names', async () => {
  await writeMigration('0003_extra', 'CREATE TABLE shelf (id int PRIMARY KEY);');
  expect(await findDrift(target, datamodel)).toContain('DROP TABLE "shelf"');
});
