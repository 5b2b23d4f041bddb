import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { calculateJwkThumbprint, type JWK } from 'jose';
import {
  createServiceTokenSource,
  OPERATOR_ROLES,
  SERVICE_ROLES,
  type ServiceTokenSource,
  toOperatorCaller,
  toServiceCaller,
} from '../trust/callers.ts';

/** The callers that sign service tokens: the four services, importers and seeding, a service for tries, and operators. */
export const CALLERS = [
  'gateway',
  'authorization',
  'consent',
  'health-data',
  'importer',
  'example-service',
  'operator',
] as const;

/** A name that service tokens are issued to. */
export type Caller = (typeof CALLERS)[number];

/** Name of the operator of the local stack. The first operator has every role. */
export const LOCAL_OPERATOR = 'local';

/** The services with a database. */
export const DATABASE_SERVICES = ['authorization', 'consent', 'health-data'] as const;

/** A service with a database. */
export type DatabaseService = (typeof DATABASE_SERVICES)[number];

/** A database role of a service: for migrations, for the service, or read-only. */
export type DatabaseRole = 'owner' | 'runtime' | 'reader';

/** Paths of a stack's keys and passwords; only their owner can read the files. */
export interface KeyFiles {
  readonly directory: string;
  /** Private key for service tokens (Ed25519, PKCS #8 PEM). */
  readonly servicePrivateKeys: Readonly<Record<Caller, string>>;
  /** Public keys of all callers (JWKS, `kid` is the name). */
  readonly servicePublicKeys: string;
  readonly assertionPrivateKey: string;
  readonly assertionPublicKeys: string;
  readonly receiptPrivateKey: string;
  readonly receiptPublicKeys: string;
  readonly identityProviderPrivateKey: string;
  readonly identityProviderPublicKeys: string;
  /** Secret of the client that the gateway is at the identity provider. */
  readonly oidcClientSecret: string;
  /** 32 random bytes, base64. The gateways seal sign-ins in progress with it. */
  readonly signInKey: string;
  /** 32 random bytes, base64. */
  readonly derivationKey: string;
  /** 32 random bytes, base64. */
  readonly publicIdKey: string;
  /** 32 random bytes, base64. */
  readonly webhookKey: string;
  readonly operatorName: string;
  readonly postgresPassword: string;
  /** Connection string of a service's runtime role, written when the databases are created. */
  readonly databaseUrls: Readonly<Record<DatabaseService, string>>;
}

/** The paths inside a key directory. Creates nothing. */
export function toKeyFiles(directory: string): KeyFiles {
  const at = (name: string) => join(directory, name);
  return {
    directory,
    servicePrivateKeys: toRecord(CALLERS, (name) => at(`${name}.pem`)),
    servicePublicKeys: at('services.jwks.json'),
    assertionPrivateKey: at('assertion.pem'),
    assertionPublicKeys: at('assertion.jwks.json'),
    receiptPrivateKey: at('receipt.pem'),
    receiptPublicKeys: at('receipt.jwks.json'),
    identityProviderPrivateKey: at('identity-provider.pem'),
    identityProviderPublicKeys: at('identity-provider.jwks.json'),
    oidcClientSecret: at('oidc-client.secret'),
    signInKey: at('sign-in.key'),
    derivationKey: at('derivation.key'),
    publicIdKey: at('public-id.key'),
    webhookKey: at('webhook.key'),
    operatorName: at('operator.name'),
    postgresPassword: at('postgres.password'),
    databaseUrls: toRecord(DATABASE_SERVICES, (name) => at(`${name}.database-url`)),
  };
}

/**
 * Creates missing keys and keeps existing ones, so that tokens survive a restart of the stack. `operator` names the first operator of a
 * deployment, which has no service for tries.
 */
export async function ensureKeyFiles(directory: string, operator?: string): Promise<KeyFiles> {
  const files = toKeyFiles(directory);
  const name = await readOrCreateSecret(files.operatorName, () => operator ?? LOCAL_OPERATOR);
  const { 'example-service': _, ...deployed } = files.servicePrivateKeys;
  const callers = operator === undefined ? files.servicePrivateKeys : deployed;
  await ensureSigningKeys(files.servicePublicKeys, callers, (caller) => toMember(caller, name));
  // The key set is named by signer: authorization signs assertions.
  await ensureSigningKeys(files.assertionPublicKeys, { authorization: files.assertionPrivateKey });
  // Receipts stay valid longer than any key, and the identity provider's key may be replaced at any time.
  await ensureKeyByThumbprint(files.receiptPublicKeys, files.receiptPrivateKey);
  await ensureKeyByThumbprint(files.identityProviderPublicKeys, files.identityProviderPrivateKey);
  await readOrCreateSecret(files.oidcClientSecret, newPassword);
  await readOrCreateSecret(files.signInKey, newSecretKey);
  await readOrCreateSecret(files.derivationKey, newSecretKey);
  await readOrCreateSecret(files.publicIdKey, newSecretKey);
  await readOrCreateSecret(files.webhookKey, newSecretKey);
  await readOrCreateSecret(files.postgresPassword, newPassword);
  return files;
}

