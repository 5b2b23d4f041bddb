import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import pg from 'pg';
import { applyMigrations, type MigrationTarget, splitCommands } from '../src/postgres/migrations.ts';
import { LIBRARY_PRISMA } from './library-database.ts';

const HISTORY = 'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL ORDER BY 1';

let workspace: string;
let database: TestDatabase;
let target: MigrationTarget;

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

test('a file is sent command by command', () => {
  const commands = [
    `-- a; comment
ALTER TABLE "a;b" ADD COLUMN c text DEFAULT 'it''s; so';`,
    'DO $$ BEGIN PERFORM 1; END $$;',
    '/* one; more */ CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $body$ SELECT 1; SELECT $$;$$::text; $body$;',
    'SELECT 1',
  ];
  expect(splitCommands(`\n${commands.join('\n\n')}\n-- the end;\n`)).toEqual([
    ...commands.slice(0, -1),
    'SELECT 1\n-- the end;',
  ]);
  expect(splitCommands('SELECT 1;\n-- the end;\n')).toEqual(['SELECT 1;']);
});

async function connect(): Promise<pg.Client> {
  const options = `-c search_path=${database.schema}`;
  const client = new pg.Client({ connectionString: database.ownerUrl, options });
  await client.connect();
  return client;
}

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const client = await connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A transaction that has read a table, until it ends. */
async function startReading(table: string) {
  const client = await connect();
  await client.query(`BEGIN; SELECT FROM ${table}`);
  const end = async () => {
    await client.query('ROLLBACK');
  };
  return { end, [Symbol.asyncDispose]: () => client.end() };
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
    // By a function whose body has semicolons.
    await query("INSERT INTO author VALUES ('a', 'A')");
    await query("INSERT INTO book (id, author_id, title) VALUES ('b', 'a', '  spaced  ')");
    expect(await query('SELECT title FROM book')).toEqual([{ title: 'spaced' }]);
  });

  test('is safe for concurrent runs, also when an index is built concurrently', async () => {
    await writeMigration(
      '0003_index',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS author_name_idx ON author (name);',
    );
    const results = await Promise.all([
      applyMigrations(target),
      applyMigrations(target),
      applyMigrations(target),
    ]);
    expect(results.flat().sort()).toEqual(['0001_init', '0002_rules', '0003_index']);
    expect(await query('SELECT count(*)::int AS n FROM _prisma_migrations')).toEqual([{ n: 3 }]);
  });

  test('rolls back a failed migration completely, names it, applies none after it, and runs it again once it is fixed', async () => {
    await writeMigration('0003_broken', 'CREATE TABLE shelf (id int); CREATE TABLE author (id int);');
    await writeMigration('0004_after', 'SELECT 1;');
    await expect(applyMigrations(target)).rejects.toThrow(
      'migration 0003_broken failed: relation "author" already exists',
    );
    expect(await query("SELECT to_regclass('shelf') AS shelf")).toEqual([{ shelf: null }]);
    expect(await query(HISTORY)).toEqual([{ migration_name: '0001_init' }, { migration_name: '0002_rules' }]);
    await writeMigration('0003_broken', 'CREATE TABLE shelf (id int);');
    expect(await applyMigrations(target)).toEqual(['0003_broken', '0004_after']);
  });

  test('rolls back a migration during which the connection and its lock are lost', async () => {
    await writeMigration(
      '0003_cut',
      'CREATE TABLE cut (id int); SELECT pg_terminate_backend(pg_backend_pid());',
    );
    await expect(applyMigrations(target)).rejects.toThrow(
      'migration 0003_cut failed: terminating connection',
    );
    expect(await query("SELECT to_regclass('cut') AS cut")).toEqual([{ cut: null }]);
    await writeMigration('0003_cut', 'CREATE TABLE cut (id int);');
    expect(await applyMigrations(target)).toEqual(['0003_cut']);
  });

  test('runs a migration again that Prisma started but did not finish', async () => {
    await applyMigrations(target);
    await writeMigration('0003_begun', 'CREATE TABLE shelf (id int);');
    await query(`INSERT INTO _prisma_migrations (id, checksum, migration_name)
                 VALUES ('1', 'a checksum of Prisma', '0003_begun')`);
    expect(await applyMigrations(target)).toEqual(['0003_begun']);
    expect(
      await query('SELECT migration_name FROM _prisma_migrations WHERE rolled_back_at IS NOT NULL'),
    ).toEqual([{ migration_name: '0003_begun' }]);
    expect(await applyMigrations(target)).toEqual([]);
  });

  test('tries a migration again that waits for a lock for too long, and lets the statements behind it run in the meantime', async () => {
    await applyMigrations(target);
    await writeMigration('0003_locks', 'ALTER TABLE author ADD COLUMN born date;');
    await using reader = await startReading('author');
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
      expect(await query('SELECT id FROM author')).toEqual([]);
      if (pauses === 2) await reader.end();
    };
    const lockWaits = { timeoutMs: 20, attempts: 3, pause };
    expect(await applyMigrations({ ...target, lockWaits })).toEqual(['0003_locks']);
    expect(pauses).toBe(2);
    expect(await query('SELECT born FROM author')).toEqual([]);
  });

  test('fails after the last attempt to get a lock, leaves nothing behind, and applies the migration in the next run', async () => {
    await applyMigrations(target);
    await writeMigration(
      '0003_locks',
      'CREATE TABLE shelf (id int); ALTER TABLE author ADD COLUMN born date;',
    );
    await using reader = await startReading('author');
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
    };
    const lockWaits = { timeoutMs: 20, attempts: 3, pause };
    await expect(applyMigrations({ ...target, lockWaits })).rejects.toThrow(
      'migration 0003_locks failed: canceling statement due to lock timeout',
    );
    expect(pauses).toBe(2);
    expect(await query("SELECT to_regclass('shelf') AS shelf")).toEqual([{ shelf: null }]);
    await reader.end();
    expect(await applyMigrations(target)).toEqual(['0003_locks']);
  });

  test('accepts a database that a newer release has migrated', async () => {
    await writeMigration('0003_newer', 'CREATE TABLE shelf (id int);');
    await applyMigrations(target);
    await rm(join(target.directory, '0003_newer'), { recursive: true });
    expect(await applyMigrations(target)).toEqual([]);
    expect(await query("SELECT to_regclass('shelf') IS NOT NULL AS kept")).toEqual([{ kept: true }]);
  });

  test('refuses a migration that was edited after it was applied', async () => {
    await applyMigrations(target);
    await writeMigration('0002_rules', 'SELECT 1;');
    await expect(applyMigrations(target)).rejects.toThrow(/0002_rules/);
  });

  test('builds an index concurrently, also after an interrupted build', async () => {
    await applyMigrations(target);
    await query("INSERT INTO author (id, name) VALUES ('a1', 'Ada'), ('a2', 'Ada')");
    const interrupted = 'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS author_name_idx ON author (name)';
    await expect(query(interrupted)).rejects.toThrow('could not create unique index');
    await writeMigration(
      '0003_index',
      '-- Authors by name.\nCREATE INDEX CONCURRENTLY IF NOT EXISTS author_name_idx ON author (name);',
    );
    expect(await applyMigrations(target)).toEqual(['0003_index']);
    expect(
      await query(
        "SELECT indisvalid, indisunique FROM pg_index WHERE indexrelid = 'author_name_idx'::regclass",
      ),
    ).toEqual([{ indisvalid: true, indisunique: false }]);
    expect(await applyMigrations(target)).toEqual([]);
  });
});

const program = join(import.meta.dirname, '../bin/migrate.ts');

test.each([
  { url: 'postgresql://owner:secret@127.0.0.1:1/phds', reason: 'connect ECONNREFUSED 127.0.0.1:1' },
  { url: 'postgresql://owner:secret@nowhere.invalid/phds', reason: 'nowhere.invalid' },
  { url: '', reason: 'MIGRATION_DATABASE_URL' },
])('migrations without a database ($url) end with the reason', ({ url, reason }) => {
  const env = { PATH: process.env['PATH'], MIGRATION_DATABASE_URL: url };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'consent'], {
    env,
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain(reason);
  expect(stderr).not.toMatch(/secret|^ *at /m);
});
