import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { withConnection } from './postgres.ts';

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
interface LockWaits {
  /** Longest wait for one lock. */
  readonly timeoutMs: number;
  /** How often a migration is tried that waited longer. */
  readonly attempts: number;
  /** Between two attempts, while the statements that waited run. */
  readonly pause: () => Promise<void>;
}

/** Longer than Postgres's deadlock_timeout (1 s), after which it ends an automatic VACUUM that is in the way. */
const LOCK_WAITS: LockWaits = { timeoutMs: 2_000, attempts: 10, pause: () => sleep(5_000) };

const LOCK_POLL_MS = 100;

const LOCK_NOT_AVAILABLE = '55P03';

interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, as Prisma records it. */
  readonly checksum: string;
}

/** Builds or drops one index while the service writes, which Postgres does not do in a transaction. */
const CONCURRENT_INDEX =
  /^(?:\s*--.*\n)*\s*(?:CREATE|DROP)\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+IF\s+(?:NOT\s+)?EXISTS\s+("?\w+"?)/i;

/**
 * Applies the migrations that the database does not have yet, in the order of their names, and returns their names. Each runs in
 * one transaction with its row in the history: a failed one leaves nothing behind and is retried by the next run. One that consists
 * of CREATE or DROP INDEX CONCURRENTLY runs without a transaction, and what an interrupted build left is removed first. One that does
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
    await lock(client, target.schema);
    await client.query(PREPARE_HISTORY);
    const missing = findMissing(migrations, await readHistory(client));
    for (const migration of missing) await apply(client, migration, target.lockWaits ?? LOCK_WAITS);
    return missing.map(({ name }) => name);
  });
}

/** Waits without a statement that runs: CREATE INDEX CONCURRENTLY of the run that has the lock would wait for its snapshot. */
async function lock(client: pg.Client, schema: string): Promise<void> {
  const text = "SELECT pg_try_advisory_lock(hashtextextended('phds-migrations ' || $1, 0)) AS locked";
  while (!(await client.query(text, [schema])).rows[0].locked) await sleep(LOCK_POLL_MS);
}

// Created as Prisma does, so that each finds the other's rows. An unfinished row of Prisma belongs to an interrupted run, whose
// transaction left nothing behind. Default privileges would grant the other roles of the schema all rights on the history; they only
// read which migrations are applied, for the readiness of the service.
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
    FROM pg_namespace, aclexplode(nspacl) AS entry
    WHERE nspname = current_schema() AND entry.grantee NOT IN (0, nspowner)
  LOOP
    EXECUTE format('REVOKE ALL ON _prisma_migrations FROM %I', grantee);
    EXECUTE format('GRANT SELECT (migration_name, finished_at, rolled_back_at) ON _prisma_migrations TO %I', grantee);
  END LOOP;
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
  const concurrent = CONCURRENT_INDEX.exec(sql);
  if (concurrent?.[1]) {
    await dropIfInvalid(client, concurrent[1]);
  } else {
    await client.query('BEGIN');
    await client.query("SELECT set_config('lock_timeout', $1, true)", [String(lockTimeoutMs)]);
  }
  for (const command of splitCommands(sql)) await client.query(command);
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
  if (concurrent === null) await client.query('COMMIT');
}

/** Comments, texts, quoted names and bodies of functions, in which a semicolon ends nothing. */
const TOKEN = /--[^\n]*|\/\*[\s\S]*?\*\/|'[^']*'|"[^"]*"|\$(\w*)\$[\s\S]*?\$\1\$|;/g;

/** The commands of a file, because Citus hands the text that it is sent to other servers as one command. Not for `BEGIN ATOMIC`. */
export function splitCommands(sql: string): string[] {
  const ends = [...sql.matchAll(TOKEN)].filter(([token]) => token === ';').map(({ index }) => index + 1);
  const commands = [0, ...ends].map((start, part) => sql.slice(start, ends[part]).trim());
  return commands.filter((text) => text.replaceAll(TOKEN, '').trim() !== '');
}

/** IF NOT EXISTS would accept an index that an interrupted build left, which no statement uses. */
async function dropIfInvalid(client: pg.Client, index: string): Promise<void> {
  const invalid = 'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid';
  const { rowCount } = await client.query(invalid, [index]);
  if (rowCount === 1) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
}
