import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@phds/test-kit/conditions';
import { isRunning, killAll, listTree, signalAll } from './process-trees.ts';
import type { Programs } from './programs.ts';
import { fillIn, parseEnvironmentFile, readDeployed } from './templates.ts';

export interface NodePorts {
  readonly postgres: number;
  readonly patroni: number;
  readonly etcdClient: number;
  readonly etcdPeer: number;
}

export interface NodeOptions {
  readonly programs: Programs;
  readonly name: string;
  readonly ports: NodePorts;
  /** Of the node; existing and empty. */
  readonly directory: string;
  /** Values for the files of deploy/postgres that all nodes share. */
  readonly shared: Readonly<Record<string, string>>;
  /** Environment of pgBackRest, without what differs between the nodes. */
  readonly backup: Readonly<Record<string, string>>;
}

const STOP_LIMIT_MS = 30_000;

/** One machine of the cluster: etcd, Patroni and Postgres, each as its own process. */
export class DatabaseNode {
  readonly name: string;
  readonly ports: NodePorts;
  readonly #options: NodeOptions;
  #etcd: ChildProcess | null = null;
  #patroni: ChildProcess | null = null;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.ports = options.ports;
  }

  /** The configuration files of Patroni, as the programs see the directory. */
  get configuration(): string {
    return this.#inside('patroni');
  }

  get log(): string {
    return join(this.#options.directory, 'node.log');
  }

  /** Environment of pgBackRest on this node. */
  get backupEnvironment(): Record<string, string> {
    return {
      ...this.#options.backup,
      PGBACKREST_PG1_PATH: this.#inside('data'),
      PGBACKREST_PG1_PORT: String(this.ports.postgres),
      PGBACKREST_PG1_SOCKET_PATH: this.#inside('run'),
      PGBACKREST_LOCK_PATH: this.#inside('run'),
    };
  }

  /** Writes the configuration and starts etcd. */
  async prepare(): Promise<void> {
    const { programs, directory } = this.#options;
    for (const name of ['patroni', 'run']) await programs.makeDirectory(join(directory, name));
    await this.configure('10-patroni.yml', await readDeployed('patroni.yml'));
    await this.configure('20-node.yml', fillIn(await readDeployed('node.yml'), this.#values()));
    await this.startEtcd();
  }

  /** Adds a file to the configuration of Patroni. */
  async configure(name: string, text: string): Promise<void> {
    const { programs, directory } = this.#options;
    await programs.write(join(directory, 'patroni', name), text);
  }

  async removeConfiguration(name: string): Promise<void> {
    await rm(join(this.#options.directory, 'patroni', name));
  }

  async startEtcd(): Promise<void> {
    const env = parseEnvironmentFile(fillIn(await readDeployed('etcd.env'), this.#values()));
    this.#etcd = this.#options.programs.spawn('etcd', [], { env, log: this.log });
  }

  startPatroni(): void {
    const { programs } = this.#options;
    const env = this.backupEnvironment;
    this.#patroni = programs.spawn('patroni', [this.configuration], { env, log: this.log });
  }

  /** Starts what does not run. */
  async start(): Promise<void> {
    if (!isAlive(this.#etcd)) await this.startEtcd();
    if (!isAlive(this.#patroni)) this.startPatroni();
  }

  /** Stops Patroni and Postgres in order; etcd continues. */
  async stopPatroni(): Promise<void> {
    await this.#end([this.#patroni], this.#findPostgres());
  }

  /** Stops everything in order. */
  async stop(): Promise<void> {
    signalAll(this.#listProcesses(), 'SIGCONT');
    await this.stopPatroni();
    await this.#end([this.#etcd], []);
  }

  /** Ends every process of the node at once, as a loss of power would. */
  async kill(): Promise<void> {
    await killAll(this.#listProcesses());
  }

  /** Stops every process of the node without ending it. Returns a function that lets them continue. */
  freeze(): () => void {
    const pids = this.#listProcesses();
    signalAll(pids, 'SIGSTOP');
    return () => signalAll(pids, 'SIGCONT');
  }

  /** Moves the data of Postgres out of the way. Returns its new place. */
  async setDataAside(label: string): Promise<string> {
    const { directory } = this.#options;
    const aside = join(directory, `data.${label}`);
    await rename(join(directory, 'data'), aside);
    return aside;
  }

  async #end(children: readonly (ChildProcess | null)[], others: readonly number[]): Promise<void> {
    const pids = children.flatMap((child) => (isAlive(child) ? [child?.pid as number] : []));
    const all = [...new Set([...pids.flatMap(listTree), ...others])];
    signalAll(pids, 'SIGTERM');
    await eventually(() => !all.some(isRunning), { timeoutMs: STOP_LIMIT_MS }).catch(() => killAll(all));
  }

  #listProcesses(): number[] {
    const own = [this.#patroni, this.#etcd].flatMap((child) =>
      isAlive(child) ? [child?.pid as number] : [],
    );
    return [...new Set([...own.flatMap(listTree), ...this.#findPostgres()])];
  }

  /** The server, which is no child of Patroni, and its processes. */
  #findPostgres(): number[] {
    try {
      const file = readFileSync(join(this.#options.directory, 'data/postmaster.pid'), 'utf8');
      const pid = Number.parseInt(file, 10);
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return command.includes(this.#inside('data')) ? listTree(pid) : [];
    } catch {
      return [];
    }
  }

  #values(): Record<string, string> {
    const { ports, shared, name } = this.#options;
    return {
      ...shared,
      NODE_NAME: name,
      PATRONI_ADDRESS: `127.0.0.1:${ports.patroni}`,
      POSTGRES_ADDRESS: `127.0.0.1:${ports.postgres}`,
      ETCD_PEER_URL: `https://127.0.0.1:${ports.etcdPeer}`,
      ETCD_CLIENT_URL: `https://127.0.0.1:${ports.etcdClient}`,
      ETCD_DATA_DIRECTORY: this.#inside('etcd'),
      DATA_DIRECTORY: this.#inside('data'),
      RUN_DIRECTORY: this.#inside('run'),
    };
  }

  #inside(name: string): string {
    const { programs, directory } = this.#options;
    return programs.inside(join(directory, name));
  }
}

function isAlive(child: ChildProcess | null): boolean {
  return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
}
