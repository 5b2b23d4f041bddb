import type { DataDirectory } from './data-directory.ts';
import { prepareLogFile } from './data-directory.ts';
import { ManagedProcess } from './managed-process.ts';
import type { Environment, EnvironmentContext } from './service-environments.ts';
import {
  toAuthorizationEnvironment,
  toConsentEnvironment,
  toGatewayEnvironment,
  toHealthDataEnvironment,
  toIdentityProviderEnvironment,
  toProbeUrls,
} from './service-environments.ts';

/** Environment variables that a stack overrides, by process; those of `gateway` are for all gateways. */
export type EnvironmentOverrides = {
  readonly [process in 'gateway' | 'authorization' | 'consent' | 'health-data']?: Environment;
};

/** The processes of a stack. Gateways are named `gateway-1`, `gateway-2`, … */
export interface StackProcesses {
  readonly identityProvider: ManagedProcess;
  readonly authorization: ManagedProcess;
  readonly consent: ManagedProcess;
  readonly healthData: ManagedProcess;
  readonly gateways: readonly ManagedProcess[];
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
  const probes = toProbeUrls(ports);
  const create = async (name: string, program: string, env: Environment, readyUrl: string) =>
    new ManagedProcess({
      name,
      program,
      env,
      readyUrl,
      notice,
      logFile: await prepareLogFile(directory, name),
    });
  const service = (name: 'authorization' | 'consent' | 'health-data', env: Environment) =>
    create(name, `services/${name}/src/main.ts`, { ...env, ...overrides[name] }, `${probes[name]}/readyz`);
  return {
    identityProvider: await create(
      'identity-provider',
      'packages/local-stack/src/identity-provider/main.ts',
      toIdentityProviderEnvironment(context, directory.usersFile),
      `http://127.0.0.1:${ports.identityProvider}/readyz`,
    ),
    authorization: await service('authorization', toAuthorizationEnvironment(context)),
    consent: await service('consent', toConsentEnvironment(context)),
    healthData: await service('health-data', toHealthDataEnvironment(context)),
    gateways: await Promise.all(
      ports.gateways.map((port, index) =>
        create(
          `gateway-${index + 1}`,
          'services/gateway/src/main.ts',
          { ...toGatewayEnvironment(context, index), ...overrides.gateway },
          `http://127.0.0.1:${port}/readyz`,
        ),
      ),
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
