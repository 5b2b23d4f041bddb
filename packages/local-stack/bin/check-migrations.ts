/**
 * Checks that every service's migrations produce its schema.prisma, and have nothing that needs a review which squawk does not ask for;
 * otherwise exits with 1 and prints what to change. Part of `pnpm check:migrations`.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ensureServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { startThrowawayPostgres } from '../src/servers/embedded-postgres.ts';
import { findUnreviewed } from './migration-rules.ts';
import { findDrift } from './schema-engine.ts';

const services = resolve(import.meta.dirname, '../../../services');

async function checkAll(): Promise<boolean> {
  await using server = await startThrowawayPostgres();
  let clean = true;
  for (const service of (await readdir(services)).sort()) {
    const prisma = join(services, service, 'prisma');
    if (existsSync(join(prisma, 'schema.prisma'))) {
      clean = (await checkService(server.adminUrl, service, prisma)) && clean;
      clean = (await checkReviews(service, join(prisma, 'migrations'))) && clean;
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

async function checkReviews(service: string, directory: string): Promise<boolean> {
  let clean = true;
  const later = (await readdir(directory)).filter((name) => /^\d/.test(name) && name !== '0001_init');
  for (const name of later) {
    for (const change of findUnreviewed(await readFile(join(directory, name, 'migration.sql'), 'utf8'))) {
      console.error(
        `${service}: ${name} has "${change}" without a comment "-- reviewed: why" above the statement`,
      );
      clean = false;
    }
  }
  return clean;
}

if (!(await checkAll())) process.exitCode = 1;
