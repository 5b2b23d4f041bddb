import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DatabaseService } from '@phds/service-kit/keys/key-files';
import { identifySelf, isRunning } from './servers/process-identity.ts';

/** Addresses and key locations of a running stack for other programs. Contains no secret. */
export interface StackDescription {
  /** The process that runs the stack, in the form of `identifyProcess`, because process ids are reused. */
  readonly process: string;
  readonly gatewayUrl: string;
  /** `host:port` of each service's rpc. */
  readonly rpcAddresses: Readonly<Record<DatabaseService, string>>;
  /** The directory of its keys. */
  readonly keys: string;
}

/** Writes the description. It is valid while the process runs. */
export async function writeStackFile(dataDirectory: string, description: StackDescription): Promise<void> {
  const { stackFile } = toDataDirectory(dataDirectory);
  await writeFile(stackFile, `${JSON.stringify(description, null, 2)}\n`);
}

export async function removeStackFile(dataDirectory: string): Promise<void> {
  await rm(toDataDirectory(dataDirectory).stackFile, { force: true });
}

/** The stack running on this data directory, or null. A description left behind by a killed run is ignored, as is one of another form. */
export function findStackFile(dataDirectory: string = defaultDataDirectory): StackDescription | null {
  try {
    const description: StackDescription = JSON.parse(
      readFileSync(toDataDirectory(dataDirectory).stackFile, 'utf8'),
    );
    return description.gatewayUrl !== undefined && isRunning(description.process) ? description : null;
  } catch {
    return null;
  }
}

/**
 * Reserves a data directory for this process until disposal, so that of two starts at once the second changes nothing. Throws, with a
 * message for the terminal, when another process that still runs has reserved it. A lock without such a process is replaced.
 */
export async function lockDataDirectory(root: string): Promise<AsyncDisposable> {
  await mkdir(root, { recursive: true });
  const lock = join(root, 'stack.lock');
  const own = `${lock}.${randomBytes(6).toString('hex')}`;
  await using undo = new AsyncDisposableStack();
  undo.defer(() => rm(own, { force: true }));
  await writeFile(own, identifySelf());
  // Held while the lock is looked at and replaced: otherwise, after a killed run, two starts could replace each other's.
  const starting = `${lock}.starting`;
  while (!(await linkUnlessTaken(own, starting))) await removeUnlessHeld(starting, root);
  undo.defer(() => rm(starting, { force: true }));
  await removeUnlessHeld(lock, root);
  await rename(own, lock);
  return { [Symbol.asyncDispose]: () => rm(lock, { force: true }) };
}

/** A link appears with its content, and only one of many succeeds. */
async function linkUnlessTaken(own: string, name: string): Promise<boolean> {
  try {
    await link(own, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function removeUnlessHeld(name: string, root: string): Promise<void> {
  const holder = await readFile(name, 'utf8').catch(({ code }) => (code === 'ENOENT' ? null : ''));
  if (holder === null) return;
  if (!isRunning(holder)) return rm(name, { force: true });
  const url = findStackFile(root)?.gatewayUrl ?? 'it is starting';
  throw new Error(`A local stack is already running: ${url} (process ${holder.split(' ')[0]}).`);
}

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
