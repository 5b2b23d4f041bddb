import { Redis } from 'ioredis';
import type { Edge } from '../proxied-stack.ts';
import type { NewsManner } from '../proxy/news.ts';
import { again, type Fault } from './fault.ts';

const FLUSH_EVERY_MS = 250;
/** Longer than the services wait for Redis. */
const SLOW_MS = 400;
const REDIS_EDGES: readonly Edge[] = ['gateway→redis', 'consent→redis'];

function tamper(name: string, what: string, manner: NewsManner): Fault {
  return {
    name,
    what,
    needsRedis: true,
    play: async ({ stack: { news }, say, sleep, milliseconds }) => {
      const before = news.touched;
      news.manner = manner;
      try {
        await sleep(milliseconds);
      } finally {
        news.manner = 'pass';
        say(`${news.touched - before} messages: ${manner}`);
      }
    },
  };
}

export const REDIS_FAULTS: readonly Fault[] = [
  {
    name: 'redis-flush',
    what: 'everything in Redis is removed, four times a second',
    needsRedis: true,
    play: async (site) => {
      const redis = new Redis(site.stack.redis.url ?? '');
      try {
        await again(site, FLUSH_EVERY_MS, async (_turn, milliseconds) => {
          await redis.flushall();
          await redis.script('FLUSH');
          await site.sleep(milliseconds);
        });
      } finally {
        redis.disconnect();
      }
    },
  },
  {
    name: 'redis-slow',
    what: 'every answer of Redis takes longer than anybody waits for it',
    needsRedis: true,
    play: async ({ stack, sleep, milliseconds }) => {
      for (const edge of REDIS_EDGES) stack.proxies[edge].set({ kind: 'delay', milliseconds: SLOW_MS });
      try {
        await sleep(milliseconds);
      } finally {
        for (const edge of REDIS_EDGES) stack.proxies[edge].set({ kind: 'pass' });
      }
    },
  },
  tamper('redis-swallowed-events', 'gateways stay subscribed and hear of no eviction', 'swallow'),
  tamper('redis-duplicated-events', 'gateways hear of every eviction twice', 'duplicate'),
];
