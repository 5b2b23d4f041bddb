import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EmbeddedPostgres } from '@phds/local-stack/servers/embedded-postgres';
import { startEmbeddedPostgres, THROWAWAY_SETTINGS } from '@phds/local-stack/servers/embedded-postgres';
import type { Stack } from '@phds/local-stack/stack';
import { withConnection } from '@phds/service-kit/postgres/postgres';
import { toDatabaseUrl } from '@phds/service-kit/postgres/postgres-names';
import { eventually } from '@phds/test-kit/conditions';
import type pg from 'pg';
import type { RunningStack } from './running-stack.ts';

/** Locks a service's role out of the database. Returns a function that restores access. */
export async function lockOutOfDatabase(stack: RunningStack, role: string): Promise<() => Promise<void>> {
  await asAdmin(stack, async (admin) => {
    await admin.query(`ALTER ROLE ${role} NOLOGIN`);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
  });
  return () => asAdmin(stack, async (admin) => void (await admin.query(`ALTER ROLE ${role} LOGIN`)));
}

/** A stopped database server. */
export interface StoppedDatabase {
  /** Its data directory. */
  readonly directory: string;
  /** Starts the server again on the same port. The caller must dispose of it, after the services and before the stack. */
  start(settings?: Readonly<Record<string, string>>): Promise<EmbeddedPostgres>;
}

/**
 * Crashes the database server (immediate shutdown: nothing is flushed, no client is notified) and returns a function that starts it
 * again on the same port. The caller must dispose of the started server, after the services and before the stack.
 */
export async function crashDatabase(stack: RunningStack): Promise<() => Promise<EmbeddedPostgres>> {
  const { start } = await endDatabase(stack, 'SIGQUIT');
  return () => start();
}

/** Ends the database servers that replaced that of a stack, after its processes, which would miss them. Dispose of the stack afterwards. */
export async function stopReplacements(
  { processes }: Pick<Stack, 'processes'>,
  servers: readonly Pick<EmbeddedPostgres, 'stop'>[],
): Promise<void> {
  if (servers.length === 0) return;
  await Promise.all([...processes.values()].map((each) => each.stop()));
  for (const server of servers) await server.stop();
}

/** Shuts the database server down cleanly, so that its data directory is a complete backup. */
export function stopDatabase(stack: RunningStack): Promise<StoppedDatabase> {
  return endDatabase(stack, 'SIGINT');
}

async function endDatabase(stack: RunningStack, signal: 'SIGQUIT' | 'SIGINT'): Promise<StoppedDatabase> {
  const { port, password } = new URL(stack.adminDatabaseUrl);
  const directory = databaseDirectory(stack);
  await endServer(directory, signal);
  return {
    directory,
    start: (settings = {}) =>
      startEmbeddedPostgres({
        directory,
        port: Number(port),
        password: decodeURIComponent(password),
        settings: { ...THROWAWAY_SETTINGS, ...settings },
      }),
  };
}

function databaseDirectory({ logs }: RunningStack): string {
  return join(dirname(logs), 'postgres');
}

/**
 * Ends the database server of a data directory and waits until it and its sessions have ended. A killed server (SIGKILL) leaves sessions,
 * which may commit once more; SIGQUIT is the crash that ends them.
 */
async function endServer(directory: string, signal: 'SIGQUIT' | 'SIGINT'): Promise<void> {
  const pid = await readServerPid(directory);
  process.kill(pid, signal);
  await eventually(() => !isAlive(pid));
}

async function readServerPid(directory: string): Promise<number> {
  return Number.parseInt(await readFile(join(directory, 'postmaster.pid'), 'utf8'), 10);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Runs `use` with a superuser session in the services' database. */
export async function asAdmin<T>(
  { adminDatabaseUrl }: Pick<Stack, 'adminDatabaseUrl'>,
  use: (admin: pg.Client) => Promise<T>,
): Promise<T> {
  const connectionString = toDatabaseUrl(adminDatabaseUrl, { database: 'phds' });
  return withConnection({ connectionString, application_name: 'phds-outages' }, use);
}
