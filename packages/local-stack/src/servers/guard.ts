import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Tells the guardian to exit without ending the servers. */
export type ReleaseGuard = () => void;

/** Starts a process that ends the database and Redis if this process is killed. */
export function guardServers(servers: {
  readonly postgresDirectory: string;
  /** Null when Redis was not started by us. */
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
