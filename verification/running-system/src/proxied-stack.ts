import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { toDataDirectory } from '@phds/local-stack/data-directory';
import type { ManagedProcess } from '@phds/local-stack/managed-process';
import { findRandomPorts, type StackPorts } from '@phds/local-stack/ports';
import { toAddresses } from '@phds/local-stack/service-environments';
import type { EnvironmentOverrides, ServiceName } from '@phds/local-stack/stack-processes';
import {
  DATABASE_SERVICES,
  type DatabaseService,
  ensureKeyFiles,
  readDatabasePassword,
} from '@phds/service-kit/keys/key-files';
import { toDatabaseUrl, toRuntimeRole } from '@phds/service-kit/postgres/postgres-names';
import {
  createPublishedMessageFault,
  type PublishedMessageFault,
} from '@phds/test-kit/published-message-fault';
import { startTcpProxy, type TcpProxy } from '@phds/test-kit/tcp-proxy';
import { DEFAULT_LIMITS } from '../../../services/gateway/src/limits/limit-table.ts';
import { crashDatabase, stopReplacements } from './outages.ts';
import { createFurtherProcess, type RunningStack, startRunningStack } from './running-stack.ts';

/** A service of which there can be two replicas. */
export type Doubled = 'authorization' | 'consent';

interface SecondReplica {
  readonly process: ManagedProcess;
  readonly probeUrl: string;
}

/** The call edges; each has a proxy, shared by all gateways. */
export const EDGES = [
  'gateway→authorization',
  'gateway→consent',
  'gateway→health-data',
  'authorization→consent',
  'health-data→consent',
  'authorization→postgres',
  'consent→postgres',
  'health-data→postgres',
  'gateway→redis',
  'consent→redis',
] as const;

export type Edge = (typeof EDGES)[number];

const SERVICES = ['gateway', ...DATABASE_SERVICES] as const;

/** The whole service with a fault proxy on every edge and a separate clock in every service. */
export interface ProxiedStack extends RunningStack {
  readonly proxies: Readonly<Record<Edge, TcpProxy>>;
  /** A second replica of each, which its callers know; it runs only during faults that start it. */
  readonly second: Readonly<Record<Doubled, SecondReplica>>;
  /** Faults in the messages that gateways receive from Redis. */
  readonly publishedMessages: PublishedMessageFault;
  /** Crashes the database server and returns a function that starts it again. */
  crashDatabase(): Promise<() => Promise<void>>;
  /** Shifts a service's clock by milliseconds; all gateways together count as one. */
  skewClock(service: ServiceName, milliseconds: number): Promise<void>;
}

// A killed server process loses nothing with these settings; only a killed machine would.
const POSTGRES_SETTINGS = { fsync: 'off', full_page_writes: 'off', max_wal_size: '2GB' };

