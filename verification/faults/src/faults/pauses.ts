import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { asAdmin } from './admin.ts';
import { again, type Fault, type Site } from './fault.ts';

// Longer than the deadlines between services, shorter than the clients' limit.
const PAUSE_MS = 4_000;
const EVERY_MS = 6_000;

function pause(name: string, what: string, find: (site: Site, turn: number) => Promise<number[]>): Fault {
  return {
    name: `pause-${name}`,
    what: `${what} stopped in its tracks (SIGSTOP) for a few seconds: connections stand, and nothing answers`,
    ...(name === 'redis' ? { needsRedis: true } : {}),
    play: (site) =>
      again(site, EVERY_MS, async (turn, milliseconds) => {
        const pids = await find(site, turn);
        const pauseMs = Math.min(PAUSE_MS, milliseconds * 0.7);
        signal(pids, 'SIGSTOP');
        site.say(`${name} paused for ${(pauseMs / 1000).toFixed(1)} s`);
        try {
          await site.sleep(pauseMs);
        } finally {
          signal(pids, 'SIGCONT');
          site.say(`${name} goes on`);
        }
        await site.sleep(milliseconds - pauseMs);
      }),
  };
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // A database session that has ended in the meantime.
    }
  }
}

async function pidOf({ stack }: Site, name: string): Promise<number[]> {
  const pid = stack.processes.get(name)?.pid ?? null;
  return pid === null ? [] : [pid];
}

async function findPostgres({ stack }: Site): Promise<number[]> {
  const text = await readFile(join(dirname(stack.logs), 'postgres', 'postmaster.pid'), 'utf8');
  const sessions = await asAdmin(stack, async (admin) => {
    const { rows } = await admin.query<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
    );
    return rows.map(({ pid }) => pid);
  });
  return [Number.parseInt(text, 10), ...sessions];
}

async function findRedis({ stack }: Site): Promise<number[]> {
  if (stack.redis.url === null) return [];
  const redis = new Redis(stack.redis.url);
  const pid = /process_id:(\d+)/.exec(await redis.info('server'))?.[1];
  redis.disconnect();
  return pid === undefined ? [] : [Number(pid)];
}

export const PAUSES: readonly Fault[] = [
  pause('authorization', 'authorization is', (site) => pidOf(site, 'authorization')),
  pause('consent', 'consent is', (site) => pidOf(site, 'consent')),
  pause('health-data', 'health-data is', (site) => pidOf(site, 'health-data')),
  pause('gateway', 'one gateway after the other is', (site, turn) =>
    pidOf(site, `gateway-${(turn % site.stack.gatewayUrls.length) + 1}`),
  ),
  pause('redis', 'Redis is', findRedis),
  pause('postgres', 'the database server and all of its sessions are', findPostgres),
];
