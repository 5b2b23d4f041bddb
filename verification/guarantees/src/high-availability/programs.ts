import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { accessSync, constants, openSync, readFileSync } from 'node:fs';
import { chown, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** Names a directory made by bin/install-programs.sh. Without it, the programs of this machine are used. */
const ROOT_VARIABLE = 'PHDS_DATABASE_PROGRAMS';
const POSTGRES_BIN = '/usr/lib/postgresql/17/bin';
const DIRECTORIES = [POSTGRES_BIN, '/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/bin'];
const NEEDED = [
  'postgres',
  'pg_basebackup',
  'pg_rewind',
  'patroni',
  'patronictl',
  'etcd',
  'pgbackrest',
  'haproxy',
  'openssl',
];
const VERSION = 17;

// Patroni reads /proc and uses semaphores. The mounts belong to this process and its descendants and end with them.
const ENTER = [
  'mount -t proc proc "$0/proc"',
  'mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm"',
  'exec chroot --userspec=postgres:postgres "$0" "$@"',
].join(' && ');

type Variables = Readonly<Record<string, string>>;

interface RunOptions {
  readonly env?: Variables;
  /** Written to its standard input. */
  readonly input?: string;
}

/** The programs of a database cluster: those of this machine, or of a system in a directory of its own. */
export class Programs {
  readonly #root: string;
  readonly #user: { readonly uid: number; readonly gid: number } | null;
  /** Where the programs of Postgres are, as the programs see it. */
  readonly postgresBin: string;

  private constructor(root: string) {
    this.#root = root;
    this.#user = process.getuid?.() === 0 ? findPostgresUser(root) : null;
    this.postgresBin = dirname(this.#find('postgres') ?? '');
  }

  /** Throws an error that says what is missing and how to get it. */
  static async find(): Promise<Programs> {
    const programs = new Programs(process.env[ROOT_VARIABLE]?.replace(/\/+$/, '') ?? '');
    const missing = NEEDED.filter((name) => programs.#find(name) === null);
    if (missing.length > 0) throw new Error(explain(`Missing: ${missing.join(', ')}.`));
    const version = await programs.run('postgres', ['--version']);
    if (Number(/\d+/.exec(version)?.[0]) < VERSION) throw new Error(explain(`${version.trim()} is too old.`));
    return programs;
  }

  /** Makes an empty directory that the programs can write to. */
  async makeTemporaryDirectory(): Promise<string> {
    const path = await mkdtemp(join(this.#root === '' ? tmpdir() : join(this.#root, 'tmp'), 'phds-ha-'));
    await this.#handOver(path);
    return path;
  }

  async makeDirectory(path: string): Promise<string> {
    await mkdir(path, { mode: 0o700 });
    await this.#handOver(path);
    return path;
  }

  /** Writes a file that only the programs can read. */
  async write(path: string, text: string): Promise<void> {
    await writeFile(path, text, { mode: 0o600 });
    await this.#handOver(path);
  }

  /** The path as the programs see it. */
  inside(path: string): string {
    return path.slice(this.#root.length);
  }

  /** Starts a program that writes to a log file, in a session of its own. */
  spawn(name: string, args: readonly string[], options: { readonly env: Variables; readonly log: string }) {
    const log = openSync(options.log, 'a');
    const { command, args: words } = this.#toCommand(name, args);
    return spawn(command, words, {
      cwd: '/',
      env: toEnvironment(options.env),
      detached: true,
      stdio: ['ignore', log, log],
    }) satisfies ChildProcess;
  }

  /** Runs a program to its end and returns its output. Throws, with what it printed, if it fails. */
  run(name: string, args: readonly string[], { env = {}, input = '' }: RunOptions = {}): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const { command, args: words } = this.#toCommand(name, args);
    const options = { cwd: '/', env: toEnvironment(env), timeout: 300_000 };
    const child = execFile(command, words, options, (error, output, errors) => {
      if (error === null) resolve(output);
      else reject(new Error(`${name} failed: ${errors}${output}`.trim(), { cause: error }));
    });
    child.stdin?.on('error', () => undefined).end(input);
    return promise;
  }

  #find(name: string): string | null {
    const own = this.#root === '' ? (process.env['PATH'] ?? '').split(delimiter) : [];
    return [...own, ...DIRECTORIES].map((each) => join(each, name)).find((path) => this.#has(path)) ?? null;
  }

  #has(path: string): boolean {
    try {
      accessSync(join(this.#root, path), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  }

  #toCommand(name: string, args: readonly string[]): { command: string; args: string[] } {
    const program = this.#find(name) ?? name;
    if (this.#root !== '') {
      return {
        command: 'unshare',
        args: ['--mount', '--', '/bin/sh', '-c', ENTER, this.#root, program, ...args],
      };
    }
    if (this.#user === null) return { command: program, args: [...args] };
    const { uid, gid } = this.#user;
    const become = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--'];
    return { command: 'setpriv', args: [...become, program, ...args] };
  }

  async #handOver(path: string): Promise<void> {
    if (this.#user !== null) await chown(path, this.#user.uid, this.#user.gid);
  }
}

function toEnvironment(env: Variables): Variables {
  const path = [...(process.env['PATH'] ?? '').split(delimiter), ...DIRECTORIES].join(delimiter);
  return { PATH: path, LANG: 'C.UTF-8', TZ: 'UTC', HOME: '/tmp', ...env };
}

/** Postgres refuses to run as root. */
function findPostgresUser(root: string): { uid: number; gid: number } {
  const users = readFileSync(join(root, '/etc/passwd'), 'utf8');
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  if (uid === undefined)
    throw new Error(explain('Postgres does not run as root, and there is no user postgres.'));
  return { uid: Number(uid), gid: Number(gid) };
}

function explain(problem: string): string {
  return `${problem}
The proof needs PostgreSQL ${VERSION}, Patroni 4, etcd, pgBackRest, haproxy and openssl. Debian 13 has them:
  apt-get install postgresql-17 patroni python3-etcd etcd-server pgbackrest haproxy openssl
On another system, install Debian 13 into a directory, as root, and name it:
  verification/guarantees/bin/install-programs.sh /opt/phds-databases
  export ${ROOT_VARIABLE}=/opt/phds-databases`;
}
