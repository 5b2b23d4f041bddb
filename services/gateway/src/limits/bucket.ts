import type { RedisConnection } from '@phds/service-kit/redis';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

const WINDOW_SECONDS = 60;
const SHARES = 100;
/** Keys remembered in each bucket. */
const MAX_KEYS = 100_000;

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

/** A bucket that also tells, without taking anything, whether it is empty. */
export interface CountingBucket extends Bucket {
  /** Seconds until the bucket is full again when this process knows that it is empty, else null. */
  findEmptyFor(key: string): number | null;
}

/** A bucket that counts one by one. */
export function createBucket(options: BucketOptions): CountingBucket {
  const { perMinute } = options;
  const meter = new Meter(options);
  return {
    perMinute,
    take: async (key) => toQuota(await meter.consume(key, 1)),
    findEmptyFor: (key) => {
      const until = meter.findExhausted(key);
      return until === null ? null : toSeconds(until - performance.now());
    },
  };
}

/**
 * A bucket that takes a hundredth of the limit at once, so that most requests need not ask Redis. Never lets through more than the
 * limit over all gateways; what a gateway took and did not use by the end of the window, at most that hundredth, is lost.
 */
export function createLeasingBucket(options: BucketOptions): Bucket {
  const { perMinute } = options;
  const share = Math.floor(perMinute / SHARES);
  if (share < 2) return createBucket(options);
  const meter = new Meter(options);
  const leases = new LRUCache<string, Lease>({ max: MAX_KEYS });
  // Whoever comes while Redis is being asked about a key waits for that one answer.
  const asking = new Map<string, Promise<Quota | null>>();
  /** Null: there is a lease now. */
  const ask = async (key: string): Promise<Quota | null> => {
    const taken = await meter.consume(key, share);
    if (taken.granted === 0) return toQuota(taken);
    leases.set(key, { left: taken.granted, beyond: taken.remaining, endsAt: taken.endsAt });
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

/** What was got of the points that were asked for. */
interface Taken {
  readonly granted: number;
  readonly remaining: number;
  /** `performance.now()` at the end of the window. */
  readonly endsAt: number;
}

/**
 * Counts points for each key. Remembers which keys have no points left until their window ends: a caller over the limit is refused
 * from memory and costs no call to Redis.
 */
class Meter {
  readonly #limiter: RateLimiterMemory | RateLimiterRedis;
  readonly #perMinute: number;
  /** Key to `performance.now()` at the end of its window. */
  readonly #exhausted = new LRUCache<string, number>({ max: MAX_KEYS });

  constructor({ name, perMinute, redis }: BucketOptions) {
    this.#limiter = createLimiter(name, perMinute, redis);
    this.#perMinute = perMinute;
  }

  /** The end of the key's window (`performance.now()`) when it is known to have no points left, else null. */
  findExhausted(key: string): number | null {
    const until = this.#exhausted.get(key);
    return until !== undefined && performance.now() < until ? until : null;
  }

  async consume(key: string, points: number): Promise<Taken> {
    const exhaustedUntil = this.findExhausted(key);
    if (exhaustedUntil !== null) return { granted: 0, remaining: 0, endsAt: exhaustedUntil };
    const { consumedPoints, remainingPoints, msBeforeNext } = await this.#ask(key, points);
    const endsAt = performance.now() + msBeforeNext;
    if (consumedPoints >= this.#perMinute) this.#exhausted.set(key, endsAt);
    const before = consumedPoints - points;
    const granted = Math.max(0, Math.min(points, this.#perMinute - before));
    return { granted, remaining: remainingPoints, endsAt };
  }

  /** The state after taking, whether or not that was more than there was. */
  async #ask(key: string, points: number): Promise<RateLimiterRes> {
    try {
      return await this.#limiter.consume(key, points);
    } catch (state) {
      if (state instanceof RateLimiterRes) return state;
      throw state;
    }
  }
}

function createLimiter(name: string, points: number, redis: RedisConnection | null) {
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

function toQuota({ granted, remaining, endsAt }: Taken): Quota {
  return { allowed: granted > 0, remaining, resetSeconds: toSeconds(endsAt - performance.now()) };
}

function toSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
