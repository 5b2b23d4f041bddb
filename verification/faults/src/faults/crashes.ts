import { again, type Fault, type Site } from './fault.ts';

const EVERY_MS = 4_000;

/** Kills a service. The local stack restarts it, as an orchestrator would. */
function killService(name: 'authorization' | 'consent' | 'health-data'): Fault {
  return {
    name: `kill-${name}`,
    what: `${name} is killed (kill -9) every few seconds, in the middle of whatever it does`,
    kills: true,
    play: (site) =>
      again(site, EVERY_MS, async (_turn, milliseconds) => {
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
      again(site, EVERY_MS, async (turn, milliseconds) => {
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
