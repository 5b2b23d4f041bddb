/**
 * Setup jobs of docker-compose.yml:
 *
 *     node packages/local-stack/src/compose-setup.ts keys         creates keys and passwords, and for each container its own share
 *     node packages/local-stack/src/compose-setup.ts databases    creates roles and schemas once Postgres answers
 *     node packages/local-stack/src/compose-setup.ts seed         creates the synthetic users once health-data answers
 *
 * All can run repeatedly: existing data is kept. Each directory under SECRETS is a separate volume that only one container mounts,
 * so no container can read the secrets of another.
 */
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { toComposeSecrets } from '@phds/service-kit/keys/container-secrets';
import {
  DATABASE_SERVICES,
  ensureKeyFiles,
  readDatabasePasswords,
  toKeyFiles,
  toSubject,
} from '@phds/service-kit/keys/key-files';
import { closeDatabases, ensureServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { toDatabaseUrl } from '@phds/service-kit/postgres/postgres-names';
import { createServiceTokenSource } from '@phds/service-kit/trust/callers';
import { seedUntil } from './seed.ts';

const KEYS = '/var/lib/phds/keys';
const SECRETS = '/var/lib/phds/secrets';
const IMPORTER = join(SECRETS, 'importer');
const POSTGRES = 'postgresql://postgres@postgres:5432/phds';
const HEALTH_DATA = 'dns:///health-data:7003';

/** The user `node` of the images. */
const NODE_USER = 1000;

/** The user that Postgres runs as depends on its image. Only Postgres mounts the volume with its password. */
const MODES: Readonly<Record<string, number>> = { postgres: 0o444 };

async function prepareKeys(): Promise<void> {
  const keys = await ensureKeyFiles(KEYS);
  for (const [container, files] of Object.entries(await toComposeSecrets(keys, POSTGRES))) {
    for (const [name, content] of Object.entries(files)) {
      await share(join(container, name), content, MODES[container] ?? 0o400);
    }
  }
  console.log('keys and passwords are in place');
}

async function prepareDatabases(): Promise<void> {
  const keys = toKeyFiles(KEYS);
  const password = (await readFile(keys.postgresPassword, 'utf8')).trim();
  const adminUrl = toDatabaseUrl(POSTGRES, { database: 'postgres', password });
  for (const service of DATABASE_SERVICES) {
    const passwords = await readDatabasePasswords(keys, service);
    await ensureServiceDatabase({ adminUrl, service, passwords });
    console.log(`${service}: schema and roles are in place`);
  }
  await closeDatabases(adminUrl);
}

async function seed(): Promise<void> {
  const privateKeyPem = await readFile(join(IMPORTER, 'service.pem'), 'utf8');
  const tokens = createServiceTokenSource({ service: toSubject('importer'), privateKeyPem });
  await seedUntil(join(IMPORTER, 'seed.json'), HEALTH_DATA, tokens);
  console.log('the synthetic users are in place');
}

/** Writes a file that the container's user can read and nobody can change. */
async function share(name: string, content: string, mode: number): Promise<void> {
  const path = join(SECRETS, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode });
  for (const owned of [dirname(path), path]) await chown(owned, NODE_USER, NODE_USER);
}

const steps: Record<string, () => Promise<void>> = { keys: prepareKeys, databases: prepareDatabases, seed };
const run = steps[process.argv[2] ?? ''];
if (run === undefined) {
  console.error(`usage: compose-setup.ts ${Object.keys(steps).join('|')}`);
  process.exitCode = 2;
} else {
  await run();
}
