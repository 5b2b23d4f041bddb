import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The directory of everything that survives a restart of the local stack. */
export interface DataDirectory {
  readonly root: string;
  readonly postgres: string;
  readonly keys: string;
  readonly logs: string;
  /** Describes the running stack. */
  readonly stackFile: string;
  /** How far the synthetic users' data reaches. */
  readonly seedFile: string;
  /** Users that the identity provider created on sign-in, one a line. */
  readonly usersFile: string;
}

/** The root of the checkout. */
export const repositoryRoot = resolve(import.meta.dirname, '../../..');

/** The data directory of `npm start`. */
export const defaultDataDirectory = join(repositoryRoot, '.data');

const OLD_LOG_BYTES = 10 * 1024 * 1024;

/** The paths inside a data directory. Creates nothing. */
export function toDataDirectory(root: string): DataDirectory {
  const at = (name: string) => join(resolve(root), name);
  return {
    root: resolve(root),
    postgres: at('postgres'),
    keys: at('keys'),
    logs: at('logs'),
    stackFile: at('stack.json'),
    seedFile: at('seed.json'),
    usersFile: at('users.txt'),
  };
}

/** Creates missing directories. Only the key directory is private: the database server may run as another user. */
export async function ensureDataDirectory(directory: DataDirectory): Promise<void> {
  await mkdir(directory.logs, { recursive: true });
  await mkdir(directory.keys, { recursive: true, mode: 0o700 });
}

/** Removes everything the stack created. Package caches stay. */
export async function clearDataDirectory(directory: DataDirectory): Promise<void> {
  const { postgres, keys, logs, stackFile, seedFile, usersFile } = directory;
  for (const path of [postgres, keys, logs, stackFile, seedFile, usersFile]) {
    await rm(path, { recursive: true, force: true });
  }
}

/** Path of a process's log. A large existing log is renamed first. */
export async function prepareLogFile(directory: DataDirectory, name: string): Promise<string> {
  const path = join(directory.logs, `${name}.log`);
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  );
  if (size > OLD_LOG_BYTES) await rename(path, `${path}.old`);
  return path;
}
