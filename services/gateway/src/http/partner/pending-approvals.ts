import { isDate } from '@phds/catalog/instants';
import { findLanguage, LANGUAGES } from '@phds/catalog/languages';
import { GRANT_DAYS_CHOICES, isGrantDays } from '@phds/catalog/lifetimes';
import { findScope } from '@phds/catalog/scopes';
import { PENDING_STATUSES } from '@phds/catalog/wire-names';
import type {
  ApprovedTerms,
  PendingApproval,
  RequestedScope,
} from '@phds/contracts/phds/consent/v1/consent_pb';
import { AppError } from '@phds/service-kit/errors';
import { z } from 'zod';
import { requireChange } from '../credentials.ts';
import { pendingStatusName, required, toInstant, toJson, toNullable, toPendingStatus } from '../messages.ts';
import {
  count,
  dataFrom,
  dataOf,
  instant,
  listOf,
  PAGE_QUERY,
  scope,
  text,
  textOrNull,
} from '../openapi/fields.ts';
import { type Call, type ErrorCode, jsonOperation, type MountedOperation } from '../operation.ts';
import { findChoice, toList } from '../query.ts';
import { appProfile } from './grants.ts';

const requestedScope = z
  .object({
    scope,
    title: text,
    description: textOrNull,
    sensitive: z.boolean(),
    alreadyShared: z.boolean(),
  })
  .meta({ id: 'RequestedScope' });

const connection = z
  .object({
    grantId: text,
    appName: text,
    scopes: z.array(scope),
    expiresAt: instant,
    dataFrom: textOrNull,
  })
  .meta({ id: 'Connection', description: 'What the person shares with the app now.' });

const approvedTerms = z
  .object({
    scopes: z.array(scope),
    expiresInDays: count.optional(),
    keepExpiry: z.literal(true).optional(),
    dataFrom,
  })
  .meta({ id: 'ApprovedTerms', description: 'The body of `approve` that repeats the approval.' });

const pendingJson = z
  .object({
    id: text,
    status: z.enum(PENDING_STATUSES),
    app: appProfile.extend({ redirectHost: text }),
    requestedScopes: z.array(requestedScope),
    purpose: textOrNull,
    clientAuthenticated: z.boolean(),
    createdAt: instant,
    expiresAt: instant,
    revision: textOrNull.meta({ description: 'Sent back with the decision, names what the screen showed.' }),
    connection: connection.nullable(),
    approved: approvedTerms.optional(),
  })
  .meta({ id: 'PendingApproval' });

const approvalJson = z.object({
  id: text,
  status: z.literal('approved'),
  grantId: text,
  scopes: z.array(scope),
  grantExpiresAt: instant,
  redirectUri: text,
});

const denialJson = z.object({
  id: text,
  status: z.literal('denied'),
  redirectUri: textOrNull.meta({ description: 'Null if the app has removed the address since.' }),
});

const extensionJson = z.object({ id: text, expiresAt: instant });
const releasedJson = z.object({ id: text });
const sentText = z.string('must be a text');

const approvalBody = z
  .strictObject({
    scopes: z.array(sentText, 'must be a list of scopes').optional(),
    expiresInDays: z
      .number('must be a number')
      .refine(isGrantDays, `must be one of ${GRANT_DAYS_CHOICES.join(', ')}`)
      .meta({ enum: GRANT_DAYS_CHOICES })
      .optional(),
    keepExpiry: z.boolean('must be true or false').optional(),
    dataFrom: sentText
      .refine(isDate, 'must be a date (2026-03-01)')
      .meta({ format: 'date' })
      .nullable()
      .optional(),
    language: sentText
      .refine((tag) => findLanguage(tag) !== null, `must be a tag of one of ${LANGUAGES.join(', ')}`)
      .optional(),
    revision: sentText.min(1, 'must not be empty').max(128, 'must have at most 128 characters').nullish(),
  })
  .refine(({ keepExpiry, expiresInDays }) => keepExpiry !== true || expiresInDays === undefined, {
    path: ['keepExpiry'],
    error: 'must not come with expiresInDays',
  });

const PENDING_QUERY = {
  status: z.enum(PENDING_STATUSES).meta({ description: 'Only requests of this status.', default: 'pending' }),
} as const;

/** A pending approval for the approval screen, with scope texts from the catalog. */
function toPendingJson(pending: PendingApproval): z.infer<typeof pendingJson> {
  const { redirectHost, approved } = pending;
  return toJson(pendingJson, {
    ...pending,
    status: pendingStatusName(pending.status),
    app: { ...required(pending.app), redirectHost },
    requestedScopes: pending.requestedScopes.map(toRequestedScopeJson),
    approved: approved && toApprovedJson(approved),
  });
}

/** The body of `…/approve` that repeats an approval. A page that lost the response sends it to get the code. */
function toApprovedJson({ scopes, expiresInDays, keepExpiry, dataFrom }: ApprovedTerms) {
  return { scopes, dataFrom, ...(keepExpiry ? { keepExpiry } : { expiresInDays }) };
}

