import type { RedisConnection } from '@phds/service-kit/redis';
import { type Bucket, createLeasingBucket, type Quota } from './bucket.ts';

/** What an authenticated request finds in its buckets, as the fields of the IETF draft say it. */
export interface Allowance {
  readonly allowed: boolean;
  /** Value of `RateLimit-Policy`. */
  readonly policy: string;
  /** Value of `RateLimit`. */
  readonly state: string;
  readonly retryAfterSeconds: number;
}

export interface RequestLimitsOptions {
  readonly redis: RedisConnection | null;
  readonly appUserPerMinute: number;
  readonly appPerMinute: number;
}

/** Limits of authenticated requests: per app and user, and per app (contract section 6). Never by address. */
export class RequestLimits {
  readonly #appUser: Bucket;
  readonly #app: Bucket;
  readonly #appUserPolicy: string;
  readonly #appPolicy: string;

  constructor({ redis, appUserPerMinute, appPerMinute }: RequestLimitsOptions) {
    this.#appUser = createLeasingBucket({ name: 'app-user', perMinute: appUserPerMinute, redis });
    this.#app = createLeasingBucket({ name: 'app', perMinute: appPerMinute, redis });
    this.#appUserPolicy = `"app-user";q=${appUserPerMinute};w=60`;
    this.#appPolicy = `"app";q=${appPerMinute};w=60`;
  }

  /**
   * Takes one request from the bucket of the app and user, and then from the app's. A request that the first refuses takes nothing from
   * the second, so that one user, or one leaked token, cannot use up what the app has for all of its users. The answer names the app's
   * bucket only when that is the empty one.
   */
  async take(clientId: string, userId: string): Promise<Allowance> {
    const appUser = await this.#appUser.take(`${clientId}:${userId}`);
    if (appUser.allowed) {
      const app = await this.#app.take(clientId);
      if (!app.allowed) return toAllowance('app', this.#appPolicy, app);
    }
    return toAllowance('app-user', this.#appUserPolicy, appUser);
  }
}

function toAllowance(name: string, policy: string, quota: Quota): Allowance {
  return {
    allowed: quota.allowed,
    policy,
    state: `"${name}";r=${quota.remaining};t=${quota.resetSeconds}`,
    retryAfterSeconds: quota.resetSeconds,
  };
}
