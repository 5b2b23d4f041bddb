import {
  type Caller,
  createServiceTokens,
  type DatabaseService,
  ensureKeyFiles,
  type KeyFiles,
} from '@phds/service-kit/keys/key-files';
import type { ServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import type { ServiceTokenSource } from '@phds/service-kit/trust/callers';
import {
  clearDataDirectory,
  type DataDirectory,
  ensureDataDirectory,
  lockDataDirectory,
  prepareLogFile,
  removeStackFile,
  toDataDirectory,
  writeStackFile,
} from './data-directory.ts';
import { prepareDatabases, startPostgres } from './databases.ts';
import { type ManagedProcess, openLogWriter } from './managed-process.ts';
import { findRandomPorts, requireFreePorts, type StackPorts, toNamedPorts } from './ports.ts';
import { seedUntil } from './seed.ts';
import { stopLeftover } from './servers/embedded-postgres.ts';
import { guardServers } from './servers/guard.ts';
import { identifySelf } from './servers/process-identity.ts';
import { type RedisControl, startRedisControl } from './servers/redis-server.ts';
import { toAddresses } from './service-environments.ts';
import {
  createStackProcesses,
  type EnvironmentOverrides,
  listProcesses,
  startProcesses,
  stopProcesses,
} from './stack-processes.ts';

/** Runs one step of the start and reports its duration. */
type RunStep = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Creates steps that print one line each with their duration. No step begins once `signal` is aborted. */
function createSteps(say: (line: string) => void, signal: AbortSignal | undefined): RunStep {
  return async (name, work) => {
    signal?.throwIfAborted();
    const started = performance.now();
    // A running step is not aborted, because its result may have to be stopped later.
    const result = await work();
    say(`  ${name.padEnd(44)} ${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s`);
    return result;
  };
}

export interface StackOptions {
  readonly dataDirectory: string;
  readonly ports: StackPorts | { readonly random: true; readonly gateways: number };
  /** Removes the data of earlier runs first. */
  readonly fresh?: boolean;
  /** Whether to use Redis. Default true. */
  readonly redis?: boolean;
  /** URL of a running Redis. */
  readonly redisUrl?: string | undefined;
  /** Whether to create the synthetic users. Default true. */
  readonly seed?: boolean;
  /** End of the synthetic users' data. Default: now. */
  readonly seedUntil?: Date | undefined;
  readonly environment?: EnvironmentOverrides;
  /** Whether the deployment is a sandbox. Default false. */
  readonly sandbox?: boolean;
  /** Postgres settings, such as `THROWAWAY_SETTINGS` for tests. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** Receives progress and notices, line by line. Default: none. */
  readonly say?: (line: string) => void;
  /** Aborts the start; whatever was started is stopped again. */
  readonly signal?: AbortSignal;
}

/** The whole service, running on this machine. Disposal stops it in order and keeps its data. */
export interface Stack extends AsyncDisposable {
  /** Base URLs of the gateways; the first is the public one. */
  readonly gatewayUrls: readonly string[];
  readonly identityProviderUrl: string;
  /** `identity-provider`, `authorization`, `consent`, `health-data`, `gateway-1`, … */
  readonly processes: ReadonlyMap<string, ManagedProcess>;
  /** Superuser of the database server. */
  readonly adminDatabaseUrl: string;
  /** Connection strings of the runtime role and the schema owner, by service. */
  readonly databases: Readonly<Record<DatabaseService, ServiceDatabase>>;
  readonly redis: RedisControl;
  readonly keys: KeyFiles;
  /** `host:port` of each service's rpc. */
  readonly rpcAddresses: Readonly<Record<DatabaseService, string>>;
  /** Base URL of each service's Connect port. */
  readonly connectUrls: Readonly<Record<DatabaseService, string>>;
  /** Base URL of each service's /livez, /readyz and /metrics. */
  readonly probeUrls: Readonly<Record<DatabaseService, string>>;
  /** The same of each gateway. */
  readonly gatewayProbeUrls: readonly string[];
  readonly logs: string;
  /** Issues service tokens in the name of a caller, for calls to the internal rpcs. */
  serviceTokens(caller: Caller): Promise<ServiceTokenSource>;
}

/**
 * Starts everything on a data directory. Throws, with a message for the terminal, when a port or the directory is in use or a
 * process does not start; in that case nothing is left running.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { signal, say = () => undefined } = options;
  const step = createSteps(say, signal);
  const directory = toDataDirectory(options.dataDirectory);
  await using cleanup = new AsyncDisposableStack();

  cleanup.use(await lockDataDirectory(directory.root));
  await stopLeftover(directory.postgres);
  // Before anything is removed: a start that cannot succeed leaves the data.
  const ports = await choosePorts(options);
  if (options.fresh) await step('removed the data of earlier runs', () => clearDataDirectory(directory));
  await ensureDataDirectory(directory);
  const keys = await step('keys', () => ensureKeyFiles(directory.keys));

  const { adminUrl, redis } = await step(nameServers(ports, options), () =>
    startServers(cleanup, directory, keys, ports, options),
  );
  const databases = await step('roles, schemas and migrations', () => prepareDatabases(adminUrl, keys));

  const context = { ports, keys, redisUrl: redis.url, sandbox: options.sandbox ?? false };
  const overrides = options.environment ?? {};
  const processes = await createStackProcesses({ context, directory, overrides, notice: say });
  cleanup.defer(() => stopProcesses(processes));
  await step('services, gateways and identity provider', () => startProcesses(processes, signal));

  const stack = {
    processes: new Map(listProcesses(processes).map((each) => [each.name, each])),
    adminDatabaseUrl: adminUrl,
    databases,
    redis,
    keys,
    ...toAddresses(ports),
    logs: directory.logs,
    serviceTokens: createServiceTokens(keys),
  };
  if (options.seed !== false) {
    const tokens = await stack.serviceTokens('importer');
    await step('synthetic users', () =>
      seedUntil(directory.seedFile, stack.rpcAddresses['health-data'], tokens, options.seedUntil),
    );
  }
  cleanup.defer(() => removeStackFile(directory.root));
  const { rpcAddresses, publicUrl: gatewayUrl } = stack;
  const description = { process: identifySelf(), gatewayUrl, rpcAddresses, keys: directory.keys };
  await writeStackFile(directory.root, description);
  const running = cleanup.move();
  return { ...stack, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function choosePorts({ ports, redis, redisUrl }: StackOptions): Promise<StackPorts> {
  if ('random' in ports) return findRandomPorts(ports.gateways);
  const isUsed = ({ port }: { port: number }) => port !== ports.redis || !(redis === false || redisUrl);
  await requireFreePorts(toNamedPorts(ports).filter(isUsed));
  return ports;
}

function nameServers(ports: StackPorts, { redis, redisUrl }: StackOptions): string {
  const postgres = `Postgres on ${ports.postgres}`;
  if (redis === false || redisUrl) return postgres;
  return `${postgres}, Redis on ${ports.redis}`;
}

/** Starts Redis and Postgres, which end with `cleanup`. */
async function startServers(
  cleanup: AsyncDisposableStack,
  directory: DataDirectory,
  keys: KeyFiles,
  ports: StackPorts,
  options: StackOptions,
): Promise<{ readonly adminUrl: string; readonly redis: RedisControl }> {
  const log = cleanup.use(openLogWriter(await prepareLogFile(directory, 'postgres')));
  const wanted = options.redis ?? true;
  // Notices are never dropped, because one announces the installation of a system package.
  const notice = options.say ?? console.warn;
  const redis = await startRedisControl({ wanted, givenUrl: options.redisUrl, port: ports.redis, notice });
  cleanup.use(redis);
  const redisPort = redis.owned ? ports.redis : null;
  cleanup.defer(guardServers({ postgresDirectory: directory.postgres, redisPort }));
  const postgres = await startPostgres({
    directory,
    keys,
    port: ports.postgres,
    settings: options.postgresSettings,
    onLog: log.write,
  });
  return { adminUrl: cleanup.use(postgres).adminUrl, redis };
}
