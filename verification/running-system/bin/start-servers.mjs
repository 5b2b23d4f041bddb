/** Jest's globalSetup: one Postgres for the whole run, a way to start Redis, and stacks that test files share. */
import { startTestServers } from '@phds/test-kit/test-servers';
import { serveSharedStacks } from '../src/shared-stacks.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

// biome-ignore lint/style/noDefaultExport: Jest calls the default export
export default async function startServers() {
  // Without a handler, a signal would end the process and leave the database running.
  for (const signal of signals) process.once(signal, stopAndExit);
  const stack = new AsyncDisposableStack();
  globalThis.phdsTestServers = stack;
  const servers = stack.use(await startTestServers((text) => process.stderr.write(`${text}\n`)));
  const shared = stack.use(await serveSharedStacks());
  Object.assign(process.env, servers.environment, shared.environment);
}

async function stopAndExit() {
  await globalThis.phdsTestServers?.[Symbol.asyncDispose]();
  process.exit(1);
}
