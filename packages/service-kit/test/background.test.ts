import { expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { type PrunedTables, reportFailures, startPruning } from '../src/background.ts';
import { createLogger } from '../src/telemetry/log.ts';
import { Metrics } from '../src/telemetry/metrics.ts';

const HOUR_MS = 3_600_000;

function start(tables: PrunedTables) {
  const lines: string[] = [];
  const log = createLogger({
    service: 'test',
    level: 'warn',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const failureOf = reportFailures(new Metrics({ service: 'test' }), log);
  return { lines, pruning: startPruning(tables, { intervalMs: HOUR_MS, failureOf }) };
}

test('a backlog is deleted immediately, in batches, until a batch is not full', async () => {
  const batches: number[] = [];
  let left = 3_500;
  const item = async (limit: number) => {
    const deleted = Math.min(limit, left);
    left -= deleted;
    batches.push(deleted);
    return deleted;
  };
  const { pruning } = start({ item });
  await eventually(() => expect(left).toBe(0));
  await pruning[Symbol.asyncDispose]();
  expect(batches).toEqual([1_000, 1_000, 1_000, 500]);
});

test('a failing table is named in the log and does not delay the others; one that is unavailable needs no stack', async () => {
  const reached = Promise.withResolvers<void>();
  const { lines, pruning } = start({
    first: () => Promise.reject(new Error('a defect')),
    locked: () => Promise.reject(Object.assign(new Error('locked'), { code: '55P03' })),
    second: async () => {
      reached.resolve();
      return 0;
    },
  });
  await reached.promise;
  await pruning[Symbol.asyncDispose]();
  const stack = expect.any(String);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'pruning first failed', err: { message: 'a defect', stack } },
    { msg: 'pruning locked failed', err: { reason: 'unavailable', cause: { errorCode: '55P03' } } },
  ]);
  expect(lines[1]).not.toContain('"stack"');
});

test('disposal waits for the running batch and starts no other', async () => {
  const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let batches = 0;
  const long = async (limit: number) => {
    batches += 1;
    begun.resolve();
    await go.promise;
    return batches < 5 ? limit : 0;
  };
  const { pruning } = start({ long, next: long });
  await begun.promise;
  const disposed = pruning[Symbol.asyncDispose]();
  go.resolve();
  await disposed;
  expect(batches).toBe(1);
});
