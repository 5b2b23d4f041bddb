import { findScope } from '@phds/catalog/scopes';
import { type AccessDay, type AccessRecord, Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import type {
  AppChange,
  ApprovedTerms,
  ConnectedApp,
  Connection,
  ConsentGrant,
  PendingApproval,
  RequestedScope,
} from '@phds/contracts/phds/consent/v1/consent_pb';
import type { AppProfile } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError } from '@phds/service-kit/errors';
import type { z } from 'zod';
import { grantStatusName, needName, pendingStatusName, refusalReason } from '../consent-names.ts';
import { toInstant, toNullable } from '../timestamps.ts';
import type { accessDayJson, accessJson, connectedAppJson, grantJson, pendingJson } from './answers.ts';

/** A pending approval for the approval screen, with scope texts from the catalog. */
export function toPendingJson(pending: PendingApproval): z.infer<typeof pendingJson> {
  return {
    id: pending.id,
    status: pendingStatusName(pending.status),
    app: { ...toAppProfileJson(pending.app), redirectHost: pending.redirectHost },
    requestedScopes: pending.requestedScopes.map(toRequestedScopeJson),
    purpose: toNullable(pending.purpose),
    clientAuthenticated: pending.clientAuthenticated,
    createdAt: toInstant(pending.createdAt),
    expiresAt: toInstant(pending.expiresAt),
    // Empty from a consent service of the release before.
    revision: toNullable(pending.revision),
    connection: pending.connection === undefined ? null : toConnectionJson(pending.connection),
    ...(pending.approved === undefined ? {} : { approved: toApprovedJson(pending.approved) }),
  };
}

/** What the person shares with the app now. A decision with `revision` is refused when this has changed. */
function toConnectionJson({ grantId, appName, scopes, expiresAt, dataFrom }: Connection) {
  return { grantId, appName, scopes, expiresAt: toInstant(expiresAt), dataFrom: toNullable(dataFrom) };
}

/** The body of `…/approve` that repeats an approval. A page that lost the response sends it to get the code. */
function toApprovedJson({ scopes, expiresInDays, keepExpiry, dataFrom }: ApprovedTerms) {
  return {
    scopes,
    ...(keepExpiry ? { keepExpiry: true as const } : { expiresInDays }),
    dataFrom: toNullable(dataFrom),
  };
}

function toRequestedScopeJson({ scope, alreadyShared, need }: RequestedScope) {
  const entry = findScope(scope);
  return {
    scope,
    title: entry?.title ?? scope,
    description: entry?.description ?? null,
    sensitive: entry?.sensitive ?? true,
    alreadyShared,
    need: needName(need),
  };
}

function toAppProfileJson(app: AppProfile | undefined) {
  return {
    clientId: app?.clientId ?? null,
    name: app?.name ?? null,
    description: toNullable(app?.description ?? ''),
    developerName: toNullable(app?.developerName ?? ''),
    homepageUrl: toNullable(app?.homepageUrl ?? ''),
    privacyPolicyUrl: toNullable(app?.privacyPolicyUrl ?? ''),
    logoUrl: toNullable(app?.logoUrl ?? ''),
  };
}

/**
 * A consent grant as its user sees it. `app` is as shown at approval time; later changes are in separate
 * fields.
 */
export function toGrantJson(grant: ConsentGrant): z.infer<typeof grantJson> {
  return {
    id: grant.id,
    app: {
      ...toAppProfileJson(grant.app),
      redirectHost: toNullable(grant.redirectHost),
      ...findCurrentName(grant.app?.name ?? '', grant.currentAppName),
    },
    ...(grant.appChanges.length === 0 ? {} : { appChanges: grant.appChanges.map(toAppChangeJson) }),
    purpose: toNullable(grant.purpose),
    scopes: grant.scopes,
    status: grantStatusName(grant.status),
    grantedAt: toInstant(grant.grantedAt),
    expiresAt: toInstant(grant.expiresAt),
    revokedAt: toInstant(grant.revokedAt),
    revokedBy: toNullable(grant.revokedBy),
    endedBy: toNullable(grant.endedBy),
    lastAccessAt: toInstant(grant.lastAccessAt),
    accessCount: grant.accessCount,
    dataFrom: toNullable(grant.dataFrom),
    deletionRequestedAt: toInstant(grant.deletionRequestedAt),
  };
}

/** An app that the person has or had a grant for. */
export function toConnectedAppJson({
  clientId,
  name,
  currentName,
  redirectHost,
}: ConnectedApp): z.infer<typeof connectedAppJson> {
  return { clientId, name, ...findCurrentName(name, currentName), redirectHost: toNullable(redirectHost) };
}

function toAppChangeJson({ field, from, to, at }: AppChange) {
  return { field, from: toNullable(from), to: toNullable(to), at: toInstant(at) };
}

/** The app's current name if it differs from the approved one, else null. */
function findCurrentName(name: string, currentName: string): { currentName?: string } {
  return currentName === '' || currentName === name ? {} : { currentName };
}

/** One access as the user sees it: what was read or refused, without values. */
export function toAccessJson(record: AccessRecord): z.infer<typeof accessJson> {
  return {
    id: record.id,
    at: toInstant(record.at),
    app: toNamedAppJson(record),
    grantId: record.grantId,
    scope: record.scope,
    endpoint: record.endpoint,
    from: toNullable(record.from),
    to: toNullable(record.to),
    recordCount: record.recordCount,
    outcome: record.verdict === Verdict.RELEASED ? 'released' : 'refused',
    reason: refusalReason(record.verdict),
  };
}

/** The accesses of one app on one day as the user sees them. */
export function toAccessDayJson(day: AccessDay): z.infer<typeof accessDayJson> {
  const scopes = day.scopes.map(({ scope, released, refused }) => ({ scope, released, refused }));
  return { date: day.date, app: toNamedAppJson(day), released: day.released, refused: day.refused, scopes };
}

function toNamedAppJson({ clientId, appName, currentAppName }: AccessRecord | AccessDay) {
  return { clientId, name: appName, ...findCurrentName(appName, currentAppName) };
}

/** Returns a message field that the response must have; throws `internal` when it is absent. */
export function required<T>(message: T | undefined): T {
  if (message === undefined) throw new AppError('internal', '', { cause: 'answer without its content' });
  return message;
}
