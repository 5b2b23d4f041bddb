import { prepareLogFile, toDataDirectory } from '@phds/dev-stack/data-directory';
import { ManagedProcess } from '@phds/dev-stack/managed-process';
import { findRandomPorts, type StackPorts } from '@phds/dev-stack/ports';
import {
  type Environment,
  type EnvironmentContext,
  toAuthorizationEnvironment,
  toConsentEnvironment,
  toGatewayEnvironment,
  toHealthDataEnvironment,
} from '@phds/dev-stack/service-environments';
import type { Stack } from '@phds/dev-stack/stack';

/** A number of replicas of every service, on the databases and the Redis of a stack. */
export interface Replicas extends AsyncDisposable {
  /** `host:port` of each gateway. */
  readonly gateways: readonly string[];
  /** Process ids by name: `gateway-1`, `gateway-2`, `consent-1`, … */
  readonly processes: ReadonlyMap<string, number>;
}

interface Settings {
  readonly stack: Stack;
  readonly dataDirectory: string;
  readonly count: number;
}

/** Starts the replicas. Callers know all replicas of a service by their addresses and spread their calls over them. */
export async function startReplicas(settings: Settings): Promise<Replicas> {
  const { stack, count } = settings;
  const identityProvider = Number(new URL(stack.identityProviderUrl).port);
  const ports: StackPorts[] = [];
  for (let n = 0; n < count; n += 1) ports.push({ ...(await findRandomPorts(1)), identityProvider });
  const addresses = toAddresses(ports);
  const started = (
    await Promise.all(ports.map((own, index) => describe(settings, own, addresses, index + 1)))
  ).flat();
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(async () => void (await Promise.all(started.map((each) => each.stop()))));
  await Promise.all(started.map((each) => each.start()));
  const running = cleanup.move();
  return {
    gateways: ports.map(({ gateways: [port] }) => `127.0.0.1:${port}`),
    processes: new Map(started.map(({ name, pid }) => [name, pid ?? 0])),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The settings that name other services: all of their replicas. */
function toAddresses(ports: readonly StackPorts[]): Environment {
  const all = (of: (ports: StackPorts) => number) =>
    `ipv4:${ports.map((own) => `127.0.0.1:${of(own)}`).join(',')}`;
  return {
    AUTHORIZATION_ADDRESS: all(({ authorizationRpc }) => authorizationRpc),
    CONSENT_ADDRESS: all(({ consentRpc }) => consentRpc),
    HEALTH_DATA_ADDRESS: all(({ healthDataRpc }) => healthDataRpc),
  };
}

/** The processes of one replica of every service. */
async function describe(
  { stack, dataDirectory, count }: Settings,
  ports: StackPorts,
  addresses: Environment,
  number: number,
): Promise<ManagedProcess[]> {
  const context: EnvironmentContext = { ports, keys: stack.keys, redisUrl: stack.redis.url };
  const [publicUrl = ''] = stack.gatewayUrls;
  // The issuer of tokens and the public address are those of the deployment.
  const shared = { ...addresses, ISSUER: publicUrl, PUBLIC_URL: publicUrl, TRUST_PROXY: '1' };
  const create = async (name: string, env: Environment, readyPort: number) =>
    new ManagedProcess({
      name: `${name}-${number}`,
      program: `services/${name}/src/main.ts`,
      env: { ...env, ...shared },
      readyUrl: `http://127.0.0.1:${readyPort}/readyz`,
      notice: console.warn,
      logFile: await prepareLogFile(toDataDirectory(dataDirectory), `${name}-${number}-of-${count}`),
    });
  return Promise.all([
    create('consent', toConsentEnvironment(context), ports.consentProbe),
    create('authorization', toAuthorizationEnvironment(context), ports.authorizationProbe),
    create('health-data', toHealthDataEnvironment(context), ports.healthDataProbe),
    create('gateway', toGatewayEnvironment(context, 0), ports.gateways[0] ?? 0),
  ]);
}
