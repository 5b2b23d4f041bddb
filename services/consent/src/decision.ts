import {
  GRANT_DAYS_CHOICES,
  GRANT_DAYS_DEFAULT,
  isGrantDays,
  PENDING_APPROVAL_EXTENSIONS,
} from '@phds/catalog/lifetimes';
import { SCOPE_NAMES, type Scope } from '@phds/catalog/scopes';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import type { AppStatus } from './apps.ts';
import type { Grant } from './grant-rows.ts';
import type { Approval, GrantLife, PendingApproval } from './pending-approvals.ts';
import { type GrantTerms, refuseFutureDay, sameScopes } from './terms.ts';

const DAY_MS = 86_400_000;

/** The person's choices on the approval screen. */
export interface ApprovalChoice {
  /** Null for all requested scopes. */
  readonly scopes: readonly string[] | null;
  /** Null for the default. */
  readonly days: GrantLife | null;
  readonly dataFrom: string | null;
}

/** Everything a decision depends on, read under its locks. */
export interface DecisionFacts {
  readonly pending: PendingApproval;
  readonly appStatus: AppStatus;
  /** The grant that a new approval joins; null when none is live. */
  readonly liveGrant: Grant | null;
  readonly now: Date;
}

/** The outcome of an approval. */
export type ApprovalOutcome =
  | { readonly kind: 'repeated'; readonly approval: Approval; readonly decidedAt: Date }
  | {
      readonly kind: 'approved';
      readonly scopes: readonly Scope[];
      readonly days: GrantLife;
      /** The grant's new terms. */
      readonly terms: GrantTerms;
      /** The live grant that is joined; null for a new grant. */
      readonly joins: string | null;
    };

/**
 * Decides an approval by its claimant. `isOutdated` says whether the live grant has other terms than the screen showed. Throws the
 * reasons documented for Approve.
 */
export function decideApproval(
  facts: DecisionFacts,
  choice: ApprovalChoice,
  isOutdated: boolean,
): ApprovalOutcome {
  const { pending, liveGrant, now } = facts;
  const days = choice.days ?? GRANT_DAYS_DEFAULT;
  const { approval, decidedAt } = pending;
  if (approval !== null && decidedAt !== null && isSameChoice(approval, choice, pending, days)) {
    return { kind: 'repeated', approval, decidedAt };
  }
  refuseDecided(pending);
  if (facts.appStatus !== 'active') throw new AppError('app_not_active', 'The app is not active.');
  refuseOver(pending);
  // Before the choice is judged, because the choice was made for the terms that were shown.
  if (isOutdated) throw outdated();
  const scopes = approvedScopes(pending, choice.scopes);
  if (choice.dataFrom !== liveGrant?.dataFrom) refuseFutureDay(choice.dataFrom, now);
  const terms: GrantTerms = {
    scopes: joinScopes(liveGrant?.scopes ?? [], pending.scopes, scopes),
    expiresAt: toEnd(days, liveGrant, now),
    dataFrom: choice.dataFrom,
  };
  return { kind: 'approved', scopes, days, terms, joins: liveGrant?.id ?? null };
}

function toEnd(days: GrantLife, liveGrant: Grant | null, now: Date): Date {
  if (days === 'kept') {
    if (liveGrant !== null) return liveGrant.expiresAt;
    throw invalidRequest('keepExpiry', 'nothing is shared with this app now, so there is no end to keep');
  }
  if (isGrantDays(days)) return new Date(now.getTime() + days * DAY_MS);
  throw invalidRequest('expiresInDays', `must be one of ${GRANT_DAYS_CHOICES.join(', ')}`);
}

/**
 * Decides a denial by its claimant. Returns the time of an earlier denial, or null to deny now. Throws the reasons documented for
 * Deny.
 */
export function decideDenial(pending: PendingApproval): Date | null {
  if (pending.status === 'denied') return pending.decidedAt;
  refuseFinal(pending);
  return null;
}

/** Throws the reasons documented for ExtendPendingApproval unless the claimant may extend the time to decide. */
export function refuseExtension(pending: PendingApproval): void {
  refuseFinal(pending);
  if (pending.extensions < PENDING_APPROVAL_EXTENSIONS) return;
  const message = `The time was extended ${PENDING_APPROVAL_EXTENSIONS} times, which is the most. Start again in the app.`;
  throw new AppError('conflict', message);
}

/** Throws `already_decided` or `pending_expired` unless the request waits for a decision. */
export function refuseFinal(pending: PendingApproval): void {
  refuseDecided(pending);
  refuseOver(pending);
}

/** (old minus requested) union approved, in catalog order. */
export function joinScopes(
  old: readonly Scope[],
  requested: readonly Scope[],
  approved: readonly Scope[],
): Scope[] {
  return SCOPE_NAMES.filter(
    (scope) => approved.includes(scope) || (old.includes(scope) && !requested.includes(scope)),
  );
}

function isSameChoice(
  approval: Approval,
  choice: ApprovalChoice,
  pending: PendingApproval,
  days: GrantLife,
): boolean {
  return (
    sameScopes(approval.scopes, choice.scopes ?? pending.scopes) &&
    approval.days === days &&
    approval.dataFrom === choice.dataFrom
  );
}

function refuseDecided({ status }: PendingApproval): void {
  if (status === 'approved' || status === 'denied') {
    throw new AppError('already_decided', `This request was already ${status}.`);
  }
  if (status === 'expired') throw new AppError('pending_expired', 'This request has expired.');
}

function outdated(): AppError {
  return new AppError(
    'conflict',
    'What you share with this app has changed since this page showed it. Look at the request again and decide.',
  );
}

/** Checked after the app's status, because a revoked app is the more useful reason. */
function refuseOver({ status }: PendingApproval): void {
  if (status === 'cancelled') throw new AppError('already_decided', 'This request was cancelled.');
}

function approvedScopes(pending: PendingApproval, chosen: readonly string[] | null): readonly Scope[] {
  if (chosen === null) return pending.scopes;
  if (chosen.length === 0) {
    throw new AppError('no_scopes_approved', 'Approve at least one scope, or deny the request.');
  }
  const foreign = chosen.filter((scope) => !(pending.scopes as readonly string[]).includes(scope));
  if (foreign.length > 0) throw invalidRequest('scopes', `not requested: ${foreign.join(', ')}`);
  return pending.scopes.filter((scope) => chosen.includes(scope));
}
