import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@phds/local-stack/servers/free-port';
import { toDatabaseUrl } from '@phds/service-kit/postgres/postgres-names';
import { eventually } from '@phds/test-kit/conditions';
import pg from 'pg';
import { makeCertificates } from './certificates.ts';
import { DatabaseNode } from './database-node.ts';
import { type Member, readCluster } from './patroni-api.ts';
import { killAll } from './process-trees.ts';
import type { Programs } from './programs.ts';
import { readDeployed } from './templates.ts';

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
    const cluster = new Cluster({
      programs,
      nodes,
      ca: await readFile(caFile, 'utf8'),
      adminUrl: `postgresql://postgres:${password}@127.0.0.1:${primary}/postgres?sslmode=verify-full&sslrootcert=${caFile}`,
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
      postgres: await findFreePort(),
      patroni: await findFreePort(),
      etcdClient: await findFreePort(),
      etcdPeer: await findFreePort(),
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
  const [primary, replicas] = [await findFreePort(), await findFreePort()];
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
