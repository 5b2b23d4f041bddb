import { readFile } from 'node:fs/promises';
import { toComposeSecrets } from './compose-secrets.ts';
import { DATABASE_SERVICES, type DatabaseRole, type KeyFiles, readDatabasePassword } from './key-files.ts';

/** The database of deploy/kubernetes/single-node. */
const POSTGRES = 'postgresql://postgres@postgres:5432/phds';

/** The roles of a service in the order of deploy/roles.sql; only consent has a reader. */
const ROLES: readonly DatabaseRole[] = ['owner', 'runtime', 'reader'];

/** The files of each secret, by the secret's name. */
export type SecretFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The secrets of deploy/kubernetes/single-node: for each container its own share of the keys and passwords. */
export async function toKubernetesSecrets(keys: KeyFiles): Promise<SecretFiles> {
  const { migrate = {}, ...shares } = toComposeSecrets(keys, POSTGRES);
  const secrets: Record<string, Record<string, string>> = {};
  for (const [name, files] of Object.entries(shares)) {
    const content: Record<string, string> = {};
    for (const [file, read] of Object.entries(files)) content[file] = await read();
    secrets[`${name}-secrets`] = content;
  }
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
    for (const role of ROLES.filter((each) => each !== 'reader' || service === 'consent')) {
      Object.assign(passwords, {
        [`${service}-${role}.password`]: await readDatabasePassword(keys, service, role),
      });
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
