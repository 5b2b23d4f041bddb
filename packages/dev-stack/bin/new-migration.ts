/**
 * Writes the next migration of a service: `node packages/dev-stack/bin/new-migration.ts <service> <name>`, from the
 * difference between its migrations and its schema.prisma. Read the SQL before committing it; what a Prisma schema has
 * no words for (grants, triggers, partial indexes, partitions) is added by hand, also to a migration without a
 * difference (`--empty`). A migration is one transaction; CREATE INDEX CONCURRENTLY needs one of its own.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkDrift, MIGRATION_LOCK } from '@phds/database/migrations';
import { withScratchDatabase } from '@phds/local-servers/scratch-database';

const workspace = resolve(import.meta.dirname, '../../..');

async function writeMigration(service: string, name: string, empty: boolean): Promise<void> {
  if (!/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name)) throw new Error('the name is lower_case_with_underscores');
  const prisma = join(workspace, 'services', service, 'prisma');
  const directory = join(prisma, 'migrations');
  const datamodel = await readFile(join(prisma, 'schema.prisma'), 'utf8');
  await mkdir(directory, { recursive: true });
  const sql = await withScratchDatabase(service, ({ ownerUrl, schema }) =>
    checkDrift({ connectionString: ownerUrl, schema, directory }, datamodel),
  );
  if (sql === '' && !empty) {
    console.log(
      `${service}: the migrations build what schema.prisma says; nothing to write (--empty writes one).`,
    );
    return;
  }
  const target = join(directory, `${await nextNumber(directory)}_${name}`);
  await mkdir(target);
  await writeFile(join(target, 'migration.sql'), sql);
  const lock = join(directory, 'migration_lock.toml');
  if (!existsSync(lock)) await writeFile(lock, MIGRATION_LOCK);
  console.log(`written: ${relative(workspace, join(target, 'migration.sql'))}`);
}

async function nextNumber(directory: string): Promise<string> {
  const numbers = (await readdir(directory)).map((name) => Number.parseInt(name, 10));
  const last = Math.max(0, ...numbers.filter((number) => !Number.isNaN(number)));
  return String(last + 1).padStart(4, '0');
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { empty: { type: 'boolean', default: false } },
});
const [service, name] = positionals;
if (service === undefined || name === undefined) {
  console.error('usage: pnpm migration <service> <name_of_the_change> [--empty]');
  process.exitCode = 2;
} else {
  await writeMigration(service, name, values.empty);
}
