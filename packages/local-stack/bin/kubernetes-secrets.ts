/**
 * Prints the secrets of deploy/kubernetes/single-node, for `kubectl apply --filename -`. The keys and passwords are created once and
 * kept in .data/kubernetes.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { toKubernetesSecrets, toSecretList } from '../src/container-secrets.ts';
import { defaultDataDirectory } from '../src/data-directory.ts';
import { ensureKeyFiles } from '../src/key-files.ts';

const directory = join(defaultDataDirectory, 'kubernetes');
await mkdir(directory, { recursive: true });
const secrets = await toKubernetesSecrets(await ensureKeyFiles(directory));
process.stdout.write(`${JSON.stringify(toSecretList(secrets, 'phds'), null, 2)}\n`);
