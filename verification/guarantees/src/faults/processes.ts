import { dirname, join } from 'node:path';
import type { ServiceName } from '@phds/local-stack/stack-processes';
import type { Doubled } from '@phds/running-system/proxied-stack';
import { processOf } from '@phds/running-system/running-stack';
import { eventually } from '@phds/test-kit/conditions';
import { LIVE_TOKEN_REFUSED, PROOF_USED_ELSEWHERE, type Tally } from '../load/reads.ts';
import { askRedis, listTree, readPostgresPid, signalAll } from '../processes.ts';
import { behindBalancer } from './balancer.ts';
import { disturb, type Fault, type Site } from './fault.ts';

const CRASH_EVERY_MS = 4_000;

function kill({ stack, say }: Site, name: string): void {
  const pid = stack.processes.get(name)?.pid ?? null;
  // It may still be restarting after the last kill.
  if (pid !== null) process.kill(pid, 'SIGKILL');
  say(pid === null ? `${name} is still down` : `${name} killed`);
}

/** One gateway after the other. */
function gatewayOf({ stack }: Site, turn: number): string {
  return `gateway-${(turn % stack.gatewayUrls.length) + 1}`;
}

/** Kills a process. The local stack restarts it, as an orchestrator would. */
function killing(name: string, what: string, find: (site: Site, turn: number) => string): Fault {
  const play = disturb((site, _undo, turn) => kill(site, find(site, turn)), { everyMs: CRASH_EVERY_MS });
  return { name: `kill-${name}`, what, kills: true, play };
}

const KILL_GATEWAY = killing('gateway', 'one gateway after the other is killed (kill -9)', gatewayOf);

export const CRASHES: readonly Fault[] = [
  ...['authorization', 'consent', 'health-data'].map((name) =>
    killing(
      name,
      `${name} is killed (kill -9) every few seconds, in the middle of whatever it does`,
      () => name,
    ),
  ),
  KILL_GATEWAY,
  behindBalancer(KILL_GATEWAY),
  {
    name: 'kill-redis',
    what: 'Redis is killed (kill -9), stays down, and restarts empty',
    needs: 'Redis',
    excuses: [PROOF_USED_ELSEWHERE],
    play: disturb(async ({ stack, say }, undo) => {
      await stack.redis.stop();
      say('Redis killed');
      undo.defer(() => say('Redis started, empty'));
      undo.defer(() => stack.redis.start());
    }),
  },
  {
    name: 'kill-postgres',
    what: 'the database server is stopped at once (immediate shutdown), and recovers from its log when it is started again',
    play: disturb(
      async ({ stack, say }, undo) => {
        undo.defer(() => say('Postgres started'));
        undo.defer(await stack.crashDatabase());
        say('Postgres stopped at once');
      },
      { everyMs: 7_000, share: 1 / 3 },
    ),
  },
];

const STORM_TOKENS = 10_000;
/** Minimum duration of a fault with the full storm. Milliseconds. */
const FULL_STORM_MS = 12_000;

export const SERVICE_FAULTS: readonly Fault[] = [
  {
    name: 'authorization-down',
    what: 'authorization is unavailable for the whole time',
    play: disturb(async ({ stack }, undo) => {
      const authorization = processOf(stack, 'authorization');
      await authorization.kill();
      undo.defer(() => authorization.start());
    }),
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

/** Longer than health-data waits for a batch, shorter than the clients' limit. */
const FREEZE_MS = 9_000;
/**
 * Of the requests for data. Seen: 6 to 18 % with consent frozen, the more the slower the machine, and 1 to 6 % with authorization. With
 * consent, 64 % and more fail if a batch without an answer holds up the next one, or if a replica that fails every call is not left out.
 */
const MAX_FAILED: Readonly<Record<Doubled, number>> = { authorization: 0.15, consent: 0.3 };
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
  const before = countReads(name, await load.readTally());
  {
    using _frozen = suspend([replica.pid ?? 0]);
    await sleep(freezeMs);
  }
  const after = countReads(name, await load.readTally());
  const failed = after.failed - before.failed;
  const all = after.answered - before.answered + failed;
  const found = `${failed} of ${all} requests for data failed while one replica was frozen for ${freezeMs / 1_000} s`;
  say(found);
  if (failed > MAX_FAILED[name] * all) throw new Error(found);
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
    ...(name === 'redis' && { needs: 'Redis' as const, excuses: [PROOF_USED_ELSEWHERE] }),
    play: disturb(
      async (site, undo, turn) => {
        undo.defer(() => site.say(`${name} goes on`));
        undo.use(suspend(await find(site, turn)));
        site.say(`${name} paused`);
      },
      { everyMs: PAUSE_EVERY_MS, share: 0.7, mostMs: PAUSE_MS },
    ),
  };
}

/** Stops processes until the disposal. */
function suspend(pids: readonly number[]): Disposable {
  signalAll(pids, 'SIGSTOP');
  return { [Symbol.dispose]: () => signalAll(pids, 'SIGCONT') };
}

async function pidOf({ stack }: Site, name: string): Promise<number[]> {
  const pid = stack.processes.get(name)?.pid ?? null;
  return pid === null ? [] : [pid];
}

async function findRedis({ stack }: Site): Promise<number[]> {
  return stack.redis.url === null ? [] : [await askRedis(stack.redis.url, 'process_id')];
}

async function findPostgres({ stack }: Site): Promise<number[]> {
  return listTree(readPostgresPid(join(dirname(stack.logs), 'postgres')));
}

export const PAUSES: readonly Fault[] = [
  pause('authorization', 'authorization is', (site) => pidOf(site, 'authorization')),
  pause('consent', 'consent is', (site) => pidOf(site, 'consent')),
  pause('health-data', 'health-data is', (site) => pidOf(site, 'health-data')),
  pause('gateway', 'one gateway after the other is', (site, turn) => pidOf(site, gatewayOf(site, turn))),
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

/** Sets the clock of a service until `undo`. */
async function skew(
  { stack }: Site,
  undo: AsyncDisposableStack,
  service: ServiceName,
  milliseconds: number,
): Promise<void> {
  undo.defer(() => stack.skewClock(service, 0));
  await stack.skewClock(service, milliseconds);
}

export const CLOCK_FAULTS: readonly Fault[] = [
  {
    name: 'clocks-apart',
    what: 'the clocks of all services are off by seconds, that of the gateways by most of a minute',
    excuses: [LIVE_TOKEN_REFUSED],
    play: disturb(async (site, undo) => {
      for (const [service, off] of Object.entries(APART)) await skew(site, undo, service as ServiceName, off);
    }),
  },
  {
    name: 'clocks-jump',
    what: 'the clock of one service after the other is an hour behind or ahead for a while',
    excuses: [LIVE_TOKEN_REFUSED],
    play: disturb(
      async (site, undo, turn) => {
        const [service, off] = JUMPS[turn % JUMPS.length] as (typeof JUMPS)[number];
        site.say(`${service} is an hour ${off < 0 ? 'behind' : 'ahead'}`);
        await skew(site, undo, service, off);
      },
      { everyMs: 4_000 },
    ),
  },
];
