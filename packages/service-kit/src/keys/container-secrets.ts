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

/** The files of each secret, by the secret's name. */
export type SecretFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

const ROLE_NAMES: Readonly<Record<DatabaseRole, (service: string) => string>> = {
  owner: toOwnerRole,
  runtime: toRuntimeRole,
  reader: toReaderRole,
};

const file = (path: string) => readFile(path, 'utf8');

/**
 * The keys and passwords for each container of the compose file, limited to those it uses: the files by the name of the container's
 * volume, without `secrets-`. `postgres` is a connection string with server and database.
 */
export async function toComposeSecrets(keys: KeyFiles, postgres: string): Promise<SecretFiles> {
  const url = async (service: DatabaseService, role: DatabaseRole) =>
    toDatabaseUrl(postgres, {
      user: ROLE_NAMES[role](service),
      password: await readDatabasePassword(keys, service, role),
    });
  const { servicePrivateKeys } = keys;
  const shared = {
    'services.jwks.json': await file(keys.servicePublicKeys),
    'sessions.jwks.json': await file(keys.identityProviderPublicKeys),
  };
  return {
    gateway: {
      ...shared,
      'service.pem': await file(servicePrivateKeys.gateway),
      'receipt.jwks.json': await file(keys.receiptPublicKeys),
      'oidc-client.secret': await file(keys.oidcClientSecret),
      'sign-in.key': await file(keys.signInKey),
    },
    authorization: {
      ...shared,
      'service.pem': await file(servicePrivateKeys.authorization),
      'assertion.pem': await file(keys.assertionPrivateKey),
      'derivation.key': await file(keys.derivationKey),
      'database-url': await url('authorization', 'runtime'),
    },
    consent: {
      ...shared,
      'service.pem': await file(servicePrivateKeys.consent),
      'receipt.pem': await file(keys.receiptPrivateKey),
      'webhook.key': await file(keys.webhookKey),
      'database-url': await url('consent', 'runtime'),
    },
    'health-data': {
      ...shared,
      'service.pem': await file(servicePrivateKeys['health-data']),
      'assertion.jwks.json': await file(keys.assertionPublicKeys),
      'public-id.key': await file(keys.publicIdKey),
      'database-url': await url('health-data', 'runtime'),
    },
    importer: { 'service.pem': await file(servicePrivateKeys.importer) },
    operator: {
      'service.pem': await file(servicePrivateKeys.operator),
      'operator.name': await file(keys.operatorName),
      'receipt.jwks.json': await file(keys.receiptPublicKeys),
      'records.database-url': await url('consent', 'reader'),
    },
    'identity-provider': {
      'identity-provider.pem': await file(keys.identityProviderPrivateKey),
      'oidc-client.secret': await file(keys.oidcClientSecret),
    },
    migrate: {
      'authorization.database-url': await url('authorization', 'owner'),
      'consent.database-url': await url('consent', 'owner'),
      'health-data.database-url': await url('health-data', 'owner'),
    },
    postgres: { password: await file(keys.postgresPassword) },
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
  readonly migrations: Readonly<Record<string, string>>;
}> {
  const shares = await toComposeSecrets(keys, postgres);
  const secrets: Record<string, Readonly<Record<string, string>>> = {};
  for (const holder of HOLDERS) {
    // The keys of sessions are those of the identity provider.
    const { 'sessions.jwks.json': _, ...files } = shares[holder] ?? {};
    const usesRedis = redis !== undefined && (holder === 'gateway' || holder === 'consent');
    secrets[holder] = { ...files, ...(usesRedis && { 'redis-url': `${redis}\n` }) };
  }
  return { secrets, migrations: toMigrationUrls(shares) };
}

function toMigrationUrls({ migrate = {} }: SecretFiles): Readonly<Record<string, string>> {
  return Object.fromEntries(
    DATABASE_SERVICES.map((service) => [service, migrate[`${service}.database-url`] ?? '']),
  );
}

/** The secrets of deploy/kubernetes/single-node: for each container its own share of the keys and passwords. */
export async function toKubernetesSecrets(keys: KeyFiles): Promise<SecretFiles> {
  const shares = await toComposeSecrets(keys, POSTGRES);
  const { migrate: _, ...containers } = shares;
  const secrets: Record<string, Readonly<Record<string, string>>> = {};
  for (const [name, files] of Object.entries(containers)) secrets[`${name}-secrets`] = files;
  for (const [service, url] of Object.entries(toMigrationUrls(shares)))
    secrets[`migrate-${service}-secrets`] = { 'database-url': url };
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
