import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ServiceName } from '@phds/local-stack/stack-processes';
import { asAdmin } from '@phds/running-system/outages';
import type { Doubled } from '@phds/running-system/proxied-stack';
import { processOf, restartProcess } from '@phds/running-system/running-stack';
import { eventually } from '@phds/test-kit/conditions';
import { Redis } from 'ioredis';
import type { Tally } from '../load/reads.ts';
import { again, type Fault, type Site } from './fault.ts';

const CRASH_EVERY_MS = 4_000;

/** Kills a service. The local stack restarts it, as an orchestrator would. */
function killService(name: 'authorization' | 'consent' | 'health-data'): Fault {
  return {
    name: `kill-${name}`,
    what: `${name} is killed (kill -9) every few seconds, in the middle of whatever it does`,
    kills: true,
    play: (site) =>
      again(site, CRASH_EVERY_MS, async (_turn, milliseconds) => {
        kill(site, name);
        await site.sleep(milliseconds);
      }),
  };
}

function kill({ stack, say }: Site, name: string): void {
  const pid = stack.processes.get(name)?.pid ?? null;
  // It may still be restarting after the last kill.
  if (pid !== null) process.kill(pid, 'SIGKILL');
  say(pid === null ? `${name} is still down` : `${name} killed`);
}

export const CRASHES: readonly Fault[] = [
  killService('authorization'),
  killService('consent'),
  killService('health-data'),
  {
    name: 'kill-gateway',
    what: 'one gateway after the other is killed (kill -9)',
    kills: true,
    play: (site) =>
      again(site, CRASH_EVERY_MS, async (turn, milliseconds) => {
        kill(site, `gateway-${(turn % site.stack.gatewayUrls.length) + 1}`);
        await site.sleep(milliseconds);
      }),
  },
  {
    name: 'kill-redis',
    what: 'Redis is killed (kill -9), stays down, and restarts empty',
    needsRedis: true,
    play: async ({ stack, say, sleep, milliseconds }) => {
      await stack.redis.stop();
      say('Redis killed');
      try {
        await sleep(milliseconds);
      } finally {
        await stack.redis.start();
        say('Redis started, empty');
      }
    },
  },
  {
    name: 'kill-postgres',
    what: 'the database server is stopped at once (immediate shutdown), and recovers from its log when it is started again',
    play: (site) =>
      again(site, 7_000, async (_turn, milliseconds) => {
        const start = await site.stack.crashDatabase();
        site.say('Postgres stopped at once');
        try {
          await site.sleep(milliseconds / 3);
        } finally {
          await start();
          site.say('Postgres started');
        }
        await site.sleep((milliseconds * 2) / 3);
      }),
  },
];

const STORM_TOKENS = 10_000;
/** Minimum duration of a fault with the full storm. Milliseconds. */
const FULL_STORM_MS = 12_000;

async function restart(site: Site, name: string): Promise<void> {
  await restartProcess(site.stack, name);
  site.say(`${name} restarted`);
}

export const SERVICE_FAULTS: readonly Fault[] = [
  {
    name: 'authorization-down',
    what: 'authorization is unavailable for the whole time',
    play: async (site) => {
      const authorization = processOf(site.stack, 'authorization');
      await authorization.kill();
      try {
        await site.sleep(site.milliseconds);
      } finally {
        await authorization.start();
      }
    },
  },
  {
    name: 'consent-restarts',
    what: 'consent is restarted in order, again and again',
    play: (site) =>
      again(site, 3_000, async (_turn, milliseconds) => {
        await restart(site, 'consent');
        await site.sleep(milliseconds / 3);
      }),
  },
  {
    name: 'rolling-restart',
    what: 'every service and every gateway is restarted in order, one after the other',
    play: async (site) => {
      const gateways = site.stack.gatewayUrls.map((_url, index) => `gateway-${index + 1}`);
      const names = ['consent', 'health-data', 'authorization', ...gateways];
      for (const name of names) {
        await restart(site, name);
        await site.sleep(site.milliseconds / names.length / 2);
      }
    },
  },
  {
    name: 'ten-thousand-revocations',
    what: 'ten thousand tokens that the gateways know are revoked at once (fewer in a short run)',
    play: async ({ load, milliseconds, say }) => {
      const tokens = Math.round(STORM_TOKENS * Math.min(1, (milliseconds / FULL_STORM_MS) ** 3));
      say(`collecting ${tokens} tokens, to revoke them at once`);
      await load.storm(tokens);
      say(`${tokens} revocations acknowledged`);
    },
  },
];

