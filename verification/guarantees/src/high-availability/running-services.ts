import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Stack, startStack } from '@phds/local-stack/stack';
import type { RunningStack } from '@phds/running-system/running-stack';
import type { Cluster } from './cluster.ts';

const GATEWAYS = 2;

/** The whole service on a cluster, with the deadlines of a deployment. */
export async function startServices(
  cluster: Cluster,
  environment: Parameters<typeof startStack>[0]['environment'] = {},
): Promise<RunningStack> {
  await using cleanup = new AsyncDisposableStack();
  const dataDirectory = await mkdtemp(join(tmpdir(), 'phds-ha-stack-'));
  cleanup.defer(() => rm(dataDirectory, { recursive: true, force: true, maxRetries: 3 }));
  const stack: Stack = await startStack({
    dataDirectory,
    databaseUrl: cluster.adminUrl,
    ports: { random: true, gateways: GATEWAYS },
    // A gateway without Redis knows nothing of a revocation until the database answers.
    redis: false,
    seed: false,
    environment,
  });
  cleanup.use(stack);
  const running = cleanup.move();
  return {
    ...stack,
    gateway: stack.gatewayUrls[0] as string,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
