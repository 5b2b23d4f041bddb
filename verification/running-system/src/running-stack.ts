import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ManagedProcess } from '@phds/local-stack/managed-process';
import type { StackPorts } from '@phds/local-stack/ports';
import { THROWAWAY_SETTINGS } from '@phds/local-stack/servers/embedded-postgres';
import { type Stack, type StackOptions, startStack } from '@phds/local-stack/stack';
import {
  createServiceProcess,
  type EnvironmentOverrides,
  type ServiceName,
} from '@phds/local-stack/stack-processes';
import { findCitusNodes } from '@phds/test-kit/citus';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';
import { copyPreparedData } from './prepared-data.ts';

/** Options of a test's stack. Defaults: one gateway, its own Redis, no synthetic users. */
type RunningStackOptions = Pick<
  StackOptions,
  'redis' | 'redisUrl' | 'seed' | 'sandbox' | 'postgresSettings' | 'say' | 'signal'
> & {
  readonly gateways?: number;
  /** Default: free ports for so many gateways. */
  readonly ports?: StackPorts;
  /** Settings of the services, or how they are made in the data directory before anything starts. */
  readonly environment?: Environment | ((dataDirectory: string) => Promise<Environment>);
  /** Whether the deadlines are longer than in a deployment. Default true. */
  readonly patient?: boolean;
};

/** The whole service for one test file. */
export interface RunningStack extends Stack {
  /** Base URL of the first gateway: the public one, and the issuer. */
  readonly gateway: string;
}

type Environment = EnvironmentOverrides;

const DAY_MS = 86_400_000;

// Five times the default deadlines: on a machine that runs other tests, a millisecond's work may take a second.
const PATIENT: Required<Environment> = {
  gateway: {
    REDIS_COMMAND_TIMEOUT_MS: '10000',
  },
  authorization: {},
  consent: { ACCESS_QUEUE_WAIT_MS: '4500' },
  'health-data': {},
};

/** Also a third less memory of each process, of which a test run has a dozen. */
const EVERYWHERE = { DEADLINE_FACTOR: '5', NODE_OPTIONS: '--max-semi-space-size=2' };

/** Adds longer deadlines, and a small heap, to the given settings. */
export function withPatience(given: Environment = {}): Environment {
  return {
    ...given,
    gateway: { ...EVERYWHERE, ...PATIENT.gateway, ...given.gateway },
    authorization: { ...EVERYWHERE, ...PATIENT.authorization, ...given.authorization },
    consent: { ...EVERYWHERE, ...PATIENT.consent, ...given.consent },
    'health-data': { ...EVERYWHERE, ...PATIENT['health-data'], ...given['health-data'] },
  };
}

/**
 * The latest noon (UTC), at which the synthetic data ends. With a fixed hour, data does not depend on the time of the test: for
 * example, the report of the previous day is always complete.
 */
function latestNoon(): Date {
  const now = Date.now();
  return new Date(now - ((now - DAY_MS / 2) % DAY_MS));
}

/**
 * Starts the whole service on free ports with a temporary data directory. Postgres does not wait for the disk: a killed server
 * process loses nothing by that, only a killed machine would.
 */
export async function startRunningStack(options: RunningStackOptions = {}): Promise<RunningStack> {
  const { gateways = 1, seed = false, patient = true, environment: settings, ...rest } = options;
  await using cleanup = new AsyncDisposableStack();
  const dataDirectory = await mkdtemp(join(tmpdir(), 'phds-e2e-'));
  cleanup.defer(() => rm(dataDirectory, { recursive: true, force: true, maxRetries: 3 }));
  await copyPreparedData(dataDirectory);
  const given = typeof settings === 'function' ? await settings(dataDirectory) : settings;
  const cluster = findCitusNodes() === null ? null : cleanup.use(await createTestDatabase('health-data'));
  const environment = cluster === null ? given : await onCluster(cluster, dataDirectory, given);
  const stack = await startStack({
    postgresSettings: THROWAWAY_SETTINGS,
    ports: { random: true, gateways },
    ...rest,
    dataDirectory,
    seed,
    seedUntil: latestNoon(),
    environment: patient ? withPatience(environment) : (environment ?? {}),
  });
  cleanup.use(stack);
  const running = cleanup.move();
  const own = stack.databases;
  return {
    ...stack,
    databases: cluster === null ? own : { ...own, 'health-data': { ...own['health-data'], ...cluster } },
    gateway: stack.gatewayUrls[0] as string,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Settings with which health-data uses a database of a cluster, and the other services theirs. */
async function onCluster(
  { url }: TestDatabase,
  directory: string,
  given: Environment = {},
): Promise<Environment> {
  const file = join(directory, 'cluster-database-url');
  await writeFile(file, url, { mode: 0o600 });
  const own = { DATABASE_URL_FILE: file, DATABASE_DISTRIBUTED: 'true' };
  return { ...given, 'health-data': { ...given['health-data'], ...own } };
}

/** The process of a stack with this name. Throws when there is none. */
export function processOf({ processes }: Pick<Stack, 'processes'>, name: string): ManagedProcess {
  const found = processes.get(name);
  if (found === undefined) throw new Error(`the stack has no process ${name}`);
  return found;
}

/** Stops a process of a stack and starts it again. */
export async function restartProcess(stack: Pick<Stack, 'processes'>, name: string): Promise<void> {
  const one = processOf(stack, name);
  await one.stop();
  await one.start();
}

/**
 * A process of a service beside those of a stack, or in the place of one: with other ports, another host or settings, or from another
 * checkout. It is not started, and does not end with the stack.
 */
export function createFurtherProcess(
  { keys, redis, logs }: Pick<Stack, 'keys' | 'redis' | 'logs'>,
  service: ServiceName,
  options: {
    readonly name: string;
    readonly ports: StackPorts;
    readonly environment?: EnvironmentOverrides[ServiceName];
    readonly checkout?: string;
    readonly notice?: (line: string) => void;
  },
): ManagedProcess {
  const { name, ports, notice = () => undefined, ...others } = options;
  const context = { ports, keys, redisUrl: redis.url };
  return createServiceProcess(service, {
    ...others,
    context,
    name,
    logFile: join(logs, `${name}.log`),
    notice,
  });
}
