import type { GrantStatus, GrantTerms } from './grant.ts';

/** Whom to ask the ledger about; empty ids are not asked about. */
export interface LivenessQuery {
  readonly clientId: string;
  /** The app's epoch when the credential was issued. */
  readonly appEpoch: number;
  readonly grantId: string;
  readonly familyId: string;
  /** SHA-256 of an access token, or empty. */
  readonly tokenHash: Uint8Array;
  /** When a token without a grant was issued; null of others. */
  readonly issuedAt: Date | null;
}

/** What is alive at this moment. What was not asked about counts as alive. */
export interface Liveness {
  /** Active, and of the same epoch. */
  readonly appAlive: boolean;
  readonly familyAlive: boolean;
  readonly tokenAlive: boolean;
  /** null when none was asked for, it is unknown, or another app's. Suspended by a restore it counts as revoked. */
  readonly grant: (GrantTerms & { readonly status: GrantStatus; readonly userId: string }) | null;
}
