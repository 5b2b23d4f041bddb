import type { BucketOptions } from './bucket.ts';
import { type Allowance, Limit } from './limit.ts';

export interface RequestLimitsOptions extends Pick<BucketOptions, 'redis' | 'onRefused'> {
  readonly appUserPerMinute: number;
  readonly userAllAppsPerMinute: number;
  readonly appPerMinute: number;
}

/**
 * Limits of authenticated data requests: for each app and user, for each user over all apps, and for each app.
 * Never by address. The second limit keeps one person with many apps from using up the service.
 */
export class RequestLimits {
  readonly #appUser: Limit;
  readonly #userAllApps: Limit;
  readonly #app: Limit;

  constructor({ appUserPerMinute, userAllAppsPerMinute, appPerMinute, ...shared }: RequestLimitsOptions) {
    this.#appUser = new Limit({ name: 'app-user', perMinute: appUserPerMinute, ...shared });
    this.#userAllApps = new Limit({ name: 'user-all-apps', perMinute: userAllAppsPerMinute, ...shared });
    this.#app = new Limit({ name: 'app', perMinute: appPerMinute, ...shared });
  }

  /**
   * Counts one request against the app-and-user limit, then the user's, then the app's. A limit that refuses stops the sequence:
   * one app cannot use up a user's limit over all apps, and one user or leaked token cannot use up the app's limit. Returns the
   * state of the app-and-user limit, or of the limit that refused. `userId` is empty for a userless token, which skips the user's
   * limit.
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
