/** Jest's globalSetup: one Postgres for the whole run, and a way to start Redis. */
import { startTestServers } from '../src/test-servers.ts';

// biome-ignore lint/style/noDefaultExport: Jest calls the default export
export default async function startServers() {
  // Without a handler a signal ends the process at once, and the database would stay behind.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  const servers = await startTestServers((text) => process.stderr.write(`${text}\n`));
  Object.assign(process.env, servers.environment);
  globalThis.phdsTestServers = servers;
}
