import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { ReplacedSecret } from '../app/app-ports.ts';
import { toAppLockMessage, toAppStatusMessage } from '../clients/consent-messages.ts';
import type { App } from '../domain/app.ts';

/** The secret before the current one, while it still works. */
export function toPreviousSecret({ previousSecretLast4, previousSecretExpiresAt }: ReplacedSecret) {
  return {
    previousSecretLast4,
    ...(previousSecretExpiresAt !== null && {
      previousSecretExpiresAt: timestampFromDate(previousSecretExpiresAt),
    }),
  };
}

export function toAppMessage(app: App) {
  return {
    clientId: app.clientId,
    secretLast4: app.secretLast4,
    ...toPreviousSecret(app),
    name: app.name,
    redirectUris: [...app.redirectUris],
    scopes: [...app.scopes],
    description: app.description,
    developerName: app.developerName,
    homepageUrl: app.homepageUrl,
    privacyPolicyUrl: app.privacyPolicyUrl,
    logoUrl: app.logoUrl,
    requirePkce: app.requirePkce,
    status: toAppStatusMessage(app.status),
    ...(app.lock !== null && { lock: toAppLockMessage(app.lock) }),
    createdAt: timestampFromDate(app.createdAt),
    updatedAt: timestampFromDate(app.updatedAt),
  };
}
