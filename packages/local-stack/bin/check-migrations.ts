/**
 * Checks that every service's migrations produce its schema.prisma, and that each of them can run while the earlier release serves
 * (migration-rules.ts); otherwise exits with 1 and prints what to change: `node packages/local-stack/bin/check-migrations.ts`.
 */

import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ensureServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { startThrowawayPostgres } from '../src/servers/embedded-postgres.ts';
import { findViolations } from './migration-rules.ts';
import { findDrift } from './schema-engine.ts';

/** Nothing runs before the first migration of a service, so that it may do everything. */
const FIRST = '0001_init';

const services = resolve(import.meta.dirname, '../../../services');

async function checkAll(): Promise<boolean> {
  await using server = await startThrowawayPostgres();
  let clean = true;
  for (const service of (await readdir(services)).sort()) {
    const prisma = join(services, service, 'prisma');
    if (existsSync(join(prisma, 'schema.prisma'))) {
      clean = (await checkRules(service, join(prisma, 'migrations'))) && clean;
      clean = (await checkService(server.adminUrl, service, prisma)) && clean;
    }
  }
  return clean;
}

async function checkService(adminUrl: string, service: string, prisma: string): Promise<boolean> {
  const passwords = { owner: 'scratch-owner', runtime: 'scratch-runtime' };
  const { ownerUrl, schema } = await ensureServiceDatabase({ adminUrl, service, passwords });
  const directory = join(prisma, 'migrations');
  await mkdir(directory, { recursive: true });
  const datamodel = await readFile(join(prisma, 'schema.prisma'), 'utf8');
  const sql = await findDrift({ connectionString: ownerUrl, schema, directory }, datamodel);
  if (sql === '') {
    console.log(`${service}: migrations and schema.prisma agree`);
    return true;
  }
  console.error(
    `${service}: schema.prisma differs from the migrations. Run: pnpm migration ${service} <name_of_the_change>\n${sql}`,
  );
  return false;
}

async function checkRules(service: string, directory: string): Promise<boolean> {
  let clean = true;
  for (const name of (await readdir(directory)).sort()) {
    const file = join(directory, name, 'migration.sql');
    if (name === FIRST || !existsSync(file)) continue;
    for (const { line, statement, marker } of await findViolations(await readFile(file, 'utf8'))) {
      clean = false;
      const place = `${service}/prisma/migrations/${name}/migration.sql:${line}`;
      console.error(
        `${place} ${ADVICE[marker ?? 'never']} (docs/operations/upgrade-and-release.md):\n${statement}`,
      );
    }
  }
  return clean;
}

const ADVICE = {
  contract:
    'may take something from the earlier release. Change it, or write above it: -- contract: <what nothing uses any more> since <release>',
  locks:
    'may hold a lock while it reads or writes rows. Change it, or write above it: -- locks: <why the service does not wait for it>',
  never:
    'is not possible in a migration: each runs in a transaction of its own with a limit for locks, or has one statement CONCURRENTLY IF [NOT] EXISTS alone',
};

if (!(await checkAll())) process.exitCode = 1;
