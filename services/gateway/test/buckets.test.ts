import { describe, expect, test } from '@jest/globals';
import { openRedis, type RedisConnection } from '@phds/service-kit/redis';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { eventually } from '@phds/test-kit/conditions';
import { createTestRedis, describeWithRedis } from '@phds/test-kit/redis';
import { type Bucket, createBucket, createLeasingBucket } from '../src/limits/bucket.ts';

const silent = createLogger({ service: 'gateway', level: 'silent' });
// With the default limit, a busy machine could make a bucket count locally.
const PATIENT = { commandTimeoutMs: 30_000 };

async function countAllowed(bucket: Bucket, attempts: number, key = 'k'): Promise<number> {
  const quotas = await Promise.all(Array.from({ length: attempts }, () => bucket.take(key)));
  return quotas.filter(({ allowed }) => allowed).length;
}

async function countCommands(client: RedisConnection['client']): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
}

describe.each([
  ['one by one', createBucket],
  ['by shares', createLeasingBucket],
])('a bucket that counts %s', (_, create) => {
  test.each([1, 3, 99, 250, 1_050])('allows exactly its limit of %i', async (perMinute) => {
    expect(await countAllowed(create({ name: 'b', perMinute, redis: null }), perMinute + 50)).toBe(perMinute);
  });

  test('counts keys separately and reports what is left', async () => {
    const bucket = create({ name: 'b', perMinute: 400, redis: null });
    expect((await bucket.take('one')).remaining).toBe(399);
    expect((await bucket.take('one')).remaining).toBe(398);
    const other = await bucket.take('other');
    expect(other.remaining).toBe(399);
    expect(other.resetSeconds).toBeGreaterThan(0);
    expect(other.resetSeconds).toBeLessThanOrEqual(60);
  });
});

describeWithRedis('buckets of several gateways', () => {
  test('never allow more than the limit in total, and waste at most one lease each', async () => {
    await using server = await createTestRedis();
    await using one = openRedis(server.url, silent, PATIENT);
    await using two = openRedis(server.url, silent, PATIENT);
    await eventually(() => one.isReady() && two.isReady());
    const options = { name: 'shared', perMinute: 1_000 };
    const buckets = [one, two].map((redis) => createLeasingBucket({ ...options, redis }));
    const allowed = await Promise.all(buckets.map((bucket) => countAllowed(bucket, 900)));
    const together = allowed.reduce((sum, count) => sum + count, 0);
    expect(together).toBeLessThanOrEqual(1_000);
    expect(together).toBeGreaterThanOrEqual(980);
  });

  test.each([
    ['one by one', createBucket, 3],
    ['by shares', createLeasingBucket, 1_000],
  ])('refuse a caller over the limit without a call to Redis (%s)', async (_, create, perMinute) => {
    await using server = await createTestRedis();
    await using redis = openRedis(server.url, silent, PATIENT);
    await eventually(() => redis.isReady());
    const bucket = create({ name: 'b', perMinute, redis });
    expect(await countAllowed(bucket, perMinute + 1)).toBe(perMinute);
    const before = await countCommands(redis.client);
    expect(await countAllowed(bucket, 50)).toBe(0);
    // INFO itself counts as a command.
    expect(await countCommands(redis.client)).toBe(before + 1);
    // Other keys still need a call.
    expect((await bucket.take('other')).allowed).toBe(true);
  });

  test('count locally when Redis is unavailable', async () => {
    await using server = await createTestRedis();
    await using redis = openRedis(server.url, silent, PATIENT);
    await eventually(() => redis.isReady());
    const bucket = createLeasingBucket({ name: 'b', perMinute: 5, redis });
    await server.stop();
    expect(await countAllowed(bucket, 10)).toBe(5);
  });
});
