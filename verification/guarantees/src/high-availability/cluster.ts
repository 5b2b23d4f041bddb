import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { toDatabaseUrl } from '@phds/service-kit/postgres/postgres-names';
import { eventually } from '@phds/test-kit/conditions';
import pg from 'pg';
import { isRunning, killAll, listTree, readPostgresPid, signalAll } from '../processes.ts';
import type { Programs } from './programs.ts';

interface NodePorts {
  readonly postgres: number;
  readonly patroni: number;
  readonly etcdClient: number;
  readonly etcdPeer: number;
}

interface NodeOptions {
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
class DatabaseNode {
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
      const pid = readPostgresPid(join(this.#options.directory, 'data'));
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

const DAYS = '2';

/**
 * Makes an authority and one certificate for this machine, valid as server and client, in a new directory: `ca.crt`, `node.crt`,
 * `node.key`. Returns the directory.
 */
async function makeCertificates(programs: Programs, parent: string): Promise<string> {
  const directory = await programs.makeDirectory(join(parent, 'tls'));
  const at = (name: string) => programs.inside(join(directory, name));
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', DAYS];
  const openssl = (...args: string[]) => programs.run('openssl', args);
  await openssl(
    ...['req', '-x509', ...key, '-subj', '/CN=phds databases', '-keyout', at('ca.key'), '-out', at('ca.crt')],
    // Without it, Patroni on Python 3.13 trusts no certificate of the authority.
    ...['-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
  );
  await openssl(
    ...['req', '-x509', ...key, '-subj', '/CN=node', '-CA', at('ca.crt'), '-CAkey', at('ca.key')],
    ...[
      '-addext',
      'subjectAltName=IP:127.0.0.1,DNS:localhost',
      '-addext',
      'basicConstraints=critical,CA:FALSE',
    ],
    ...[
      '-addext',
      'extendedKeyUsage=serverAuth,clientAuth',
      '-keyout',
      at('node.key'),
      '-out',
      at('node.crt'),
    ],
  );
  return directory;
}

/** A file of deploy/postgres, as a deployment takes it. */
export function readDeployed(name: string): Promise<string> {
  return readFile(join(repositoryRoot, 'deploy/postgres', name), 'utf8');
}

/** Replaces each `${NAME}`. Throws if one has no value. */
export function fillIn(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\$\{([A-Z0-9_]+)\}/g, (_placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for ${name}`);
    return value;
  });
}

/** The variables of an environment file; comments are left out. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => /^[A-Z]/.test(line));
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

/** A node as Patroni sees it. */
interface Member {
  readonly name: string;
  /** `leader`, `quorum_standby` (may be promoted), `replica`, … */
  readonly role: string;
  /** `running` (of a leader), `streaming`, `stopped`, … */
  readonly state: string;
  readonly timeline?: number;
  /** Bytes of WAL that a standby lacks. */
  readonly lag?: number | 'unknown';
}

const LIMIT_MS = 3_000;

/** The members of the cluster, as the Patroni on this port knows them. Rejects if it does not answer. */
async function readCluster(port: number, ca: string): Promise<readonly Member[]> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const asked = request({ host: '127.0.0.1', port, path: '/cluster', ca, signal }).end();
  // Also after the answer has begun.
  asked.on('error', () => undefined);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`Patroni answered ${answer.statusCode}`);
  const { members } = (await json(answer)) as { readonly members: readonly Member[] };
  return members;
}

const NODES = ['node1', 'node2', 'node3'] as const;
const WAIT = { timeoutMs: 180_000, intervalMs: 200 } as const;

interface Parts {
  readonly programs: Programs;
  readonly nodes: readonly DatabaseNode[];
  readonly ca: string;
  readonly adminUrl: string;
  readonly replicasPort: number;
}

/** Three nodes on this machine and haproxy in front of them, with the files of deploy/postgres. */
export class Cluster {
  readonly nodes: readonly DatabaseNode[];
  /** Superuser, by way of haproxy: always on the present leader. */
  readonly adminUrl: string;
  /** The port of haproxy that leads to the standbys. */
  readonly replicasPort: number;
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.nodes = parts.nodes;
    this.adminUrl = parts.adminUrl;
    this.replicasPort = parts.replicasPort;
  }

  /** How the whole service starts on this cluster: with the deadlines of a deployment. */
  get services() {
    // A gateway without Redis knows nothing of a revocation until the database answers.
    return { databaseUrl: this.adminUrl, gateways: 2, redis: false, patient: false } as const;
  }

  /** Creates a cluster with a leader and two standbys, and an empty repository of backups. `resources` gets everything to stop. */
  static async start(programs: Programs, resources: AsyncDisposableStack): Promise<Cluster> {
    const directory = await programs.makeTemporaryDirectory();
    resources.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
    const tls = await makeCertificates(programs, directory);
    const { nodes, password } = await describeNodes(programs, directory, tls);
    // Their data is removed, so nothing needs to be stopped in order.
    resources.defer(async () => void (await Promise.all(nodes.map((node) => node.kill()))));
    const { primary, replicas } = await startHaproxy({ programs, directory, tls, nodes }, resources);
    const caFile = join(tls, 'ca.crt');
    const certificates = `sslrootcert=${caFile}&sslcert=${join(tls, 'node.crt')}&sslkey=${join(tls, 'node.key')}`;
    const cluster = new Cluster({
      programs,
      nodes,
      ca: await readFile(caFile, 'utf8'),
      adminUrl: `postgresql://postgres:${password}@127.0.0.1:${primary}/postgres?sslmode=verify-full&${certificates}`,
      replicasPort: replicas,
    });
    for (const node of nodes) await node.prepare();
    try {
      await cluster.create();
    } catch (error) {
      const logs = await Promise.all(nodes.map(({ log }) => readFile(log, 'utf8').catch(() => '')));
      throw new Error(`The cluster does not start.\n${logs.map(endOf).join('\n')}`, { cause: error });
    }
    return cluster;
  }

  /** Starts Patroni, first on one node, which creates the databases or takes them from a backup. */
  async create(): Promise<void> {
    const [first, ...others] = this.nodes as [DatabaseNode, ...DatabaseNode[]];
    first.startPatroni();
    await eventually(async () => (await this.findLeader()) !== null, WAIT);
    await this.untilReachable();
    // Does nothing if the repository has the cluster's backups already.
    await this.pgbackrest(first, 'stanza-create');
    for (const node of others) node.startPatroni();
    await this.untilComplete();
  }

  /** The leader that runs; null while there is none. */
  async findLeader(): Promise<DatabaseNode | null> {
    const leader = (await this.members()).find(({ role, state }) => role === 'leader' && state === 'running');
    return this.nodes.find(({ name }) => name === leader?.name) ?? null;
  }

  /** Waits for a leader, and for one other than the given node. */
  leader(former?: DatabaseNode): Promise<DatabaseNode> {
    return eventually(async () => {
      const leader = await this.findLeader();
      return leader === null || leader === former ? false : leader;
    }, WAIT);
  }

  /** The nodes that follow the leader. */
  async standbys(): Promise<readonly DatabaseNode[]> {
    const leader = await this.leader();
    return this.nodes.filter((node) => node !== leader);
  }

  /** The members as the first Patroni that answers knows them; empty if none does. */
  async members(): Promise<readonly Member[]> {
    const asked = this.nodes.map((node) => readCluster(node.ports.patroni, this.#parts.ca));
    return Promise.any(asked).catch(() => []);
  }

  /** Waits until every node but the leader is a standby that follows it and may be promoted. */
  async untilComplete(standbyRole = 'quorum_standby'): Promise<void> {
    await eventually(async () => {
      const members = await this.members();
      const standbys = members.filter(({ role, state }) => role === standbyRole && state === 'streaming');
      return standbys.length === this.nodes.length - 1 && (await this.findLeader()) !== null;
    }, WAIT);
  }

  /** Waits until Patroni no longer counts on this node. */
  async untilLost(name: string): Promise<void> {
    await eventually(async () => {
      const members = await this.members();
      const isStreaming = members.some((member) => member.name === name && member.state === 'streaming');
      return members.length > 0 && !isStreaming;
    }, WAIT);
  }

  /** Waits until haproxy leads to a server that accepts writes. */
  async untilReachable(): Promise<void> {
    await eventually(() => this.query('SELECT pg_current_wal_lsn()'), WAIT);
  }

  /** Runs a statement as superuser on the leader. */
  async query(text: string, database = 'postgres'): Promise<pg.QueryResult> {
    const connectionString = toDatabaseUrl(this.adminUrl, { database });
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000, query_timeout: 30_000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      // Not awaited: it never resolves if the connection was lost.
      void client.end();
    }
  }

  /** Removes what etcd knows of the cluster, after all nodes were stopped. */
  async forget(leader: DatabaseNode): Promise<void> {
    // It asks for the name of the cluster, a confirmation, and the leader if there still is one.
    const answers = ['phds', 'Yes I am aware', leader.name, ''].join('\n');
    await this.patronictl(leader, ['remove', 'phds'], answers);
  }

  /** Runs patronictl on a node that runs. */
  patronictl(node: DatabaseNode, words: readonly string[], input = ''): Promise<string> {
    return this.#parts.programs.run('patronictl', ['-c', node.configuration, ...words], { input });
  }

  /** Runs pgBackRest on a node. */
  pgbackrest(node: DatabaseNode, ...words: string[]): Promise<string> {
    return this.#parts.programs.run('pgbackrest', ['--stanza=phds', ...words], {
      env: node.backupEnvironment,
    });
  }
}

async function describeNodes(programs: Programs, directory: string, tls: string) {
  const ports = await Promise.all(
    NODES.map(async () => ({
      postgres: await leasePort(),
      patroni: await leasePort(),
      etcdClient: await leasePort(),
      etcdPeer: await leasePort(),
    })),
  );
  const password = randomBytes(18).toString('hex');
  const shared = {
    TLS_DIRECTORY: programs.inside(tls),
    BIN_DIRECTORY: programs.postgresBin,
    ETCD_ADDRESSES: ports.map(({ etcdClient }) => `127.0.0.1:${etcdClient}`).join(','),
    ETCD_CLUSTER: ports
      .map(({ etcdPeer }, index) => `${NODES[index]}=https://127.0.0.1:${etcdPeer}`)
      .join(','),
    SUPERUSER_PASSWORD: password,
    REPLICATION_PASSWORD: randomBytes(18).toString('hex'),
  };
  const backup = await prepareRepository(programs, directory);
  const nodes = await Promise.all(
    NODES.map(async (name, index) => {
      const own = await programs.makeDirectory(join(directory, name));
      return new DatabaseNode({
        programs,
        name,
        directory: own,
        ports: ports[index] as (typeof ports)[number],
        shared,
        backup,
      });
    }),
  );
  return { nodes, password };
}

/** Makes an empty repository of backups. Returns the environment of pgBackRest that all nodes share. */
async function prepareRepository(programs: Programs, directory: string): Promise<Record<string, string>> {
  const repository = await programs.makeDirectory(join(directory, 'repository'));
  const configuration = join(directory, 'pgbackrest.conf');
  await programs.write(configuration, await readDeployed('pgbackrest.conf'));
  return {
    PGBACKREST_CONFIG: programs.inside(configuration),
    PGBACKREST_REPO1_PATH: programs.inside(repository),
    PGBACKREST_REPO1_CIPHER_PASS: randomBytes(24).toString('base64'),
  };
}

/** Starts haproxy, which waits for a leader. Returns the ports that lead to it and to the standbys. */
async function startHaproxy(
  parts: Pick<Parts, 'programs' | 'nodes'> & { readonly directory: string; readonly tls: string },
  resources: AsyncDisposableStack,
): Promise<{ readonly primary: number; readonly replicas: number }> {
  const { programs, directory, nodes, tls } = parts;
  const [primary, replicas] = [await leasePort(), await leasePort()];
  const configuration = join(directory, 'haproxy.cfg');
  await programs.write(configuration, await readDeployed('haproxy.cfg'));
  const addresses = nodes.flatMap(({ ports }, index) => [
    [`NODE${index + 1}_POSTGRES`, `127.0.0.1:${ports.postgres}`],
    [`NODE${index + 1}_PATRONI_PORT`, String(ports.patroni)],
  ]);
  const env = {
    ...Object.fromEntries(addresses),
    TLS_DIRECTORY: programs.inside(tls),
    PRIMARY_ADDRESS: `127.0.0.1:${primary}`,
    REPLICAS_ADDRESS: `127.0.0.1:${replicas}`,
  };
  const log = join(directory, 'haproxy.log');
  const haproxy = programs.spawn('haproxy', ['-f', programs.inside(configuration)], { env, log });
  resources.defer(async () => {
    if (haproxy.pid !== undefined) await killAll([haproxy.pid]);
  });
  return { primary, replicas };
}

/** The last lines of a node's log, without those of etcd. */
function endOf(log: string): string {
  const lines = log.split('\n').filter((line) => line !== '' && !line.startsWith('{"level"'));
  return lines.slice(-30).join('\n');
}
