import type { ManagedProcess } from '@phds/local-stack/managed-process';
import { findRandomPorts, type StackPorts } from '@phds/local-stack/ports';
import type { ServiceName } from '@phds/local-stack/stack-processes';
import { DATABASE_SERVICES, type DatabaseService } from '@phds/service-kit/keys/key-files';
import { type NameServer, startNameServer } from '@phds/test-kit/name-server';
import {
  createFurtherProcess,
  processOf,
  type RunningStack,
  startRunningStack,
  withPatience,
} from './running-stack.ts';

export interface Replica {
  readonly service: ServiceName;
  readonly process: ManagedProcess;
  /** Stops the replica, starts it again and waits until it is ready. */
  restart(): Promise<void>;
}

/** The whole service with two replicas of each service. */
export interface ReplicatedStack extends AsyncDisposable {
  readonly stack: RunningStack;
  readonly replicas: readonly Replica[];
}

const FIRST = '127.0.0.1';
const SECOND = '127.0.0.2';
/** A process ends 10 s after the end of its delay at the latest; the rest is a margin for a busy machine. */
const STOP_LIMIT_MS = 12_000;

/**
 * Starts it, on Linux only: the second replicas listen on the same ports of 127.0.0.2. Callers find the replicas by a name, as in a cluster
 * with headless services: a replica leaves the name when it is stopped, and joins it when it is ready.
 */
export async function startReplicatedStack(options: {
  readonly shutdownDelayMs: number;
}): Promise<ReplicatedStack> {
  await using cleanup = new AsyncDisposableStack();
  const names = cleanup.use(await startNameServer());
  for (const name of DATABASE_SERVICES) names.set(name, [FIRST, SECOND]);
  const ports = await findRandomPorts(2);
  const environment = withPatience(toOverrides(names, ports, options.shutdownDelayMs));
  const stack = cleanup.use(await startRunningStack({ ports, environment }));
  const graceMs = options.shutdownDelayMs + STOP_LIMIT_MS;
  const replicas = DATABASE_SERVICES.flatMap((service) => {
    const own = { ...environment[service], HOST: SECOND };
    const second = createFurtherProcess(stack, service, { name: `${service}-2`, ports, environment: own });
    const toReplica = (process: ManagedProcess, other: string): Replica => ({
      service,
      process,
      restart: async () => {
        names.set(service, [other]);
        await restart(process, graceMs);
        names.set(service, [FIRST, SECOND]);
      },
    });
    return [toReplica(processOf(stack, service), SECOND), toReplica(second, FIRST)];
  });
  const gateways = stack.gatewayUrls.map((_url, index): Replica => {
    const process = processOf(stack, `gateway-${index + 1}`);
    return { service: 'gateway', process, restart: () => restart(process, graceMs) };
  });
  const all = [...replicas, ...gateways];
  // They have nothing to lose any more, so none waits for its delay.
  cleanup.defer(async () => void (await Promise.all(all.map(({ process }) => process.kill()))));
  await Promise.all(all.map(({ process }) => process.start()));
  const running = cleanup.move();
  return { stack, replicas: all, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function toOverrides(names: NameServer, ports: StackPorts, shutdownDelayMs: number) {
  const at = (service: DatabaseService) => names.toAddress(service, ports.rpc[service]);
  const common = {
    SHUTDOWN_DELAY_MS: String(shutdownDelayMs),
    // gRPC asks the name server of an address only with this variable.
    GRPC_NODE_USE_ALTERNATIVE_RESOLVER: 'true',
  };
  return {
    consent: common,
    authorization: { ...common, CONSENT_ADDRESS: at('consent') },
    'health-data': { ...common, CONSENT_ADDRESS: at('consent') },
    gateway: {
      ...common,
      AUTHORIZATION_ADDRESS: at('authorization'),
      CONSENT_ADDRESS: at('consent'),
      HEALTH_DATA_ADDRESS: at('health-data'),
    },
  };
}

async function restart(process: ManagedProcess, graceMs: number): Promise<void> {
  await process.stop(graceMs);
  await process.start();
}
