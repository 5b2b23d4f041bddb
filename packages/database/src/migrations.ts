import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { withConnection } from './connection.ts';

export interface MigrationTarget {
  /** Connection string of the role that owns the schema. */
  readonly connectionString: string;
  /** Postgres schema of the service; must already exist. */
  readonly schema: string;
  /** The service's `prisma/migrations`. */
  readonly directory: string;
  readonly lockWaits?: LockWaits;
}

/** How migrations wait for locks of the running service, whose later statements wait behind them. */
export interface LockWaits {
  /** Longest wait for one lock. */
  readonly timeoutMs: number;
  /** How often a migration is tried that waited longer. */
  readonly attempts: number;
  /** Between two attempts, while the statements that waited run. */
  readonly pause: () => Promise<void>;
}

/** Longer than Postgres's deadlock_timeout (1 s), after which it ends an automatic VACUUM that is in the way. */
const LOCK_WAITS: LockWaits = { timeoutMs: 2_000, attempts: 10, pause: () => sleep(5_000) };

const LOCK_NOT_AVAILABLE = '55P03';

interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, as Prisma records it. */
  readonly checksum: string;
}

/**
 * Applies the migrations that the database does not have yet, in the order of their names, and returns their names. Each runs in
 * one transaction with its row in the history: a failed one leaves nothing behind and is retried by the next run. One that does
 * not get a lock in time is tried again a few times, so that the service never waits long behind it. Concurrent runs
 * are safe: the second waits for the first. Unknown migrations of a newer release are ignored. The history is the table that Prisma
 * writes, so `prisma migrate deploy` accepts the same database. Throws if an applied migration was edited afterwards.
 */
export async function applyMigrations(target: MigrationTarget): Promise<string[]> {
  const migrations = await readMigrations(target.directory);
  const config = {
    connectionString: target.connectionString,
    application_name: 'phds-migrations',
    options: `-c search_path=${target.schema}`,
  };
  return withConnection(config, async (client) => {
    await client.query("SELECT pg_advisory_lock(hashtextextended('phds-migrations ' || $1, 0))", [
      target.schema,
    ]);
    await client.query(PREPARE_HISTORY);
    const missing = findMissing(migrations, await readHistory(client));
    for (const migration of missing) await apply(client, migration, target.lockWaits ?? LOCK_WAITS);
    return missing.map(({ name }) => name);
  });
}

// Created as Prisma does, so that each finds the other's rows. An unfinished row of Prisma belongs to an interrupted run, whose
// transaction left nothing behind. Default privileges would grant other roles every table of the schema; they do not need the
// history.
const PREPARE_HISTORY = `
CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id                  varchar(36) PRIMARY KEY NOT NULL,
  checksum            varchar(64) NOT NULL,
  finished_at         timestamptz,
  migration_name      varchar(255) NOT NULL,
  logs                text,
  rolled_back_at      timestamptz,
  started_at          timestamptz NOT NULL DEFAULT now(),
  applied_steps_count integer NOT NULL DEFAULT 0
);
UPDATE _prisma_migrations SET rolled_back_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL;
DO $$ DECLARE grantee text; BEGIN
  FOR grantee IN
    SELECT DISTINCT pg_get_userbyid(entry.grantee)
    FROM pg_class, aclexplode(relacl) AS entry
    WHERE oid = '_prisma_migrations'::regclass AND entry.grantee NOT IN (0, relowner)
  LOOP EXECUTE format('REVOKE ALL ON _prisma_migrations FROM %I', grantee); END LOOP;
END $$`;

async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** Name and checksum of every applied migration. */
async function readHistory(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query(
    'SELECT migration_name, checksum FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  );
  return new Map(rows.map((row) => [row.migration_name, row.checksum]));
}

function findMissing(migrations: readonly Migration[], history: ReadonlyMap<string, string>): Migration[] {
  const edited = migrations.filter(
    ({ name, checksum }) => history.has(name) && history.get(name) !== checksum,
  );
  if (edited.length > 0) {
    const names = edited.map(({ name }) => name).join(', ');
    throw new Error(`changed after it was applied: ${names}; undo the edit and write a new migration`);
  }
  return migrations.filter(({ name }) => !history.has(name));
}

async function apply(client: pg.Client, migration: Migration, waits: LockWaits): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run(client, migration, waits.timeoutMs);
    } catch (cause) {
      if (attempt >= waits.attempts || (cause as pg.DatabaseError).code !== LOCK_NOT_AVAILABLE)
        // Closing the connection rolls back.
        throw new Error(`migration ${migration.name} failed: ${(cause as Error).message}`, { cause });
    }
    await client.query('ROLLBACK');
    await waits.pause();
  }
}

async function run(
  client: pg.Client,
  { name, sql, checksum }: Migration,
  lockTimeoutMs: number,
): Promise<void> {
  await client.query('BEGIN');
  await client.query("SELECT set_config('lock_timeout', $1, true)", [String(lockTimeoutMs)]);
  await client.query(sql);
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
  await client.query('COMMIT');
}
