import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Says goodbye to the guardian. */
export type ReleaseGuard = () => void;

/** Starts the process that ends the database and Redis should this process be killed. */
export function guardServers(servers: {
  readonly postgresDirectory: string;
  /** Null when Redis is not ours. */
  readonly redisPort: number | null;
}): ReleaseGuard {
  const args = [servers.postgresDirectory, String(servers.redisPort ?? 0)];
  const guardian = spawn(process.execPath, [join(import.meta.dirname, 'guardian.ts'), ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guardian.on('error', () => undefined);
  guardian.stdin.on('error', () => undefined);
  guardian.unref();
  if ('unref' in guardian.stdin) (guardian.stdin as unknown as { unref(): void }).unref();
  return () => void guardian.stdin.end('done\n');
}
