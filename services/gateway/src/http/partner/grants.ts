import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { findTimeBound, isDate } from '@phds/catalog/instants';
import { GRANT_STATUSES } from '@phds/catalog/wire-names';
import type { ConnectedApp, ConsentGrant } from '@phds/contracts/phds/consent/v1/consent_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { z } from 'zod';
import { grantStatusName, required, toGrantStatus, toInstant, toJson } from '../messages.ts';
import {
  count,
  dataFrom,
  dataOf,
  grantEnder,
  instant,
  instantOrNull,
  listOf,
  PAGE_QUERY,
  profileTexts,
  scope,
  text,
  textOrNull,
} from '../openapi/fields.ts';
import { jsonOperation, type MountedOperation } from '../operation.ts';
import { findChoice, toList } from '../query.ts';

export const currentName = text
  .optional()
  .meta({ description: 'The present name of the app, if it is another one.' });

/** An app in a request or a grant. */
export const appProfile = z.object({
  clientId: text,
  name: text,
  ...profileTexts,
});

/** The present name of an app if it is not the approved one. */
export function findCurrentName(name: string, currentName: string): string | undefined {
  return currentName === '' || currentName === name ? undefined : currentName;
}

const suspended = z
  .boolean()
  .optional()
  .meta({ description: 'Present, and true, while the app is suspended: it cannot read.' });

const appChange = z
  .object({ field: text, from: textOrNull, to: textOrNull, at: instant })
  .meta({ id: 'AppChange' });

const grantJson = z
  .object({
    id: text,
    app: appProfile.extend({ redirectHost: text, currentName, suspended }),
    appChanges: z.array(appChange).optional(),
    purpose: textOrNull,
    scopes: z.array(scope),
    status: z.enum(GRANT_STATUSES),
    grantedAt: instant,
    expiresAt: instant,
    revokedAt: instantOrNull,
    revokedBy: textOrNull,
    endedBy: grantEnder.nullable(),
    lastAccessAt: instantOrNull,
    accessCount: count,
    dataFrom,
    deletionRequestedAt: instantOrNull,
  })
  .meta({ id: 'Grant' });

const connectedAppJson = z
  .object({ clientId: text, name: text, currentName, redirectHost: text, developerName: textOrNull })
  .meta({ id: 'ConnectedApp' });

const revocationJson = z.object({ id: text, status: z.literal('revoked'), revokedAt: instant });
const revokedAllJson = z.object({ revoked: count });
const deletionRequestJson = z.object({ id: text, deletionRequestedAt: instant });
const receiptJson = z.object({
  grantId: text,
  receipt: text.meta({ description: 'A compact JWS (ISO/IEC 27560 field names).' }),
});
const GRANTS_QUERY = {
  status: z.enum(GRANT_STATUSES).meta({ description: 'Only grants of this status.' }),
} as const;

const sentText = z.string('must be a text');

const narrowingBody = z.strictObject({
  scopes: z.array(sentText, 'must be a list of scopes').optional(),
  /** Transformed to Unix milliseconds. */
  expiresAt: sentText
    .meta({ format: 'date-time' })
    .transform((value, { addIssue }) => {
      const bound = findTimeBound(value);
      if (bound?.date === null) return bound.at.getTime();
      addIssue('must be an RFC 3339 instant');
      return z.NEVER;
    })
    .optional(),
  dataFrom: sentText.refine(isDate, 'must be a date (2026-03-01)').meta({ format: 'date' }).optional(),
});

/**
 * A consent grant as its user sees it. `app` is as shown at approval time; later changes are in separate
 * fields.
 */
export function toGrantJson(grant: ConsentGrant): z.infer<typeof grantJson> {
  const app = required(grant.app);
  const currentName = findCurrentName(app.name, grant.currentAppName);
  return toJson(grantJson, {
    ...grant,
    app: {
      ...app,
      redirectHost: grant.redirectHost,
      currentName,
      suspended: grant.appSuspended || undefined,
    },
    appChanges: grant.appChanges.length === 0 ? undefined : grant.appChanges,
    status: grantStatusName(grant.status),
  });
}

/** An app that the person has or had a grant for. */
function toConnectedAppJson(app: ConnectedApp): z.infer<typeof connectedAppJson> {
  return toJson(connectedAppJson, { ...app, currentName: findCurrentName(app.name, app.currentName) });
}

const GRANTS = '/partner/consent/grants';
const GRANT = `${GRANTS}/:id`;

