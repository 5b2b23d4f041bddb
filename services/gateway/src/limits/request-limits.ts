import type { RedisConnection } from '@phds/service-kit/redis';
import { type Allowance, Limit } from './limit.ts';

export interface RequestLimitsOptions {
  readonly redis: RedisConnection | null;
  readonly appUserPerMinute: number;
  readonly userAllAppsPerMinute: number;
  readonly appPerMinute: number;
}

/**
 * Limits of authenticated requests: per app and user, per user over all apps, and per app (contract section 6). Never by address. Without
 * the second limit, one person with many apps could take the service from everybody else.
 */
export class RequestLimits {
  readonly #appUser: Limit;
  readonly #userAllApps: Limit;
  readonly #app: Limit;

  constructor({ redis, appUserPerMinute, userAllAppsPerMinute, appPerMinute }: RequestLimitsOptions) {
    this.#appUser = new Limit({ name: 'app-user', perMinute: appUserPerMinute, redis });
    this.#userAllApps = new Limit({ name: 'user-all-apps', perMinute: userAllAppsPerMinute, redis });
    this.#app = new Limit({ name: 'app', perMinute: appPerMinute, redis });
  }

  /**
   * Takes one request from the bucket of the app and user, then from the user's, then from the app's. A request that one refuses takes
   * nothing from the next, so that one app cannot use up what a user has for all apps, and one user, or one leaked token, cannot use up
   * what an app has for all of its users. The answer names the bucket of the app and user, or the one that is empty. `userId` is empty
   * for a userless token, which has no user's bucket.
   */
  async take(clientId: string, userId: string): Promise<Allowance> {
    const appUser = await this.#appUser.take(`${clientId}:${userId}`);
    if (!appUser.allowed) return appUser;
    if (userId !== '') {
      const userAllApps = await this.#userAllApps.take(userId);
      if (!userAllApps.allowed) return userAllApps;
    }
    const app = await this.#app.take(clientId);
    return app.allowed ? appUser : app;
  }
}
