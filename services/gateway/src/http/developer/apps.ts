import type { MessageInitShape } from '@bufbuild/protobuf';
import { APP_LOCK_KINDS, APP_STATUSES } from '@phds/catalog/wire-names';
import type { App, AppSettingsSchema } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { z } from 'zod';
import {
  appLockKindName,
  appStatusName,
  required,
  toAppStatus,
  toInstant,
  toJson,
  toNullable,
} from '../messages.ts';
import {
  dataOf,
  instant,
  instantOrNull,
  listOf,
  PAGE_QUERY,
  profileFields,
  profileTexts,
  scope,
  text,
  textOrNull,
} from '../openapi/fields.ts';
import { jsonOperation, type MountedOperation } from '../operation.ts';
import { toList } from '../query.ts';

// Checks the JSON shape only. Authorization validates names, URLs and scopes.
const wellFormed = z
  .string('must be a text')
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode');
const texts = z.array(wellFormed, 'must be a list of texts').min(1, 'must name at least one');
/** Null and the empty string both clear the value. */
const optionalText = wellFormed.nullable().optional();

const KEY_PLACE =
  'https URL of such a set, which the service fetches in the background (RFC 7591). It replaces `jwks` when it was fetched for the first ' +
  'time; null clears both. Setting `jwks` clears it.';

const flag = z.boolean('must be true or false').optional();

const TYPES = ['server', 'public'] as const;
const TYPE =
  '`server`: with a secret or a key. `public`: on a device or in a page, without one; it needs PKCE. Never changes.';
const AUTH_METHODS = ['client_secret_basic', 'private_key_jwt', 'none'] as const;
const AUTH_METHOD =
  '`client_secret_basic`: the secret, in HTTP Basic or in the body, and the keys as well if there are any. `private_key_jwt`: the keys ' +
  'alone (RFC 7523); setting it ends the secret at once. `none`: public apps.';
const BOUND = 'Whether the app gets no token without a DPoP proof (RFC 9449).';
const PUSHED = 'Whether the app has to push its authorization requests (RFC 9126).';

const optionalSettings = {
  scopes: texts.optional(),
  ...profileFields(optionalText),
  requirePkce: flag,
  tokenEndpointAuthMethod: z
    .enum(AUTH_METHODS, `must be one of ${AUTH_METHODS.join(', ')}`)
    .optional()
    .meta({ description: AUTH_METHOD }),
  jwks: z
    .looseObject({ keys: z.array(z.looseObject({})) }, 'must be an object with a list `keys`')
    .nullable()
    .optional()
    .meta({
      description:
        'Public keys (JSON Web Key Set, RFC 7517): 1 to 5 of EC P-256 or P-384, Ed25519 or RSA of 2048 to 4096 bits, each of several with a `kid` of its own. Null clears them.',
    }),
  jwksUri: optionalText.meta({ description: KEY_PLACE }),
  dpopBoundAccessTokens: flag.meta({ description: BOUND }),
  requirePushedAuthorizationRequests: flag.meta({ description: PUSHED }),
};

/** Body of a registration. */
const registrationBody = z.strictObject({
  name: wellFormed,
  redirectUris: texts,
  applicationType: z
    .enum(TYPES, `must be one of ${TYPES.join(', ')}`)
    .optional()
    .meta({ description: `${TYPE} \`server\` if absent.` }),
  ...optionalSettings,
});

/** Body of a change. Absent fields keep their value. */
const changeBody = z.strictObject({
  name: wellFormed.optional(),
  redirectUris: texts.optional(),
  ...optionalSettings,
});

const statusBody = z.strictObject({
  status: z.enum(APP_STATUSES, `must be one of ${APP_STATUSES.join(', ')}`),
});

/** Converts a change to the settings message of authorization. */
function toAppSettings(body: z.infer<typeof changeBody>): MessageInitShape<typeof AppSettingsSchema> {
  const { jwks, ...others } = body;
  const entries = Object.entries(others).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(entries.map(([name, value]) => [name, value ?? ''])),
    ...(jwks !== undefined && { jwks: jwks === null ? '' : JSON.stringify(jwks) }),
  };
}

/** Refuses what would be ignored. */
const noSettings = z.strictObject({});

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

const appJson = z
  .object({
    clientId: text,
    secretLast4: text.meta({ description: 'Empty while the app has no secret.' }),
    name: text,
    redirectUris: z.array(text),
    scopes: z.array(scope),
    ...profileTexts,
    requirePkce: z.boolean(),
    tokenEndpointAuthMethod: z.enum(AUTH_METHODS).meta({ description: AUTH_METHOD }),
    jwks: z
      .object({ keys: z.array(z.looseObject({})) })
      .nullable()
      .meta({ description: 'The public keys, registered or last fetched.' }),
    jwksUri: textOrNull,
    jwksFetchedAt: instantOrNull.meta({
      description:
        'When `jwks` was last fetched from `jwksUri`, or was to be replaced by it. A day later it is not used any more.',
    }),
    jwksFailure: textOrNull.meta({
      description: 'Why the last attempt to fetch `jwksUri` failed, or that there was none yet.',
    }),
    dpopBoundAccessTokens: z.boolean().meta({ description: BOUND }),
    requirePushedAuthorizationRequests: z.boolean().meta({ description: PUSHED }),
    applicationType: z.enum(TYPES).meta({ description: TYPE }),
    status: z.enum(APP_STATUSES),
    lock: lockJson,
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'App' });

const clientSecret = text.meta({ description: 'Shown once, here.' });

const newAppJson = appJson
  .extend({
    clientSecret: textOrNull.meta({ description: 'Shown once, here. Null for apps without a secret.' }),
  })
  .meta({ id: 'NewApp' });

