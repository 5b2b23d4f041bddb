/**
 * Writes the next migration of a service from the difference between its migrations and its schema.prisma. Read the SQL before
 * committing it. Add by hand what a Prisma schema cannot express (grants, triggers, partial indexes, partitions); `--empty` writes
 * a migration for that without a difference. A migration runs in one transaction, where CREATE INDEX CONCURRENTLY is not possible:
 * build such an index before the migration, which then uses IF NOT EXISTS and refuses an index that is not valid. Add a CHECK to a
 * large table as NOT VALID and validate it in a migration of its own, so that no statement of the service waits while rows are read.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { withScratchDatabase } from '../src/servers/embedded-postgres.ts';
import { findDrift } from './schema-engine.ts';

const workspace = resolve(import.meta.dirname, '../../..');

/** The file that `prisma migrate` keeps beside the migrations to record their dialect. */
const MIGRATION_LOCK = '# Names the dialect of these migrations to Prisma.\nprovider = "postgresql"\n';

await new Command('pnpm migration')
  .description(
    "Writes the next migration of a service from what its schema.prisma has and its migrations don't.",
  )
  .argument('<service>', 'such as consent', parseService)
  .argument('<name>', 'what changes, in lower_case_with_underscores', parseName)
  .option('--empty', 'write a migration without a difference too, for SQL by hand', false)
  .showHelpAfterError()
  .action(writeMigration)
  .parseAsync();

async function writeMigration(service: string, name: string, options: { empty: boolean }): Promise<void> {
  const prisma = join(workspace, 'services', service, 'prisma');
  const directory = join(prisma, 'migrations');
  const datamodel = await readFile(join(prisma, 'schema.prisma'), 'utf8');
  await mkdir(directory, { recursive: true });
  const sql = await withScratchDatabase(service, ({ ownerUrl, schema }) =>
    findDrift({ connectionString: ownerUrl, schema, directory }, datamodel),
  );
  if (sql === '' && !options.empty) {
    console.log(
      `${service}: the migrations already produce schema.prisma; nothing to write (--empty writes one).`,
    );
    return;
  }
  const target = join(directory, `${toTimestamp(new Date())}_${name}`);
  await mkdir(target);
  await writeFile(join(target, 'migration.sql'), sql);
  const lock = join(directory, 'migration_lock.toml');
  if (!existsSync(lock)) await writeFile(lock, MIGRATION_LOCK);
  console.log(`written: ${relative(workspace, join(target, 'migration.sql'))}`);
}

function parseService(service: string): string {
  if (existsSync(join(workspace, 'services', service, 'prisma/schema.prisma'))) return service;
  throw new InvalidArgumentError(`There is no services/${service}/prisma/schema.prisma.`);
}

function parseName(name: string): string {
  if (/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name)) return name;
  throw new InvalidArgumentError('It must be in lower_case_with_underscores.');
}

/** 20260331140500: migrations are applied in the order of their names. */
function toTimestamp(time: Date): string {
  return time.toISOString().replaceAll(/\D/g, '').slice(0, 14);
}
