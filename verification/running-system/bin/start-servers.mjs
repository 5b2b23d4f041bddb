/** Jest's globalSetup: one Postgres, one prepared data directory, one stack and one Chromium for the whole run, each started when a test first asks for it. */
import { findRedisProgram } from '@phds/local-stack/servers/redis-server';
import { REDIS_VARIABLE, TEST_SERVERS_VARIABLE } from '@phds/test-kit/test-server-variables';
import { serveOnDemand, startTestPostgres } from '@phds/test-kit/test-servers';
import { prepareData } from '../src/prepared-data.ts';
import { startSharedBrowser, startSharedSandbox, startSharedStack } from '../src/shared-stacks.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

// biome-ignore lint/style/noDefaultExport: Jest calls the default export
export default async function startServers() {
  // Without a handler, a signal would end the process and leave the database running.
  for (const signal of signals) process.once(signal, stopAndExit);
  const stack = new AsyncDisposableStack();
  globalThis.phdsTestServers = stack;
  const starters = {
    postgres: () => startTestPostgres((text) => process.stderr.write(`${text}\n`)),
    data: prepareData,
    stack: startSharedStack,
    sandbox: startSharedSandbox,
    browser: startSharedBrowser,
  };
  process.env[TEST_SERVERS_VARIABLE] = stack.use(await serveOnDemand(starters)).url;
  process.env[REDIS_VARIABLE] = (await findRedisProgram()) ?? '';
}

async function stopAndExit() {
  await globalThis.phdsTestServers?.[Symbol.asyncDispose]();
  process.exit(1);
}
