import { join, relative } from 'node:path';
import type { DatabaseService } from '@phds/service-kit/keys/key-files';
import type { DataDirectory } from './data-directory.ts';
import { prepareLogFile, repositoryRoot } from './data-directory.ts';
import { ManagedProcess } from './managed-process.ts';
import type { Environment, EnvironmentContext } from './service-environments.ts';
import {
  toGatewayEnvironment,
  toIdentityProviderEnvironment,
  toServiceEnvironment,
} from './service-environments.ts';

export type ServiceName = DatabaseService | 'gateway';

/** Environment variables that a stack overrides, by service; those of `gateway` are for all gateways. */
export type EnvironmentOverrides = { readonly [service in ServiceName]?: Environment };

/** The processes of a stack. Gateways are named `gateway-1`, `gateway-2`, … */
interface StackProcesses {
  readonly identityProvider: ManagedProcess;
  readonly authorization: ManagedProcess;
  readonly consent: ManagedProcess;
  readonly healthData: ManagedProcess;
  readonly gateways: readonly ManagedProcess[];
}

interface ServiceProcessOptions {
  readonly context: EnvironmentContext;
  readonly name: string;
  /** Which gateway, from 0. */
  readonly index?: number;
  /** Settings in addition to those of the context. */
  readonly environment?: Environment | undefined;
  /** The checkout whose program runs. Default: this one. */
  readonly checkout?: string;
  readonly logFile: string;
  readonly notice: (text: string) => void;
}

/** A process of a service at the ports of a context: one of a stack, another replica, or another build. It is not started. */
export function createServiceProcess(service: ServiceName, options: ServiceProcessOptions): ManagedProcess {
  const { context, name, index = 0, environment, checkout = repositoryRoot, logFile, notice } = options;
  const given =
    service === 'gateway' ? toGatewayEnvironment(context, index) : toServiceEnvironment(service, context);
  const env = { ...given, ...environment };
  const program = relative(repositoryRoot, join(checkout, 'services', service, 'src/main.ts'));
  const readyUrl = `http://${env['HOST']}:${env['PORT'] ?? env['PROBE_PORT']}/readyz`;
  return new ManagedProcess({ name, program, env, readyUrl, notice, logFile });
}

/** Describes every process of a stack. Starts none. */
export async function createStackProcesses(options: {
  readonly context: EnvironmentContext;
  readonly directory: DataDirectory;
  readonly overrides: EnvironmentOverrides;
  readonly notice: (text: string) => void;
}): Promise<StackProcesses> {
  const { context, directory, overrides, notice } = options;
  const { ports } = context;
  const create = async (service: ServiceName, name: string = service, index = 0) => {
    const logFile = await prepareLogFile(directory, name);
    return createServiceProcess(service, {
      context,
      name,
      index,
      environment: overrides[service],
      logFile,
      notice,
    });
  };
  return {
    identityProvider: new ManagedProcess({
      name: 'identity-provider',
      program: 'packages/local-stack/src/identity-provider/main.ts',
      env: toIdentityProviderEnvironment(context, directory.usersFile),
      readyUrl: `http://127.0.0.1:${ports.identityProvider}/readyz`,
      logFile: await prepareLogFile(directory, 'identity-provider'),
      notice,
    }),
    authorization: await create('authorization'),
    consent: await create('consent'),
    healthData: await create('health-data'),
    gateways: await Promise.all(
      ports.gateways.map((_, index) => create('gateway', `gateway-${index + 1}`, index)),
    ),
  };
}

export function listProcesses(processes: StackProcesses): ManagedProcess[] {
  const { identityProvider, authorization, consent, healthData, gateways } = processes;
  return [identityProvider, consent, authorization, healthData, ...gateways];
}

/**
 * Starts what others call first. They tolerate any order, but a service that did not reach the identity provider waits a second before it
 * fetches the keys of sessions again, and answers sessions with 503 until then.
 */
export async function startProcesses(processes: StackProcesses, signal?: AbortSignal): Promise<void> {
  const { identityProvider, authorization, consent, healthData, gateways } = processes;
  for (const stage of [[identityProvider], [consent, authorization, healthData], gateways]) {
    await Promise.all(stage.map((each) => each.start(signal)));
  }
}

/** Stops callers before the services they call, so that requests in progress can finish. */
export async function stopProcesses(processes: StackProcesses): Promise<void> {
  const { identityProvider, authorization, consent, healthData, gateways } = processes;
  await Promise.all([...gateways, identityProvider].map((each) => each.stop()));
  await Promise.all([authorization, healthData].map((each) => each.stop()));
  await consent.stop();
}
