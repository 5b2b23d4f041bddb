import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OWNER_FILE, stopLeftover } from './embedded-postgres-leftover.ts';
import type { PostgresPrograms } from './embedded-postgres-programs.ts';
import {
  asPostgresUser,
  findPostgresPrograms,
  handOver,
  requireSameVersion,
} from './embedded-postgres-programs.ts';
import { findFreePort } from './free-port.ts';
import { identifySelf } from './process-identity.ts';

export interface EmbeddedPostgresOptions {
  /** Data directory; created and initialised if missing. */
  readonly directory: string;
  /** TCP port on 127.0.0.1; 0 picks a free one. */
  readonly port: number;
  /** Whether to keep the data after `stop`. Default true. */
  readonly persistent?: boolean;
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

  const port = options.port === 0 ? await findFreePort() : options.port;
  const server = await launch(programs, directory, port, options);
  // Stops the server if this process exits without `stop`. After kill -9, the next start's stopLeftover does it.
  const stopAtExit = () => void server.kill('SIGINT');
  process.once('exit', stopAtExit);

  const stop = async () => {
    process.removeListener('exit', stopAtExit);
    await stopServer(server);
    if (options.persistent === false) await rm(directory, { recursive: true, force: true });
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
