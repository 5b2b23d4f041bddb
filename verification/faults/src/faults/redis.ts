import type { MessageMode } from '@phds/test-kit/published-message-fault';
import { Redis } from 'ioredis';
import type { Edge } from '../proxied-stack.ts';
import { again, type Fault } from './fault.ts';

const FLUSH_EVERY_MS = 250;
/** Longer than the services' limit for Redis. */
const SLOW_MS = 400;
const REDIS_EDGES: readonly Edge[] = ['gateway→redis', 'consent→redis'];

function tamper(name: string, what: string, mode: MessageMode): Fault {
  return {
    name,
    what,
    needsRedis: true,
    play: async ({ stack: { publishedMessages }, say, sleep, milliseconds }) => {
      const before = publishedMessages.touched;
      publishedMessages.mode = mode;
      try {
        await sleep(milliseconds);
      } finally {
        publishedMessages.mode = 'pass';
        say(`${publishedMessages.touched - before} messages: ${mode}`);
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
    what: 'every answer of Redis exceeds the timeouts of its clients',
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
