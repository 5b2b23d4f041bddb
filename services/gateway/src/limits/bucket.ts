import type { RedisConnection } from '@phds/service-kit/redis';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

const WINDOW_SECONDS = 60;
const SHARES = 100;
/** At most this many keys in each bucket. As a size, because a maximum number allocates the memory for all of them at once. */
const KEYS = { maxSize: 100_000, sizeCalculation: () => 1 };

/** The state of a bucket after a request was counted. */
interface Quota {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Seconds until the bucket is full again; at least 1. */
  readonly resetSeconds: number;
}

/** Allows a number of points a minute for each key. */
export interface Bucket {
  readonly perMinute: number;
  /** Takes the points of a request, by default one; allowed if so many were left. */
  take(key: string, points?: number): Promise<Quota>;
}

export interface BucketOptions {
  readonly name: string;
  readonly perMinute: number;
  /** Shared by all gateways. When null or unavailable, this process counts by itself. */
  readonly redis: RedisConnection | null;
  /** Receives the name for each refused request. */
  readonly onRefused?: ((name: string) => void) | undefined;
}

/** Points taken from Redis for a key and not yet used. */
interface Lease {
  left: number;
  /** Points left in Redis after this lease. */
  readonly beyond: number;
  /** `performance.now()` at the end of the window. */
  readonly endsAt: number;
}

/** A bucket that can also report whether it is empty, without taking anything. */
export interface CountingBucket extends Bucket {
  /** Seconds until the bucket is full again if this process knows that it is empty, else null. */
  findEmptyFor(key: string): number | null;
}

/** A bucket that counts each request separately. */
export function createBucket(options: BucketOptions): CountingBucket {
  const { perMinute } = options;
  const meter = new Meter(options);
  return {
    perMinute,
    take: async (key, points = 1) => toQuota(await meter.consume(key, points), points),
    findEmptyFor: (key) => {
      const until = meter.findExhausted(key);
      return until === null ? null : toSeconds(until - performance.now());
    },
  };
}

/**
 * A bucket that takes 1% of the limit from Redis at once, so that most requests need no call. The total over all gateways never
 * exceeds the limit. Points that a gateway leases but does not use within the window, at most that 1%, are lost.
 */
export function createLeasingBucket(options: BucketOptions): Bucket {
  const { perMinute } = options;
  const share = Math.floor(perMinute / SHARES);
  if (share < 2) return createBucket(options);
  const meter = new Meter(options);
  const leases = new LRUCache<string, Lease>(KEYS);
  // Concurrent requests for a key share one call to Redis.
  const asking = new Map<string, Promise<Quota | null>>();
  /** Null when a lease is now available. */
  const ask = async (key: string, points: number): Promise<Quota | null> => {
    const taken = await meter.consume(key, Math.max(share, points));
    const left = leftOf(leases.get(key)) + taken.granted;
    if (taken.granted === 0) return { ...toQuota(taken), remaining: left };
    leases.set(key, { left, beyond: taken.remaining, endsAt: taken.endsAt });
    return null;
  };
  const take = async (key: string, points = 1): Promise<Quota> => {
    const leased = takeFrom(leases.get(key), points);
    if (leased !== null) return leased;
    let asked = asking.get(key);
    if (asked === undefined) {
      asked = ask(key, points).finally(() => asking.delete(key));
      asking.set(key, asked);
    }
    return (await asked) ?? take(key, points);
  };
  return { perMinute, take };
}

function leftOf(lease: Lease | undefined): number {
  return lease !== undefined && performance.now() < lease.endsAt ? lease.left : 0;
}

function takeFrom(lease: Lease | undefined, points: number): Quota | null {
  if (lease === undefined || leftOf(lease) < points) return null;
  lease.left -= points;
  const { left, beyond, endsAt } = lease;
  return { allowed: true, remaining: left + beyond, resetSeconds: toSeconds(endsAt - performance.now()) };
}

/** The result of taking points. */
interface Taken {
  readonly granted: number;
  readonly remaining: number;
  /** `performance.now()` at the end of the window. */
  readonly endsAt: number;
}

/**
 * Counts points for each key. Keys without points are remembered until their window ends, so that a caller over the limit is
 * refused without a call to Redis.
 */
class Meter {
  readonly #limiter: RateLimiterMemory | RateLimiterRedis;
  readonly #perMinute: number;
  /** Key to `performance.now()` at the end of its window. */
  readonly #exhausted = new LRUCache<string, number>(KEYS);

  constructor({ name, perMinute, redis }: BucketOptions) {
    this.#limiter = createLimiter(name, perMinute, redis);
    this.#perMinute = perMinute;
  }

  /** The end of the key's window (`performance.now()`) if the key is known to have no points left, else null. */
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

  /** The limiter's state after taking. The library throws it when there were not enough points. */
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

function toQuota({ granted, remaining, endsAt }: Taken, points = 1): Quota {
  return { allowed: granted >= points, remaining, resetSeconds: toSeconds(endsAt - performance.now()) };
}

function toSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
