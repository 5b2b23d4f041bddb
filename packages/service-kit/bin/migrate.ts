/**
 * Applies a service's migrations to its database, for deployments: `node packages/service-kit/bin/migrate.ts <service>`. Connects as
 * the role that owns the schema (`phds_<service>_owner`), using MIGRATION_DATABASE_URL or the content of
 * MIGRATION_DATABASE_URL_FILE. It is safe to run repeatedly and concurrently.
 */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { refuseUnsafeNode } from '../src/node-version.ts';
import { explainConnectionFailure } from '../src/postgres/errors.ts';
import { applyMigrations } from '../src/postgres/migrations.ts';
import { toSchemaName } from '../src/postgres/postgres-names.ts';
import { ConfigError, connectionString, readConfig } from '../src/settings/config.ts';

const SETTING = 'MIGRATION_DATABASE_URL';
const services = resolve(import.meta.dirname, '../../../services');

async function migrate(service: string): Promise<void> {
  // Before the migrations, which stay: with such a Node the services would refuse to start on them.
  refuseUnsafeNode();
  const config = readConfig(z.object({ [SETTING]: connectionString() }));
  const applied = await applyMigrations({
    connectionString: config[SETTING],
    schema: toSchemaName(service),
    directory: join(services, service, 'prisma/migrations'),
  });
  console.log(
    applied.length === 0 ? `${service}: nothing to apply` : `${service}: applied ${applied.join(', ')}`,
  );
}

const [service] = process.argv.slice(2);
if (service === undefined) {
  console.error('usage: node packages/service-kit/bin/migrate.ts <service>');
  process.exitCode = 2;
} else {
  await migrate(service).catch((error: unknown) => {
    const explained = explainConnectionFailure(error, SETTING);
    // Other failures may be those of a migration, whose error says more.
    const isConclusive = explained instanceof ConfigError && !explained.mayHeal;
    console.error(`${service}: ${isConclusive ? explained.message : toReason(error)}`);
    process.exitCode = 1;
  });
}

/** The message, and what Postgres adds. An error of several addresses has no message of its own. */
function toReason(error: unknown): string {
  const { message, errors = [], cause } = error as Error & { errors?: readonly Error[] };
  const { detail, hint } = (cause ?? error) as { detail?: string; hint?: string };
  const messages = message === '' ? errors.map((each) => each.message) : [message];
  return [...messages, detail, hint].filter(Boolean).join('; ');
}
