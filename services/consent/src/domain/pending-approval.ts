import type { Scope } from '@phds/catalog/scopes';
import type { AppProfile } from './app.ts';
import type { ShownApp } from './shown-app.ts';

/**
 * State of a pending approval; all but `pending` are final. `expired` (600 s without a decision) and `cancelled` (the app
 * was revoked before that) are judged at read.
 */
export type PendingStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';

/** What an app asks of a person. */
export interface ConsentRequest {
  readonly id: string;
  readonly redirectHost: string;
  readonly scopes: readonly Scope[];
  /** In the app's own words; empty when it did not say or did not authenticate. */
  readonly purpose: string;
  /** Whether the app proved itself with its secret when it asked. */
  readonly clientAuthenticated: boolean;
}

/** A pending approval as the approval screen shows it to one person. */
export interface PendingApprovalView extends ConsentRequest {
  /** As it was when it asked. */
  readonly app: AppProfile;
  readonly status: PendingStatus;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Scopes that the person's live grant of this app has already. */
  readonly alreadyShared: readonly string[];
  /** Present only if approved. */
  readonly approval: Approval | null;
}

/** How long a grant lives: a number of days from the decision, or until the end that the live grant has. */
export type GrantLife = number | 'kept';

/** What was approved, kept to recognise the same decision made again. */
export interface Approval {
  readonly scopes: readonly Scope[];
  readonly days: GrantLife;
  readonly dataFrom: string | null;
  readonly grantId: string;
  readonly grantExpiresAt: Date;
}

/** A pending approval at the moment of its decision. */
export interface PendingApproval extends ConsentRequest {
  readonly clientId: string;
  readonly appEpoch: number;
  readonly status: PendingStatus;
  readonly claimedBy: string | null;
  readonly decidedAt: Date | null;
  /** null when an earlier release opened it. */
  readonly shownApp: ShownApp | null;
  /** Present only if approved. */
  readonly approval: Approval | null;
}
