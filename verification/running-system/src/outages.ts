import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EmbeddedPostgres } from '@phds/local-servers/embedded-postgres';
import { startEmbeddedPostgres, THROWAWAY_SETTINGS } from '@phds/local-servers/embedded-postgres';
import { eventually } from '@phds/test-kit/conditions';
import pg from 'pg';
import type { RunningStack } from './running-stack.ts';

/** Takes the database away from one service, its role that is. Answers how to give it back. */
export async function lockOutOfDatabase(stack: RunningStack, role: string): Promise<() => Promise<void>> {
  await asAdmin(stack, async (admin) => {
    await admin.query(`ALTER ROLE ${role} NOLOGIN`);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
  });
  return () => asAdmin(stack, async (admin) => void (await admin.query(`ALTER ROLE ${role} LOGIN`)));
}

/**
 * Stops every session of a role in its tracks, and whoever would open a new one: connections stand, and nothing answers.
 * The sessions of others go on. Answers how to end it.
 */
export async function freezeDatabaseSessions(stack: RunningStack, role: string): Promise<() => void> {
  const sessions = await asAdmin(stack, async (admin) => {
    const query = 'SELECT pid FROM pg_stat_activity WHERE usename = $1';
    return (await admin.query<{ pid: number }>(query, [role])).rows.map(({ pid }) => pid);
  });
  if (sessions.length === 0) throw new Error(`${role} has no session to freeze`);
  const frozen = [...sessions, await readServerPid(stack)];
  for (const pid of frozen) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
  };
}

/** A database server that is down. */
export interface StoppedDatabase {
  /** Its data directory. */
  readonly directory: string;
  /** Starts it again on the same port. Whoever does has to dispose of it, after the services and before the stack. */
  start(settings?: Readonly<Record<string, string>>): Promise<EmbeddedPostgres>;
}

/**
 * Ends the database server as a crash of it would (immediate shutdown: nothing is flushed, nobody is told) and answers how
 * to start it again on the same port. Whoever starts it has to dispose of it, after the services and before the stack.
 */
export async function crashDatabase(stack: RunningStack): Promise<() => Promise<EmbeddedPostgres>> {
  const { start } = await endDatabase(stack, 'SIGQUIT');
  return () => start();
}

/** Ends the database server in order: what it leaves is a whole backup. */
export function stopDatabase(stack: RunningStack): Promise<StoppedDatabase> {
  return endDatabase(stack, 'SIGINT');
}

async function endDatabase(stack: RunningStack, signal: NodeJS.Signals): Promise<StoppedDatabase> {
  const { port, password } = new URL(stack.adminDatabaseUrl);
  const pid = await readServerPid(stack);
  process.kill(pid, signal);
  await eventually(() => !isAlive(pid));
  const directory = databaseDirectory(stack);
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

async function readServerPid(stack: RunningStack): Promise<number> {
  const text = await readFile(join(databaseDirectory(stack), 'postmaster.pid'), 'utf8');
  return Number.parseInt(text, 10);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function asAdmin<T>(
  { adminDatabaseUrl }: RunningStack,
  use: (admin: pg.Client) => Promise<T>,
): Promise<T> {
  const admin = new pg.Client({ connectionString: adminDatabaseUrl });
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.end();
  }
}