/** What a person shares with apps. */
export const GRANT_OPERATIONS: readonly MountedOperation[] = [
  jsonOperation({
    method: 'GET',
    path: GRANTS,
    operationId: 'listGrants',
    summary: 'List grants',
    query: { ...PAGE_QUERY, ...GRANTS_QUERY },
    answer: { description: 'The grants, newest first.', body: listOf(grantJson) },
    handle: async ({ backends, caller, query }) => {
      const status = findChoice(query, 'status', GRANT_STATUSES);
      query.check();
      const wanted = status === undefined ? GrantStatus.UNSPECIFIED : toGrantStatus(status);
      const { grants, total } = await backends.consent.listGrants(
        { page: query.page, status: wanted },
        caller,
      );
      return toList(grants.map(toGrantJson), query.page, total);
    },
  }),
  jsonOperation({
    method: 'GET',
    path: GRANT,
    operationId: 'getGrant',
    summary: 'Read a grant',
    answer: { description: 'The grant.', body: dataOf(grantJson) },
    handle: async ({ backends, caller, id }) => {
      const { grants } = await backends.consent.listGrants({ grantId: id }, caller);
      return { data: toGrantJson(required(grants[0])) };
    },
  }),
  jsonOperation({
    method: 'PATCH',
    path: GRANT,
    operationId: 'narrowGrant',
    summary: 'Narrow a grant',
    description:
      'Withdraws scopes, shortens the life, or moves the first day. Takes effect everywhere before it answers.',
    securityEvent: 'revocation',
    body: { schema: narrowingBody },
    answer: { description: 'The narrowed grant.', body: dataOf(grantJson) },
    errors: ['CONFLICT'],
    handle: async ({ backends, caller, body: { scopes, expiresAt, dataFrom: from = '' }, id }) => {
      const { grant } = await backends.consent.narrowGrant(
        {
          id,
          scopes: scopes ?? [],
          setScopes: scopes !== undefined,
          dataFrom: from,
          ...(expiresAt === undefined ? {} : { expiresAt: timestampFromMs(expiresAt) }),
        },
        caller,
      );
      return { data: toGrantJson(required(grant)) };
    },
  }),
  jsonOperation({
    method: 'DELETE',
    path: GRANT,
    operationId: 'revokeGrant',
    summary: 'Revoke a grant',
    description: 'Takes effect everywhere before it answers.',
    securityEvent: 'revocation',
    answer: { description: 'The revocation.', body: dataOf(revocationJson) },
    handle: async ({ backends, caller, id }) => {
      const { revokedAt } = await backends.consent.revokeGrant({ id }, caller);
      return { data: { id, status: 'revoked', revokedAt: toInstant(revokedAt) } };
    },
  }),
  jsonOperation({
    method: 'POST',
    path: `${GRANTS}/revoke-all`,
    operationId: 'revokeAllGrants',
    summary: 'Revoke every grant',
    description: 'Takes effect everywhere before it answers.',
    securityEvent: 'revocation',
    answer: { description: 'How many were revoked.', body: dataOf(revokedAllJson) },
    handle: async ({ backends, caller }) => {
      const { revoked } = await backends.consent.revokeAllGrants({}, caller);
      return { data: { revoked } };
    },
  }),
  jsonOperation({
    method: 'POST',
    path: `${GRANT}/deletion-request`,
    operationId: 'requestDeletion',
    summary: 'Ask the app to delete what it has read',
    answer: { description: 'When the app was asked.', body: dataOf(deletionRequestJson) },
    handle: async ({ backends, caller, id }) => {
      const { deletionRequestedAt } = await backends.consent.requestDeletion({ grantId: id }, caller);
      return { data: { id, deletionRequestedAt: toInstant(deletionRequestedAt) } };
    },
  }),
  jsonOperation({
    method: 'GET',
    path: `${GRANT}/receipt`,
    operationId: 'getReceipt',
    summary: 'Get the receipt of a consent',
    answer: { description: 'The signed receipt.', body: dataOf(receiptJson) },
    handle: async ({ backends, caller, id }) => {
      const { receipt } = await backends.consent.getReceipt({ grantId: id }, caller);
      return { data: { grantId: id, receipt } };
    },
  }),
  jsonOperation({
    method: 'GET',
    path: '/partner/consent/apps',
    operationId: 'listConnectedApps',
    summary: 'List apps with a present or past grant',
    query: PAGE_QUERY,
    answer: { description: 'The apps.', body: listOf(connectedAppJson) },
    handle: async ({ backends, caller, query }) => {
      query.check();
      const { apps, total } = await backends.consent.listConnectedApps({ page: query.page }, caller);
      return toList(apps.map(toConnectedAppJson), query.page, total);
    },
  }),
];
