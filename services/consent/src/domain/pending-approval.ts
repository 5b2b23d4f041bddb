import type { Scope } from '@phds/catalog/scopes';
import type { AppProfile } from './app.ts';
import type { GrantTerms } from './grant.ts';
import type { ShownApp } from './shown-app.ts';

/**
 * Status of a pending approval; all except `pending` are final. `expired` (600 s without a decision) and `cancelled` (the app was
 * revoked before that) are determined when reading.
 */
export type PendingStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';

/** An app's request for consent. */
export interface ConsentRequest {
  readonly id: string;
  readonly redirectHost: string;
  readonly scopes: readonly Scope[];
  /** In the app's own words; empty when absent or when the app was not authenticated. */
  readonly purpose: string;
  /** Whether the app was authenticated by its secret when it opened the request. */
  readonly clientAuthenticated: boolean;
}

/** A pending approval as shown to one person. */
export interface PendingApprovalView extends ConsentRequest {
  /** As it was when the request was opened. */
  readonly app: AppProfile;
  readonly status: PendingStatus;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** What the person shares with the app now; null when no grant is live. */
  readonly connection: Connection | null;
  /** Present only if approved. */
  readonly approval: Approval | null;
}

/** The live grant of a person and an app, which an approval joins. */
export interface Connection extends GrantTerms {
  readonly grantId: string;
  /** As shown to the person at the latest approval. */
  readonly appName: string;
}

/** The lifetime of a grant: a number of days from the decision, or until the end of the live grant. */
export type GrantLife = number | 'kept';

/** The approved terms, stored to recognise a repeated decision. */
export interface Approval {
  readonly scopes: readonly Scope[];
  readonly days: GrantLife;
  readonly dataFrom: string | null;
  readonly grantId: string;
  readonly grantExpiresAt: Date;
}

/** A pending approval at the time of its decision. */
export interface PendingApproval extends ConsentRequest {
  readonly clientId: string;
  readonly appEpoch: number;
  readonly status: PendingStatus;
  readonly claimedBy: string | null;
  /** How often the time to decide was extended. */
  readonly extensions: number;
  readonly decidedAt: Date | null;
  readonly shownApp: ShownApp;
  /** Present only if approved. */
  readonly approval: Approval | null;
}
