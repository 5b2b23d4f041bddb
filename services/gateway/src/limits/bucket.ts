import type { RedisConnection } from '@phds/service-kit/redis';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

const WINDOW_SECONDS = 60;
const SHARES = 100;
const MAX_LEASES = 100_000;

/** How a bucket stands after something was taken from it. */
export interface Quota {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Seconds until the bucket is full again; at least 1. */
  readonly resetSeconds: number;
}

/** So much a minute for each key. */
export interface Bucket {
  readonly perMinute: number;
  take(key: string): Promise<Quota>;
}

export interface BucketOptions {
  readonly name: string;
  readonly perMinute: number;
  /** Shared by all gateways; null or away: this process counts for itself. */
  readonly redis: RedisConnection | null;
}

/** What was taken from Redis for a key and is not used up yet. */
interface Lease {
  left: number;
  /** What Redis had left after it. */
  readonly beyond: number;
  /** `performance.now()` at the end of the window. */
  readonly endsAt: number;
}

/** A bucket that counts one by one. */
export function createBucket({ name, perMinute, redis }: BucketOptions): Bucket {
  const limiter = createLimiter(name, perMinute, redis);
  return { perMinute, take: async (key) => toQuota(await consume(limiter, key, 1), perMinute) };
}

/**
 * A bucket that takes a hundredth of the limit at once, so that most requests need not ask Redis. Never lets through more than the
 * limit over all gateways; what a gateway took and did not use by the end of the window, at most that hundredth, is lost.
 */
export function createLeasingBucket(options: BucketOptions): Bucket {
  const { perMinute } = options;
  const share = Math.floor(perMinute / SHARES);
  if (share < 2) return createBucket(options);
  const limiter = createLimiter(options.name, perMinute, options.redis);
  const leases = new LRUCache<string, Lease>({ max: MAX_LEASES });
  // Whoever comes while Redis is being asked about a key waits for that one answer.
  const asking = new Map<string, Promise<Quota | null>>();
  /** Null: there is a lease now. */
  const ask = async (key: string): Promise<Quota | null> => {
    const state = await consume(limiter, key, share);
    const left = Math.min(share, perMinute - (state.consumedPoints - share));
    if (left <= 0) return toQuota(state, perMinute);
    leases.set(key, { left, beyond: state.remainingPoints, endsAt: performance.now() + state.msBeforeNext });
    return null;
  };
  const take = async (key: string): Promise<Quota> => {
    const leased = takeFrom(leases.get(key));
    if (leased !== null) return leased;
    let asked = asking.get(key);
    if (asked === undefined) {
      asked = ask(key).finally(() => asking.delete(key));
      asking.set(key, asked);
    }
    return (await asked) ?? take(key);
  };
  return { perMinute, take };
}

function takeFrom(lease: Lease | undefined): Quota | null {
  const now = performance.now();
  if (lease === undefined || lease.left === 0 || now >= lease.endsAt) return null;
  lease.left -= 1;
  const { left, beyond, endsAt } = lease;
  return { allowed: true, remaining: left + beyond, resetSeconds: toSeconds(endsAt - now) };
}

type Limiter = RateLimiterMemory | RateLimiterRedis;

function createLimiter(name: string, points: number, redis: RedisConnection | null): Limiter {
  const local = new RateLimiterMemory({ keyPrefix: name, points, duration: WINDOW_SECONDS });
  if (redis === null) return local;
  return new RateLimiterRedis({
    storeClient: redis.client,
    keyPrefix: `phds:limit:${name}`,
    points,
    duration: WINDOW_SECONDS,
    rejectIfRedisNotReady: true,
    insuranceLimiter: local,
  });
}

/** The state after taking, whether or not that was more than there was. */
async function consume(limiter: Limiter, key: string, points: number): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(key, points);
  } catch (state) {
    if (state instanceof RateLimiterRes) return state;
    throw state;
  }
}

function toQuota(state: RateLimiterRes, perMinute: number): Quota {
  return {
    allowed: state.consumedPoints <= perMinute,
    remaining: state.remainingPoints,
    resetSeconds: toSeconds(state.msBeforeNext),
  };
}

function toSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
