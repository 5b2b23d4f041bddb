import type { RedisConnection } from '@phds/service-kit/redis';
import { type Allowance, Limit } from './limit.ts';

export interface RequestLimitsOptions {
  readonly redis: RedisConnection | null;
  readonly appUserPerMinute: number;
  readonly appPerMinute: number;
}

/** Limits of authenticated requests: per app and user, and per app (contract section 6). Never by address. */
export class RequestLimits {
  readonly #appUser: Limit;
  readonly #app: Limit;

  constructor({ redis, appUserPerMinute, appPerMinute }: RequestLimitsOptions) {
    this.#appUser = new Limit({ name: 'app-user', perMinute: appUserPerMinute, redis });
    this.#app = new Limit({ name: 'app', perMinute: appPerMinute, redis });
  }

  /**
   * Takes one request from the bucket of the app and user, and then from the app's. A request that the first refuses takes nothing from
   * the second, so that one user, or one leaked token, cannot use up what the app has for all of its users. The answer names the app's
   * bucket only when that is the empty one.
   */
  async take(clientId: string, userId: string): Promise<Allowance> {
    const appUser = await this.#appUser.take(`${clientId}:${userId}`);
    if (!appUser.allowed) return appUser;
    const app = await this.#app.take(clientId);
    return app.allowed ? appUser : app;
  }
}