/** The password of one of a service's database roles, generated on first use. */
export function readDatabasePassword(
  files: KeyFiles,
  service: DatabaseService,
  role: DatabaseRole,
): Promise<string> {
  return readOrCreateSecret(join(files.directory, `${service}-${role}.password`), newPassword);
}

/** The passwords of all database roles of a service. Only consent has a reader: `phds records` connects with it. */
export async function readDatabasePasswords(files: KeyFiles, service: DatabaseService) {
  const read = (role: DatabaseRole) => readDatabasePassword(files, service, role);
  const reader = service === 'consent' ? { reader: await read('reader') } : {};
  return { owner: await read('owner'), runtime: await read('runtime'), ...reader };
}

/** Writes or replaces a file that only its owner can read. */
export async function writeSecretFile(path: string, content: string): Promise<void> {
  await writeFile(path, `${content}\n`, { mode: 0o600 });
}

function newSecretKey(): string {
  return randomBytes(32).toString('base64');
}

function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** What the key set says of a caller, besides the key. */
interface Member {
  readonly kid: string;
  readonly roles?: readonly string[];
}

/** The services with roles, and how each is named in service tokens. */
const WITH_ROLES: Readonly<Record<string, Member>> = {
  importer: { kid: toServiceCaller('importer'), roles: ['ingest'] },
  'example-service': { kid: toServiceCaller('example'), roles: SERVICE_ROLES },
};

/** How a caller is named in service tokens. */
export function toSubject(caller: string): string {
  return toMember(caller).kid;
}

function toMember(caller: string, operator = LOCAL_OPERATOR): Member {
  if (caller === 'operator') return { kid: toOperatorCaller(operator), roles: OPERATOR_ROLES };
  return WITH_ROLES[caller] ?? { kid: caller };
}

async function ensureSigningKeys(
  jwksFile: string,
  keys: Readonly<Record<string, string>>,
  toMembers: (name: string) => object = (kid) => ({ kid }),
): Promise<void> {
  const published: object[] = [];
  for (const [name, path] of Object.entries(keys)) {
    const pem = await readOrCreateSecret(path, newPrivateKey);
    published.push({
      ...createPublicKey(pem).export({ format: 'jwk' }),
      ...toMembers(name),
      alg: 'EdDSA',
      use: 'sig',
    });
  }
  await writeSecretFile(jwksFile, JSON.stringify({ keys: published }, null, 2));
}

async function ensureKeyByThumbprint(jwksFile: string, pemFile: string): Promise<void> {
  const kid = await findThumbprint(await readOrCreateSecret(pemFile, newPrivateKey));
  await ensureSigningKeys(jwksFile, { [kid]: pemFile });
}

/** The RFC 7638 thumbprint of a private key's public part. As a `kid`, it changes with the key. */
export function findThumbprint(privateKeyPem: string): Promise<string> {
  return calculateJwkThumbprint(createPublicKey(privateKeyPem).export({ format: 'jwk' }) as JWK);
}

/** PKCS #8 PEM of a new Ed25519 key. */
function newPrivateKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();
}

async function readOrCreateSecret(path: string, create: () => string): Promise<string> {
  const known = await readFile(path, 'utf8').catch(() => '');
  if (known.trim() !== '') return known.trim();
  const secret = create();
  await writeSecretFile(path, secret);
  return secret;
}

function toRecord<Name extends string>(names: readonly Name[], toValue: (name: Name) => string) {
  return Object.fromEntries(names.map((name) => [name, toValue(name)])) as Record<Name, string>;
}

/** Issues service tokens of any caller, with the private keys in these files. */
export function createServiceTokens({ servicePrivateKeys }: Pick<KeyFiles, 'servicePrivateKeys'>) {
  return async (caller: Caller): Promise<ServiceTokenSource> =>
    createServiceTokenSource({
      service: toSubject(caller),
      privateKeyPem: await readFile(servicePrivateKeys[caller], 'utf8'),
    });
}
