/** Jest's globalSetup: one Postgres for the whole run, and a way to start Redis. */
import { startTestServers } from '../src/test-servers.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

// biome-ignore lint/style/noDefaultExport: Jest calls the default export
export default async function startServers() {
  // Without a handler a signal ends the process at once, and the database would stay behind.
  for (const signal of signals) process.once(signal, stopAndExit);
  const servers = await startTestServers((text) => process.stderr.write(`${text}\n`));
  Object.assign(process.env, servers.environment);
  globalThis.phdsTestServers = servers;
}

async function stopAndExit() {
  await globalThis.phdsTestServers?.[Symbol.asyncDispose]();
  process.exit(1);
}
