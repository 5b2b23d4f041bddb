import { join, relative } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { ManagedProcess } from '@phds/local-stack/managed-process';
import { findRandomPorts } from '@phds/local-stack/ports';
import {
  type Environment,
  type EnvironmentContext,
  toAuthorizationEnvironment,
  toConsentEnvironment,
  toGatewayEnvironment,
  toHealthDataEnvironment,
  toProbeUrls,
} from '@phds/local-stack/service-environments';
import { type RunningStack, startRunningStack, withPatience } from '@phds/running-system/running-stack';
import { connectPerson, useEverything } from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import type { Checkout } from './checkout.ts';

export const SERVICES = ['consent', 'authorization', 'health-data', 'gateway'] as const;

export type Service = (typeof SERVICES)[number];

const ENVIRONMENTS: Readonly<Record<Service, (context: EnvironmentContext) => Environment>> = {
  consent: toConsentEnvironment,
  authorization: toAuthorizationEnvironment,
  'health-data': toHealthDataEnvironment,
  gateway: (context) => toGatewayEnvironment(context, 0),
};

/**
 * Starts the whole service of this checkout, and each of the four services of the earlier one in turn in the place of the new one: a person
 * approves, and an app reads, refreshes, revokes and is refused, with tokens from before and from after the exchange. Returns what failed.
 */
export async function runMixes(earlier: Checkout, say: (line: string) => void): Promise<string[]> {
  const ports = await findRandomPorts(1);
  await using stack = await startRunningStack({ ports });
  const context: EnvironmentContext = { ports, keys: stack.keys, redisUrl: stack.redis.url };
  const person = await connectPerson(stack, 'connected');
  const failures: string[] = [];
  for (const service of SERVICES) {
    const current = stack.processes.get(service === 'gateway' ? 'gateway-1' : service);
    if (current === undefined) throw new Error(`the stack has no process of ${service}`);
    await current.stop();
    const old = toEarlierProcess({ service, earlier, context, stack });
    try {
      await old.start();
      await eventually(() => useEverything(person), { timeoutMs: 60_000, intervalMs: 500 });
      say(`${service} of ${earlier.revision} beside the new services: everything works`);
    } catch (error) {
      failures.push(`${service} of ${earlier.revision}: ${(error as Error).message}`);
      say(`${service} of ${earlier.revision} beside the new services: FAILED`);
    } finally {
      await old.stop();
    }
    await current.start();
    await eventually(() => useEverything(person), { timeoutMs: 60_000, intervalMs: 500 });
  }
  return failures;
}

function toEarlierProcess(parts: {
  readonly service: Service;
  readonly earlier: Checkout;
  readonly context: EnvironmentContext;
  readonly stack: RunningStack;
}): ManagedProcess {
  const { service, earlier, context, stack } = parts;
  const { ports } = context;
  const readyUrl =
    service === 'gateway' ? `http://127.0.0.1:${ports.gateways[0]}` : toProbeUrls(ports)[service];
  return new ManagedProcess({
    name: `earlier ${service}`,
    program: relative(repositoryRoot, join(earlier.directory, 'services', service, 'src/main.ts')),
    env: {
      ...ENVIRONMENTS[service](context),
      ...withPatience()[service],
      // The earlier checkout has no built pages.
      WEB_DIRECTORY: join(repositoryRoot, 'packages/web/dist'),
      DOCS_DIRECTORY: join(repositoryRoot, 'packages/docs/dist'),
    },
    readyUrl: `${readyUrl}/readyz`,
    logFile: join(stack.logs, `earlier-${service}.log`),
    notice: () => undefined,
  });
}