/** Starts it on free ports with a temporary data directory. */
export async function startProxiedStack(options: {
  readonly gateways: number;
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** Settings in addition to those that the proxies need. */
  readonly environment?: EnvironmentOverrides;
}): Promise<ProxiedStack> {
  const { gateways, say, signal, environment: added } = options;
  await using cleanup = new AsyncDisposableStack();
  const ports = await findRandomPorts(gateways);
  const secondPorts = { ...(await findRandomPorts(1)), identityProvider: ports.identityProvider };
  const publishedMessages = createPublishedMessageFault();
  const proxies = {} as Record<Edge, TcpProxy>;
  for (const edge of EDGES) {
    const edit = edge === 'gateway→redis' ? publishedMessages.edit : undefined;
    proxies[edge] = await startTcpProxy(`tcp://127.0.0.1:${portBehind(edge, ports)}`, edit);
    cleanup.use(proxies[edge]);
  }
  let environment: EnvironmentOverrides = {};
  const stack = await startRunningStack({
    ports,
    patient: false,
    postgresSettings: POSTGRES_SETTINGS,
    say,
    ...(signal === undefined ? {} : { signal }),
    environment: async (root) => {
      environment = merge(await toEnvironment(root, proxies, secondPorts), added);
      return environment;
    },
  });
  cleanup.use(stack);
  const restarted: { stop(): Promise<void> }[] = [];
  cleanup.defer(() => stopReplacements(stack, restarted));
  const createSecond = (name: Doubled): SecondReplica => {
    const own = { name: `${name}-2`, ports: secondPorts, environment: environment[name] ?? {}, notice: say };
    const process = createFurtherProcess(stack, name, own);
    cleanup.defer(() => process.kill());
    return { process, probeUrl: toAddresses(secondPorts).probeUrls[name] };
  };
  const second = { authorization: createSecond('authorization'), consent: createSecond('consent') };
  const root = dirname(stack.logs);
  const running = cleanup.move();
  return {
    ...stack,
    proxies,
    second,
    publishedMessages,
    crashDatabase: async () => {
      const start = await crashDatabase(stack);
      return async () => void restarted.push(await start());
    },
    skewClock: (service, milliseconds) => writeFile(clockFile(root, service), String(milliseconds)),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function portBehind(edge: Edge, ports: StackPorts): number {
  const callee = edge.slice(edge.indexOf('→') + 1);
  if (callee === 'postgres') return ports.postgres;
  if (callee === 'redis') return ports.redis;
  return ports.rpc[callee as DatabaseService];
}

function clockFile(root: string, service: ServiceName): string {
  return join(root, `${service}.clock`);
}

const NO_LIMITS = {
  LIMITS: Object.keys(DEFAULT_LIMITS)
    .map((name) => `${name}=1000000000`)
    .join(','),
};

type Environments = Readonly<Record<ServiceName, Readonly<Record<string, string>>>>;

function merge(needed: Environments, added: EnvironmentOverrides = {}): Environments {
  return Object.fromEntries(
    SERVICES.map((service) => [service, { ...needed[service], ...added[service] }]),
  ) as Environments;
}

async function toEnvironment(
  root: string,
  proxies: Readonly<Record<Edge, TcpProxy>>,
  second: StackPorts,
): Promise<Environments> {
  const at = (edge: Edge) => `127.0.0.1:${proxies[edge].port}`;
  const toConsent = (edge: Edge) => ({ CONSENT_ADDRESS: `ipv4:${at(edge)},127.0.0.1:${second.rpc.consent}` });
  const redis = (edge: Edge) => ({ REDIS_URL: `redis://${at(edge)}` });
  const databases = await writeDatabaseUrls(root, proxies);
  const common = (service: ServiceName) => ({
    NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'skewed-clock.ts'))}`,
    FAULTS_CLOCK_FILE: clockFile(root, service),
  });
  return {
    gateway: {
      ...common('gateway'),
      ...redis('gateway→redis'),
      AUTHORIZATION_ADDRESS: `ipv4:${at('gateway→authorization')},127.0.0.1:${second.rpc.authorization}`,
      ...toConsent('gateway→consent'),
      HEALTH_DATA_ADDRESS: at('gateway→health-data'),
      // Refused reads are counted here and must not turn into 429s.
      ...NO_LIMITS,
    },
    authorization: {
      ...common('authorization'),
      DATABASE_URL_FILE: databases.authorization,
      ...toConsent('authorization→consent'),
    },
    consent: {
      ...common('consent'),
      ...redis('consent→redis'),
      DATABASE_URL_FILE: databases.consent,
      CHECKPOINT_INTERVAL_MS: '5000',
      MAX_LIVE_PENDING_PER_APP: '1000000',
    },
    'health-data': {
      ...common('health-data'),
      DATABASE_URL_FILE: databases['health-data'],
      ...toConsent('health-data→consent'),
    },
  };
}

/** Writes files with the services' database URLs, which point to the proxies. */
async function writeDatabaseUrls(root: string, proxies: Readonly<Record<Edge, TcpProxy>>) {
  const { keys: directory } = toDataDirectory(root);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const keys = await ensureKeyFiles(directory);
  const files = DATABASE_SERVICES.map(async (service) => {
    const password = await readDatabasePassword(keys, service, 'runtime');
    const file = join(directory, `${service}.proxied-database-url`);
    const server = `postgresql://127.0.0.1:${proxies[`${service}→postgres`].port}/`;
    const url = toDatabaseUrl(server, { database: 'phds', user: toRuntimeRole(service), password });
    await writeFile(file, `${url}\n`, { mode: 0o600 });
    return [service, file] as const;
  });
  return Object.fromEntries(await Promise.all(files)) as Record<DatabaseService, string>;
}
