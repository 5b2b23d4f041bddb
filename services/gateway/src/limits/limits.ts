import type { Config } from '../config.ts';
import type { BucketOptions } from './bucket.ts';
import { EnvironmentLimits } from './environment-limits.ts';
import { FailedAuthentications } from './failed-authentications.ts';
import { KnownClients } from './known-clients.ts';
import { createNetworkNames } from './network-names.ts';
import { RequestLimits } from './request-limits.ts';
import { SurfaceLimits } from './surface-limits.ts';

/** All limits of the gateway, by its settings. */
export function createLimits(config: Config, limited: Pick<BucketOptions, 'redis' | 'onRefused'>) {
  return {
    knownClients: new KnownClients(),
    failures: new FailedAuthentications({ ...limited, perMinute: config.LIMIT_AUTH_FAILURES_PER_MINUTE }),
    networkOf: createNetworkNames(config.SERVICE_PRIVATE_KEY),
    limits: new EnvironmentLimits({
      live: new RequestLimits({
        ...limited,
        appUserPerMinute: config.LIMIT_APP_USER_PER_MINUTE,
        userAllAppsPerMinute: config.LIMIT_USER_ALL_APPS_PER_MINUTE,
        appPerMinute: config.LIMIT_APP_PER_MINUTE,
      }),
      sandbox: new RequestLimits({
        ...limited,
        appUserPerMinute: config.LIMIT_SANDBOX_APP_USER_PER_MINUTE,
        // A sandbox person has one app.
        userAllAppsPerMinute: config.LIMIT_SANDBOX_APP_USER_PER_MINUTE,
        appPerMinute: config.LIMIT_SANDBOX_APP_PER_MINUTE,
      }),
    }),
    surfaceLimits: new SurfaceLimits(config, limited),
  };
}
