import { leasePort } from '@phds/local-stack/servers/leased-ports';
import {
  findRedisProgram,
  type RedisServer,
  startRedisProgram,
  startRedisServer,
} from '@phds/local-stack/servers/redis-server';
import { Redis } from 'ioredis';
import { describeWith } from './requirements.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { REDIS_VARIABLE, type RedisSource } from './test-server-variables.ts';

/** A Redis for one test file, which the test may stop. */
export interface TestRedis extends AsyncDisposable {
  readonly url: string;
  /** Stops Redis: connections break and new ones are refused. */
  stop(): Promise<void>;
  /** Starts Redis at the same address, empty unless it is the one of TEST_REDIS_URL. */
  start(): Promise<void>;
}

/** `describe` for tests that need a Redis; skipped when none can be installed. */
export const describeWithRedis = describeWith('Redis', redisSource() !== 'none');

/** Creates a Redis for the test: a process, a container, or a database of the one in TEST_REDIS_URL. */
export async function createTestRedis(): Promise<TestRedis> {
  switch (redisSource()) {
    case 'given':
      return useGiven(process.env['TEST_REDIS_URL'] ?? '');
    case 'program': {
      const program = await findRedisProgram();
      if (program !== null) return runOwn((port) => startRedisProgram(program, port));
      break;
    }
    case 'docker':
      return runOwn(startContainer);
    case 'none':
  }
  throw new Error('no Redis on this machine: use describeWithRedis');
}

function redisSource(): RedisSource {
  return (process.env[REDIS_VARIABLE] ?? 'none') as RedisSource;
}

async function startContainer(port: number): Promise<RedisServer> {
  const server = await startRedisServer({ port, notice: () => undefined, mayInstall: false });
  if (server === null) throw new Error('Docker does not start a Redis');
  return server;
}

async function runOwn(launch: (port: number) => Promise<RedisServer>): Promise<TestRedis> {
  const port = await leasePort();
  let server = await launch(port);
  return {
    url: server.url,
    stop: () => server.stop(),
    start: async () => {
      server = await launch(port);
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

async function useGiven(givenUrl: string): Promise<TestRedis> {
  const url = new URL(givenUrl);
  // Each Jest worker uses a database of its own, so that parallel files do not share keys.
  url.pathname = `/${Number(process.env['JEST_WORKER_ID'] ?? 1) % 16}`;
  const admin = new Redis(url.href);
  await admin.flushdb();
  await admin.quit();
  const proxy = await startTcpProxy(url.href);
  return {
    url: proxy.url,
    stop: proxy.cut,
    start: proxy.restore,
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}
