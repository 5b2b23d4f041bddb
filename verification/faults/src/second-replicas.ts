import { join } from 'node:path';
import { ManagedProcess } from '@phds/local-stack/managed-process';
import type { StackPorts } from '@phds/local-stack/ports';
import {
  type Environment,
  toAuthorizationEnvironment,
  toConsentEnvironment,
  toProbeUrls,
} from '@phds/local-stack/service-environments';
import type { Stack } from '@phds/local-stack/stack';

/** A service of which there can be two replicas. */
export type Doubled = 'authorization' | 'consent';

export interface SecondReplica {
  readonly process: ManagedProcess;
  readonly probeUrl: string;
}

interface SecondOptions {
  readonly stack: Stack;
  readonly ports: StackPorts;
  /** Settings in addition to those of the stack. */
  readonly environment: Readonly<Record<Doubled, Environment>>;
  readonly say: (line: string) => void;
}

/** Prepares the second replicas; none is started. */
export function createSecondReplicas(
  { stack, ports, environment, say }: SecondOptions,
  cleanup: AsyncDisposableStack,
): Readonly<Record<Doubled, SecondReplica>> {
  const context = { ports, keys: stack.keys, redisUrl: stack.redis.url };
  const create = (name: Doubled, own: Environment) => {
    const probeUrl = toProbeUrls(ports)[name];
    const process = new ManagedProcess({
      name: `${name}-2`,
      program: `services/${name}/src/main.ts`,
      env: { ...own, ...environment[name] },
      readyUrl: `${probeUrl}/readyz`,
      logFile: join(stack.logs, `${name}-2.log`),
      notice: say,
    });
    cleanup.defer(() => process.kill());
    return { process, probeUrl };
  };
  return {
    authorization: create('authorization', toAuthorizationEnvironment(context)),
    consent: create('consent', toConsentEnvironment(context)),
  };
}