function toRequestedScopeJson({ scope, alreadyShared }: RequestedScope) {
  const entry = findScope(scope);
  return {
    scope,
    title: entry?.title ?? scope,
    description: entry?.description ?? null,
    sensitive: entry?.sensitive ?? true,
    alreadyShared,
  };
}

const PENDING = '/partner/consent/pending';
const FINAL: readonly ErrorCode[] = ['PENDING_EXPIRED', 'ALREADY_DECIDED'];

/** The requests of apps that wait for a person's decision. */
export const PENDING_OPERATIONS: readonly MountedOperation[] = [
  jsonOperation({
    method: 'GET',
    path: PENDING,
    operationId: 'listPendingApprovals',
    summary: 'List requests of apps',
    query: { ...PAGE_QUERY, ...PENDING_QUERY },
    answer: { description: 'The requests, newest first.', body: listOf(pendingJson) },
    handle: async ({ backends, caller, query }) => {
      const status = findChoice(query, 'status', PENDING_STATUSES);
      query.check();
      const wanted = toPendingStatus(status ?? 'pending');
      const { pendingApprovals, total } = await backends.consent.listPendingApprovals(
        { page: query.page, status: wanted },
        caller,
      );
      return toList(pendingApprovals.map(toPendingJson), query.page, total);
    },
  }),
  jsonOperation({
    method: 'GET',
    path: `${PENDING}/:id`,
    operationId: 'getPendingApproval',
    summary: 'Read a request of an app',
    description: 'The first person who reads it claims it.',
    answer: { description: 'The request.', body: dataOf(pendingJson) },
    handle: async ({ exchange, backends, caller, id }) => {
      // Reading claims the request, so cross-site requests are refused.
      requireChange(exchange.session);
      const { pendingApproval } = await backends.consent.getPendingApproval({ id }, caller);
      return { data: toPendingJson(required(pendingApproval)) };
    },
  }),
  jsonOperation({
    method: 'POST',
    path: `${PENDING}/:id/approve`,
    operationId: 'approve',
    summary: 'Approve a request',
    description:
      'Without `scopes`, all requested ones are approved. The same approval again gets the same answer.',
    securityEvent: 'approval',
    body: { schema: approvalBody, optional: true },
    answer: { description: 'The grant, and where the app waits for the code.', body: dataOf(approvalJson) },
    errors: [...FINAL, 'NO_SCOPES_APPROVED', 'CONFLICT', 'APP_NOT_ACTIVE'],
    handle: async (call) => ({ data: await approve(call) }),
  }),
  jsonOperation({
    method: 'POST',
    path: `${PENDING}/:id/deny`,
    operationId: 'deny',
    summary: 'Deny a request',
    answer: { description: 'The denial.', body: dataOf(denialJson) },
    errors: FINAL,
    handle: async ({ backends, caller, id }) => {
      const { redirectUri } = await backends.authorization.denyAuthorization({ pendingId: id }, caller);
      return { data: { id, status: 'denied', redirectUri: toNullable(redirectUri) } };
    },
  }),
  jsonOperation({
    method: 'POST',
    path: `${PENDING}/:id/extend`,
    operationId: 'extendPendingApproval',
    summary: 'Take more time to decide',
    answer: { description: 'The new end.', body: dataOf(extensionJson) },
    errors: [...FINAL, 'CONFLICT'],
    handle: async ({ backends, caller, id }) => {
      const { expiresAt } = await backends.authorization.extendAuthorization({ pendingId: id }, caller);
      return { data: { id, expiresAt: toInstant(expiresAt) } };
    },
  }),
  jsonOperation({
    method: 'POST',
    path: `${PENDING}/:id/release`,
    operationId: 'releasePendingApproval',
    summary: 'Give a request back, for another account',
    answer: { description: 'The request is claimed by nobody.', body: dataOf(releasedJson) },
    errors: FINAL,
    handle: async ({ backends, caller, id }) => {
      await backends.consent.releasePendingApproval({ id }, caller);
      return { data: { id } };
    },
  }),
];

async function approve({
  backends,
  caller,
  body,
  id,
}: Call<z.infer<typeof approvalBody>>): Promise<z.infer<typeof approvalJson>> {
  if (body.scopes?.length === 0) throw new AppError('no_scopes_approved');
  const answer = await backends.authorization.completeAuthorization(
    {
      pendingId: id,
      scopes: body.scopes ?? [],
      allRequested: body.scopes === undefined,
      expiresInDays: body.expiresInDays ?? 0,
      keepExpiry: body.keepExpiry ?? false,
      dataFrom: body.dataFrom ?? '',
      language: body.language ?? '',
      revision: body.revision ?? '',
    },
    caller,
  );
  return toJson(approvalJson, { ...answer, id, status: 'approved' });
}
