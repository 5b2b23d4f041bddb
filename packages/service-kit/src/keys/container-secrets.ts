import { readFile } from 'node:fs/promises';
import { toDatabaseUrl, toOwnerRole, toReaderRole, toRuntimeRole } from '../postgres/postgres-names.ts';
import {
  DATABASE_SERVICES,
  type DatabaseRole,
  type DatabaseService,
  type KeyFiles,
  readDatabasePassword,
  readDatabasePasswords,
} from './key-files.ts';

/** Reads the content of a secret file. */
type Source = () => Promise<string>;

const ROLE_NAMES: Readonly<Record<DatabaseRole, (service: string) => string>> = {
  owner: toOwnerRole,
  runtime: toRuntimeRole,
  reader: toReaderRole,
};

const file = (path: string) => () => readFile(path, 'utf8');

/**
 * The keys and passwords for each container of the compose file, limited to those it uses: the files by the name of the container's
 * volume, without `secrets-`. `postgres` is a connection string with server and database.
 */
export function toComposeSecrets(
  keys: KeyFiles,
  postgres: string,
): Readonly<Record<string, Readonly<Record<string, Source>>>> {
  const url = (service: DatabaseService, role: DatabaseRole) => async () =>
    toDatabaseUrl(postgres, {
      user: ROLE_NAMES[role](service),
      password: await readDatabasePassword(keys, service, role),
    });
  const { servicePrivateKeys } = keys;
  const shared = {
    'services.jwks.json': file(keys.servicePublicKeys),
    'sessions.jwks.json': file(keys.identityProviderPublicKeys),
  };
  return {
    gateway: {
      ...shared,
      'service.pem': file(servicePrivateKeys.gateway),
      'receipt.jwks.json': file(keys.receiptPublicKeys),
      'oidc-client.secret': file(keys.oidcClientSecret),
      'sign-in.key': file(keys.signInKey),
    },
    authorization: {
      ...shared,
      'service.pem': file(servicePrivateKeys.authorization),
      'assertion.pem': file(keys.assertionPrivateKey),
      'derivation.key': file(keys.derivationKey),
      'database-url': url('authorization', 'runtime'),
    },
    consent: {
      ...shared,
      'service.pem': file(servicePrivateKeys.consent),
      'receipt.pem': file(keys.receiptPrivateKey),
      'webhook.key': file(keys.webhookKey),
      'database-url': url('consent', 'runtime'),
    },
    'health-data': {
      ...shared,
      'service.pem': file(servicePrivateKeys['health-data']),
      'assertion.jwks.json': file(keys.assertionPublicKeys),
      'public-id.key': file(keys.publicIdKey),
      'database-url': url('health-data', 'runtime'),
    },
    importer: { 'service.pem': file(servicePrivateKeys.importer) },
    operator: {
      'service.pem': file(servicePrivateKeys.operator),
      'operator.name': file(keys.operatorName),
      'receipt.jwks.json': file(keys.receiptPublicKeys),
      'records.database-url': url('consent', 'reader'),
    },
    'identity-provider': {
      'identity-provider.pem': file(keys.identityProviderPrivateKey),
      'oidc-client.secret': file(keys.oidcClientSecret),
    },
    migrate: Object.fromEntries(
      DATABASE_SERVICES.map((service) => [`${service}.database-url`, url(service, 'owner')]),
    ),
    postgres: { password: file(keys.postgresPassword) },
  };
}

/** The database of deploy/kubernetes/single-node. */
const POSTGRES = 'postgresql://postgres@postgres:5432/phds';

const HOLDERS = ['gateway', 'authorization', 'consent', 'health-data', 'operator', 'importer'] as const;

/**
 * What each service, the operator and the importer of a deployment hold: the files of `/etc/phds/NAME/secrets`, or of the secret
 * `NAME-secrets`. `migrations` are the connection strings of the owners of the schemas.
 */
export async function toHeldSecrets(
  keys: KeyFiles,
  postgres: string,
  redis: string | undefined,
): Promise<{
  readonly secrets: SecretFiles;
  readonly migrations: Readonly<Record<DatabaseService, string>>;
}> {
  const shares = toComposeSecrets(keys, postgres);
  const secrets: Record<string, Record<string, string>> = {};
  for (const holder of HOLDERS) {
    // The keys of sessions are those of the identity provider.
    const { 'sessions.jwks.json': _, ...sources } = shares[holder] ?? {};
    secrets[holder] = await readAll(sources);
    if (redis !== undefined && (holder === 'gateway' || holder === 'consent'))
      secrets[holder]['redis-url'] = `${redis}\n`;
  }
  const migrations = await readAll(shares['migrate'] ?? {});
  return {
    secrets,
    migrations: Object.fromEntries(
      DATABASE_SERVICES.map((service) => [service, migrations[`${service}.database-url`] ?? '']),
    ) as Record<DatabaseService, string>,
  };
}

async function readAll(sources: Readonly<Record<string, Source>>): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  for (const [file, read] of Object.entries(sources)) content[file] = await read();
  return content;
}

/** The files of each secret, by the secret's name. */
export type SecretFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The secrets of deploy/kubernetes/single-node: for each container its own share of the keys and passwords. */
export async function toKubernetesSecrets(keys: KeyFiles): Promise<SecretFiles> {
  const { migrate = {}, ...shares } = toComposeSecrets(keys, POSTGRES);
  const secrets: Record<string, Record<string, string>> = {};
  for (const [name, files] of Object.entries(shares)) secrets[`${name}-secrets`] = await readAll(files);
  for (const service of DATABASE_SERVICES) {
    const url = await migrate[`${service}.database-url`]?.();
    secrets[`migrate-${service}-secrets`] = { 'database-url': url ?? '' };
  }
  return { ...secrets, 'databases-secrets': await readPasswords(keys) };
}

/** The passwords of the server and of all roles, under the names that the job of compose-setup.ts expects. */
async function readPasswords(keys: KeyFiles): Promise<Record<string, string>> {
  const passwords = { 'postgres.password': await readFile(keys.postgresPassword, 'utf8') };
  for (const service of DATABASE_SERVICES) {
    for (const [role, password] of Object.entries(await readDatabasePasswords(keys, service))) {
      Object.assign(passwords, { [`${service}-${role}.password`]: password });
    }
  }
  return passwords;
}

/** The secrets as one object for `kubectl apply --filename -`. */
export function toSecretList(secrets: SecretFiles, namespace: string) {
  const items = Object.entries(secrets).map(([name, stringData]) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels: { 'app.kubernetes.io/part-of': 'phds' } },
    type: 'Opaque',
    stringData,
  }));
  return { apiVersion: 'v1', kind: 'List', items };
}
