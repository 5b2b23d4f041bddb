import { createServer } from 'node:http';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { type RunningStack, startRunningStack } from './running-stack.ts';
import { SHARED_STACKS_VARIABLE, type StackDescription, toStackDescription } from './shared-stack.ts';

export interface SharedStacks extends AsyncDisposable {
  /** Environment variables for test files that use the stacks. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The gateways export the metrics of the self-test. No test runs long enough for a first round. */
const SELF_TEST = {
  SELF_TEST_CLIENT_ID: 'app_sandbox_of_no_round',
  SELF_TEST_CLIENT_SECRET: 'phds_cs_unused',
  SELF_TEST_INTERVAL_MS: '86400000',
};

/**
 * Serves one stack for each worker of a test run, with the synthetic users' data, started on the first request. Files of one worker
 * run in sequence and share its stack. Disposal stops all stacks.
 */
export async function serveSharedStacks(): Promise<SharedStacks> {
  const stacks = new Map<string, Promise<RunningStack>>();
  const describeStack = async (worker: string): Promise<StackDescription> => {
    const stack =
      stacks.get(worker) ?? startRunningStack({ seed: true, environment: { gateway: SELF_TEST } });
    stacks.set(worker, stack);
    return toStackDescription(await stack);
  };
  const server = createServer((request, response) => {
    describeStack(request.url ?? '').then(
      (description) => response.end(JSON.stringify(description)),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  // Idle connections stay open: a worker that is busy between two files could otherwise use one just when it is closed.
  server.keepAliveTimeout = 0;
  const port = await listenOnLoopback(server);
  // Open connections must not delay the end of the run.
  server.unref();
  return {
    environment: { [SHARED_STACKS_VARIABLE]: `http://127.0.0.1:${port}` },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      const started = await Promise.allSettled(stacks.values());
      for (const stack of started) {
        if (stack.status === 'fulfilled') await stack.value[Symbol.asyncDispose]();
      }
    },
  };
}
