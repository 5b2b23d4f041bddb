import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Tells the guardian to exit without ending the servers. */
type ReleaseGuard = () => void;

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

// The variables of libfaketime (`pnpm prove:hours`), passed on so that services, callers and Postgres agree on the time.
const FAKE_CLOCK = [
  'LD_PRELOAD',
  'FAKETIME',
  'FAKETIME_DISABLE_SHM',
  'FAKETIME_DONT_FAKE_MONOTONIC',
  'NO_FAKE_STAT',
] as const;

// Services inherit nothing else: a PORT or HOST that is set for another program must not reach them.
const INHERITED = ['PATH', 'HOME', 'TZ', 'LANG', 'LOG_LEVEL', 'NODE_COMPILE_CACHE', ...FAKE_CLOCK] as const;

/** The environment variables that a process of the stack inherits from its caller. */
export function inheritedEnvironment(): Readonly<Record<string, string>> {
  const pairs = INHERITED.map((name) => [name, process.env[name] ?? ''] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== ''));
}
