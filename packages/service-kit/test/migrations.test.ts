import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  applyMigrations,
  checkDrift,
  diffFromEmpty,
  diffToSql,
  type MigrationTarget,
} from '@phds/database/migrations';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import pg from 'pg';
import { LIBRARY_PRISMA } from './library-database.ts';

const HISTORY = 'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL ORDER BY 1';

let datamodel: string;
let workspace: string;
let database: TestDatabase;
let target: MigrationTarget;

beforeAll(async () => {
  datamodel = await readFile(join(LIBRARY_PRISMA, 'schema.prisma'), 'utf8');
});

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'phds-migrations-'));
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

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const options = `-c search_path=${database.schema}`;
  const client = new pg.Client({ connectionString: database.ownerUrl, options });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function writeMigration(name: string, sql: string): Promise<void> {
  await mkdir(join(target.directory, name), { recursive: true });
  await writeFile(join(target.directory, name, 'migration.sql'), sql);
}

describe('applying', () => {
  test('runs every migration once, in order, and records it as prisma migrate does', async () => {
    expect(await applyMigrations(target)).toEqual(['0001_init', '0002_rules']);
    expect(await applyMigrations(target)).toEqual([]);
    expect(await query(HISTORY)).toEqual([{ migration_name: '0001_init' }, { migration_name: '0002_rules' }]);
  });

  test('takes function bodies with semicolons', async () => {
    await applyMigrations(target);
    await query("INSERT INTO author VALUES ('a', 'A')");
    await query("INSERT INTO book (id, author_id, title) VALUES ('b', 'a', '  spaced  ')");
    expect(await query('SELECT title FROM book')).toEqual([{ title: 'spaced' }]);
  });

  test('is safe when two runs start at once', async () => {
    const results = await Promise.all([
      applyMigrations(target),
      applyMigrations(target),
      applyMigrations(target),
    ]);
    expect(results.flat().sort()).toEqual(['0001_init', '0002_rules']);
    expect(await query('SELECT count(*)::int AS n FROM _prisma_migrations')).toEqual([{ n: 2 }]);
  });

  test('leaves nothing of a migration that fails, and runs it again once it is mended', async () => {
    await writeMigration('0003_broken', 'CREATE TABLE shelf (id int); CREATE TABLE author (id int);');
    await expect(applyMigrations(target)).rejects.toThrow(/already exists/);
    expect(await query("SELECT to_regclass('shelf') AS shelf")).toEqual([{ shelf: null }]);
    await writeMigration('0003_broken', 'CREATE TABLE shelf (id int);');
    expect(await applyMigrations(target)).toEqual(['0003_broken']);
  });

  test('fails when the connection that holds the lock is lost while a migration runs', async () => {
    await writeMigration(
      '0003_cut',
      `CREATE TABLE cut AS SELECT pg_terminate_backend(pid, 10000) AS done FROM pg_stat_activity
       WHERE application_name = 'phds-migrations-lock' AND datname = current_database();`,
    );
    await expect(applyMigrations(target)).rejects.toThrow(/phds-migrations-lock was lost/);
    expect(await query('SELECT done FROM cut')).toEqual([{ done: true }]);
    expect(await applyMigrations(target)).toEqual([]);
  });

  test('refuses a migration that was edited after it had been applied', async () => {
    await applyMigrations(target);
    await writeMigration('0002_rules', 'SELECT 1;');
    await expect(applyMigrations(target)).rejects.toThrow(/0002_rules/);
  });
});

describe('comparing with schema.prisma', () => {
  test('finds no drift in migrations with triggers, checks, grants, partial indexes and partitions', async () => {
    expect(await checkDrift(target, datamodel)).toBe('');
  });

  test('answers the SQL that is missing when the schema moves on', async () => {
    const moved = datamodel.replace('title     String', 'title     String\n  pages     Int?');
    expect(await checkDrift(target, moved)).toBe(
      '-- AlterTable\nALTER TABLE "book" ADD COLUMN     "pages" INTEGER;\n',
    );
  });

  test('finds a table that neither the schema nor its list of external tables knows', async () => {
    await writeMigration('0003_extra', 'CREATE TABLE shelf (id int PRIMARY KEY);');
    expect(await checkDrift(target, datamodel)).toContain('DROP TABLE "shelf"');
  });

  test('the SQL from nothing builds exactly the schema', async () => {
    const sql = await diffFromEmpty(target, datamodel);
    expect(sql).not.toContain('CREATE SCHEMA');
    await query(sql);
    expect(await diffToSql(target, datamodel)).toBe('');
  });
});
