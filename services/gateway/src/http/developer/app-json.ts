import { ENVIRONMENTS, environmentOf } from '@phds/catalog/sandbox';
import { APP_LOCK_KINDS, APP_STATUSES } from '@phds/catalog/wire-names';
import type { App } from '@phds/contracts/phds/authorization/v1/apps_pb';
import type { AppLock } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { z } from 'zod';
import { appLockKindName, appStatusName } from '../consent-names.ts';
import { instant, instantOrNull, scope, text } from '../openapi/fields.ts';
import { toInstant, toNullable } from '../timestamps.ts';

const textOrNull = text.nullable();

const previousSecret = {
  previousSecretLast4: textOrNull.meta({ description: 'Of the secret before, while it still works.' }),
  previousSecretExpiresAt: instantOrNull,
};

const lockJson = z
  .object({
    kind: z.enum(APP_LOCK_KINDS).meta({
      description: '`suspension`: an operator suspended the app. `approval`: it waits for an approval.',
    }),
    reason: textOrNull.meta({ description: 'Of a suspension, in the words of the operator.' }),
    since: instant,
  })
  .nullable()
  .meta({
    description: 'While it is not null, the app cannot be `active`, and only an operator changes that.',
  });

export const appJson = z
  .object({
    clientId: text,
    environment: z.enum(ENVIRONMENTS),
    secretLast4: text,
    ...previousSecret,
    name: text,
    redirectUris: z.array(text),
    scopes: z.array(scope),
    description: textOrNull,
    developerName: textOrNull,
    homepageUrl: textOrNull,
    privacyPolicyUrl: textOrNull,
    logoUrl: textOrNull,
    requirePkce: z.boolean(),
    status: z.enum(APP_STATUSES),
    lock: lockJson,
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'App' });

const clientSecret = text.meta({ description: 'Shown once, here.' });

export const newAppJson = appJson.extend({ clientSecret }).meta({ id: 'NewApp' });

export const rotatedSecretJson = z.object({
  clientId: text,
  clientSecret,
  secretLast4: text,
  ...previousSecret,
  rotatedAt: instant,
});

export const changedStatusJson = z.object({
  clientId: text,
  status: z.enum(APP_STATUSES),
  statusChangedAt: instant,
});

/** The secret before the current one; nulls when it no longer works. */
export function toPreviousSecretJson({
  previousSecretLast4,
  previousSecretExpiresAt,
}: Pick<App, 'previousSecretLast4'> & { readonly previousSecretExpiresAt?: App['previousSecretExpiresAt'] }) {
  return {
    previousSecretLast4: toNullable(previousSecretLast4),
    previousSecretExpiresAt: toInstant(previousSecretExpiresAt),
  };
}

/** An app as its developer sees it, without the secret. */
export function toAppJson(app: App): z.infer<typeof appJson> {
  return {
    clientId: app.clientId,
    environment: environmentOf(app.clientId),
    secretLast4: app.secretLast4,
    ...toPreviousSecretJson(app),
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
    lock: app.lock === undefined ? null : toLockJson(app.lock),
    createdAt: toInstant(app.createdAt),
    updatedAt: toInstant(app.updatedAt),
  };
}

function toLockJson({ kind, reason, since }: AppLock): z.infer<typeof lockJson> {
  return { kind: appLockKindName(kind), reason: toNullable(reason), since: toInstant(since) };
}

/** A new app including its secret, which is shown only once. */
export function toNewAppJson(app: App, clientSecret: string): z.infer<typeof newAppJson> {
  const { clientId, ...rest } = toAppJson(app);
  return { clientId, clientSecret, ...rest };
}
