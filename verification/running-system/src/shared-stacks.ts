import { createServer } from 'node:http';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import type { ServedChromium } from './chromium.ts';
import { type RunningStack, startRunningStack } from './running-stack.ts';
import { SHARED_STACKS_VARIABLE, type StackDescription, toStackDescription } from './shared-stack.ts';

export interface SharedStacks extends AsyncDisposable {
  /** Environment variables for test files that use the stacks. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The gateways export the metrics of the self-test. No test runs long enough for a first round. */
const NO_ROUNDS = { SELF_TEST_INTERVAL_MS: '86400000' };

/**
 * Serves one stack and one Chromium for each worker of a test run, each started on the first request. A stack has two gateways and the
 * synthetic users' data. Files of one worker run in sequence and share both. Disposal stops everything.
 */
export async function serveSharedStacks(): Promise<SharedStacks> {
  const stacks = new Map<string, Promise<RunningStack>>();
  const browsers = new Map<string, Promise<ServedChromium>>();
  const describeStack = async (worker: string): Promise<StackDescription> => {
    const stack =
      stacks.get(worker) ??
      startRunningStack({ seed: true, selfTest: true, gateways: 2, environment: { gateway: NO_ROUNDS } });
    stacks.set(worker, stack);
    return toStackDescription(await stack);
  };
  const findBrowser = async (worker: string): Promise<string> => {
    const browser = browsers.get(worker) ?? startBrowser();
    browsers.set(worker, browser);
    return (await browser).url;
  };
  const server = createServer((request, response) => {
    const [, part, worker = ''] = (request.url ?? '').split('/');
    const answer = part === 'browsers' ? findBrowser(worker) : describeStack(worker);
    answer.then(
      (found) => response.end(JSON.stringify(found)),
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
      await forEachStarted(browsers, (browser) => browser.close());
      await forEachStarted(stacks, (stack) => stack[Symbol.asyncDispose]());
    },
  };
}

/** Loaded only when a test needs a browser, because every test run loads this file. */
async function startBrowser(): Promise<ServedChromium> {
  return (await import('./chromium.ts')).serveChromium();
}

async function forEachStarted<T>(
  started: ReadonlyMap<string, Promise<T>>,
  end: (each: T) => PromiseLike<void>,
): Promise<void> {
  for (const each of await Promise.allSettled(started.values())) {
    if (each.status === 'fulfilled') await end(each.value);
  }
}
