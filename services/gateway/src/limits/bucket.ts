import type { RedisConnection } from '@phds/service-kit/redis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

const WINDOW_SECONDS = 60;

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

export function createBucket({ name, perMinute, redis }: BucketOptions): Bucket {
  const local = new RateLimiterMemory({ keyPrefix: name, points: perMinute, duration: WINDOW_SECONDS });
  const limiter =
    redis === null
      ? local
      : new RateLimiterRedis({
          storeClient: redis.client,
          keyPrefix: `phds:limit:${name}`,
          points: perMinute,
          duration: WINDOW_SECONDS,
          rejectIfRedisNotReady: true,
          insuranceLimiter: local,
        });
  return {
    perMinute,
    take: (key) =>
      limiter.consume(key).then(
        (state) => toQuota(state, true),
        (state: unknown) => {
          if (state instanceof RateLimiterRes) return toQuota(state, false);
          throw state;
        },
      ),
  };
}

function toQuota(state: RateLimiterRes, allowed: boolean): Quota {
  return {
    allowed,
    remaining: state.remainingPoints,
    resetSeconds: Math.max(1, Math.ceil(state.msBeforeNext / 1000)),
  };
}
