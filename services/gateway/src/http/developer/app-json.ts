import { environmentOf } from '@phds/catalog/sandbox';
import type { App } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { appStatusName } from '../consent-names.ts';
import { toInstant, toNullable } from '../timestamps.ts';

/** An app as its developer sees it (contract section 4), without the secret. */
export function toAppJson(app: App) {
  return {
    clientId: app.clientId,
    environment: environmentOf(app.clientId),
    secretLast4: app.secretLast4,
    name: app.name,
    redirectUris: app.redirectUris,
    scopes: app.scopes,
    description: toNullable(app.description),
    developerName: toNullable(app.developerName),
    homepageUrl: toNullable(app.homepageUrl),
    privacyPolicyUrl: toNullable(app.privacyPolicyUrl),
    logoUrl: toNullable(app.logoUrl),
    requirePkce: app.requirePkce,
    status: appStatusName(app.status),
    createdAt: toInstant(app.createdAt),
    updatedAt: toInstant(app.updatedAt),
  };
}

/** A new app including its secret, which is shown only once. */
export function toNewAppJson(app: App, clientSecret: string) {
  const { clientId, ...rest } = toAppJson(app);
  return { clientId, clientSecret, ...rest };
}