const rotatedSecretJson = z.object({
  clientId: text,
  clientSecret,
  secretLast4: text,
  rotatedAt: instant,
});

const changedStatusJson = z.object({
  clientId: text,
  status: z.enum(APP_STATUSES),
  statusChangedAt: instant,
});

function findOf<Choice extends string>(choices: readonly [Choice, ...Choice[]], name: string): Choice {
  return choices.find((choice) => choice === name) ?? choices[0];
}

/** An app as its developer sees it, without the secret. */
function toAppJson(app: App): z.infer<typeof appJson> {
  const { jwks, status, lock } = app;
  return toJson(appJson, {
    ...app,
    tokenEndpointAuthMethod: findOf(AUTH_METHODS, app.tokenEndpointAuthMethod),
    applicationType: findOf(TYPES, app.applicationType),
    jwks: jwks === '' ? null : JSON.parse(jwks),
    status: appStatusName(status),
    lock: lock && { ...lock, kind: appLockKindName(lock.kind) },
  });
}

const APPS = '/developer/apps';
const APP = `${APPS}/:clientId`;

/** The apps of a developer. Authorization answers NOT_FOUND for those of others. */
export const APP_OPERATIONS: readonly MountedOperation[] = [
  jsonOperation({
    method: 'GET',
    path: APPS,
    operationId: 'listApps',
    summary: 'List own apps',
    query: PAGE_QUERY,
    answer: {
      description: 'The apps, newest first, and whether you may register others.',
      body: listOf(appJson).extend({
        mayRegister: z.boolean(),
        sandbox: z.boolean().meta({ description: 'Whether this deployment is a sandbox.' }),
      }),
    },
    handle: async ({ exchange, backends, caller, query }) => {
      query.check();
      const { apps, total, registrationRefused } = await backends.apps.listApps({ page: query.page }, caller);
      const { SANDBOX: sandbox } = exchange.gateway.config;
      return {
        ...toList(apps.map(toAppJson), query.page, total),
        mayRegister: !registrationRefused,
        sandbox,
      };
    },
  }),
  jsonOperation({
    method: 'POST',
    path: APPS,
    operationId: 'registerApp',
    summary: 'Register an app',
    description:
      'Where apps need an approval, a new one is `suspended` with a `lock` of the kind `approval` until an operator approves it.',
    securityEvent: 'registration',
    cost: 30,
    body: { schema: registrationBody },
    status: 201,
    answer: { description: 'The app with its secret.', body: dataOf(newAppJson), headers: ['Location'] },
    errors: ['CONFLICT', 'NOT_A_DEVELOPER'],
    handle: async ({ exchange, backends, caller, body: { applicationType, ...settings } }) => {
      const { app, clientSecret: secret } = await backends.apps.registerApp(
        { settings: toAppSettings(settings), applicationType: applicationType ?? '' },
        caller,
      );
      const { clientId, ...rest } = toAppJson(required(app));
      exchange.response.setHeader('Location', `${APPS}/${clientId}`);
      return { data: { clientId, clientSecret: toNullable(secret), ...rest } };
    },
  }),
  jsonOperation({
    method: 'GET',
    path: APP,
    operationId: 'getApp',
    summary: 'Read an own app',
    answer: { description: 'The app.', body: dataOf(appJson) },
    handle: async ({ backends, caller, clientId }) => {
      const [app] = (await backends.apps.listApps({ clientId }, caller)).apps;
      return { data: toAppJson(required(app)) };
    },
  }),
  jsonOperation({
    method: 'PATCH',
    path: APP,
    operationId: 'changeApp',
    summary: 'Change an own app',
    description:
      'Where apps need an approval, suspend an app before you change what people see or its scopes and redirect URIs: it then waits for another ' +
      'approval. Keys and the other settings of security can change at any time.',
    body: { schema: changeBody },
    answer: { description: 'The changed app.', body: dataOf(appJson) },
    errors: ['CONFLICT'],
    handle: async ({ backends, caller, body, clientId }) => {
      const { app } = await backends.apps.updateApp({ clientId, settings: toAppSettings(body) }, caller);
      return { data: toAppJson(required(app)) };
    },
  }),
  jsonOperation({
    method: 'POST',
    path: `${APP}/rotate-secret`,
    operationId: 'rotateSecret',
    summary: 'Replace the secret',
    description:
      'The old secret stops working at once; two registered keys give a change without a gap. Issued tokens live on. A CONFLICT for an ' +
      'app that authenticates itself with its key.',
    securityEvent: 'rotation',
    cost: 30,
    body: { schema: noSettings, optional: true },
    answer: { description: 'The new secret.', body: dataOf(rotatedSecretJson) },
    errors: ['CONFLICT', 'APP_NOT_ACTIVE'],
    handle: async ({ backends, caller, clientId }) => {
      const rotated = await backends.apps.rotateSecret({ clientId }, caller);
      return { data: toJson(rotatedSecretJson, { ...rotated, clientId }) };
    },
  }),
  jsonOperation({
    method: 'POST',
    path: `${APP}/status`,
    operationId: 'setAppStatus',
    summary: 'Suspend, revoke or reactivate an app',
    description:
      'Takes effect everywhere before it answers. `revoked` also ends all grants and tokens of the app. `active` is a CONFLICT while ' +
      'an operator has locked the app.',
    securityEvent: 'revocation',
    body: { schema: statusBody },
    answer: { description: 'The status.', body: dataOf(changedStatusJson) },
    errors: ['CONFLICT'],
    handle: async ({ backends, caller, body, clientId }) => {
      const { status, statusChangedAt } = await backends.apps.setAppStatus(
        { clientId, status: toAppStatus(body.status) },
        caller,
      );
      return {
        data: { clientId, status: appStatusName(status), statusChangedAt: toInstant(statusChangedAt) },
      };
    },
  }),
];
