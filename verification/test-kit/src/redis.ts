import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { startRedisProgram } from '@phds/local-stack/servers/redis-server';
import { describeWith } from './requirements.ts';
import { REDIS_VARIABLE } from './test-server-variables.ts';

/** A Redis for one test file, which the test may stop. */
export interface TestRedis extends AsyncDisposable {
  readonly url: string;
  /** Stops Redis: connections break and new ones are refused. */
  stop(): Promise<void>;
  /** Starts Redis at the same address, empty. */
  start(): Promise<void>;
}

const program = process.env[REDIS_VARIABLE] ?? '';

/** `describe` for tests that need a Redis; skipped when there is no program of it. */
export const describeWithRedis = describeWith('Redis', program !== '');

/** Starts a Redis for the test. */
export async function createTestRedis(): Promise<TestRedis> {
  const port = await leasePort();
  let server = await startRedisProgram(program, port);
  const stop = () => server.disposeAsync();
  return {
    url: `redis://127.0.0.1:${port}`,
    stop,
    start: async () => {
      server = await startRedisProgram(program, port);
    },
    [Symbol.asyncDispose]: stop,
  };
}