/** Longer than health-data waits for a batch and than a stream opens, shorter than the clients' limit. */
const FREEZE_MS = 9_000;
/** Of the requests for data. Half of them use the frozen replica if nobody avoids it. */
const MAX_FAILED = 0.05;
/** The metric by which a second replica shows that it is in use. */
const USED: Readonly<Record<Doubled, RegExp>> = {
  authorization: /^phds_rpc_server_duration_seconds_count\{[^}]*IssueToken"[^}]*\} [1-9]/m,
  consent: /^phds_access_batch_records_count [1-9]/m,
};

/** Requests that needed the service, and those that could not be answered. One with a dead token needs authorization only. */
function countReads(name: Doubled, { reads }: Tally): { readonly answered: number; readonly failed: number } {
  const sum = (...results: string[]) => results.reduce((total, each) => total + (reads[each] ?? 0), 0);
  const dead = name === 'authorization' ? sum('401') : 0;
  return { answered: dead + sum('200', '304', '404'), failed: sum('500', '502', '503', '504', 'none') };
}

async function freeze(name: Doubled, { stack, load, sleep, say, milliseconds }: Site): Promise<void> {
  const { process: replica, probeUrl } = stack.second[name];
  const isUsed = async () => USED[name].test(await (await fetch(`${probeUrl}/metrics`)).text());
  await eventually(isUsed, { timeoutMs: 30_000, intervalMs: 100 });
  say(`two replicas of ${name} are in use`);
  const freezeMs = Math.min(FREEZE_MS, milliseconds);
  const before = countReads(name, await load.look());
  process.kill(replica.pid ?? 0, 'SIGSTOP');
  try {
    await sleep(freezeMs);
  } finally {
    process.kill(replica.pid ?? 0, 'SIGCONT');
  }
  const after = countReads(name, await load.look());
  const failed = after.failed - before.failed;
  const all = after.answered - before.answered + failed;
  const found = `${failed} of ${all} requests for data failed while one replica was frozen for ${freezeMs / 1_000} s`;
  say(found);
  if (failed > MAX_FAILED * all) throw new Error(found);
}

function freezeOne(name: Doubled): Fault {
  return {
    name: `freeze-one-${name}`,
    what: `one of two replicas of ${name} stopped in its tracks (SIGSTOP): the other has to carry the load`,
    play: async (site) => {
      const { process: replica } = site.stack.second[name];
      await replica.start();
      try {
        await freeze(name, site);
      } finally {
        await replica.stop();
      }
    },
  };
}

export const REPLICA_FAULTS: readonly Fault[] = [freezeOne('consent'), freezeOne('authorization')];

// Longer than the deadlines between services, shorter than the clients' limit.
const PAUSE_MS = 4_000;
const PAUSE_EVERY_MS = 6_000;

function pause(name: string, what: string, find: (site: Site, turn: number) => Promise<number[]>): Fault {
  return {
    name: `pause-${name}`,
    what: `${what} stopped in its tracks (SIGSTOP) for a few seconds: connections stand, and nothing answers`,
    ...(name === 'redis' ? { needsRedis: true } : {}),
    play: (site) =>
      again(site, PAUSE_EVERY_MS, async (turn, milliseconds) => {
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

const HOUR_MS = 3_600_000;

/** Small enough that service tokens are accepted, large enough that comparisons around a minute boundary fail. */
const APART: Readonly<Record<ServiceName, number>> = {
  gateway: -40_000,
  authorization: 4_000,
  consent: 2_000,
  'health-data': -3_000,
};

const JUMPS: readonly (readonly [ServiceName, number])[] = [
  ['gateway', -HOUR_MS],
  ['consent', -HOUR_MS],
  ['authorization', HOUR_MS],
  ['health-data', HOUR_MS],
  ['consent', HOUR_MS],
  ['gateway', HOUR_MS],
];

async function setRight({ stack }: Site): Promise<void> {
  for (const service of Object.keys(APART) as ServiceName[]) await stack.skewClock(service, 0);
}

export const CLOCK_FAULTS: readonly Fault[] = [
  {
    name: 'clocks-apart',
    what: 'the clocks of all services are off by seconds, that of the gateways by most of a minute',
    play: async (site) => {
      try {
        for (const [service, off] of Object.entries(APART)) {
          await site.stack.skewClock(service as ServiceName, off);
        }
        await site.sleep(site.milliseconds);
      } finally {
        await setRight(site);
      }
    },
  },
  {
    name: 'clocks-jump',
    what: 'the clock of one service after the other is an hour behind or ahead for a while',
    play: (site) =>
      again(site, 4_000, async (turn, milliseconds) => {
        const [service, off] = JUMPS[turn % JUMPS.length] as (typeof JUMPS)[number];
        site.say(`${service} is an hour ${off < 0 ? 'behind' : 'ahead'}`);
        try {
          await site.stack.skewClock(service, off);
          await site.sleep(milliseconds);
        } finally {
          await setRight(site);
        }
      }),
  },
];
