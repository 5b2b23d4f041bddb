import type { Grant, GrantTerms } from './grant.ts';

/** The subjects of a liveness check; empty ids are not checked. */
export interface LivenessQuery {
  readonly clientId: string;
  /** The app's epoch when the credential was issued. */
  readonly appEpoch: number;
  readonly grantId: string;
  readonly familyId: string;
  /** SHA-256 of an access token, or empty. */
  readonly tokenHash: Uint8Array;
  /** When a token without a grant was issued; null for other tokens. */
  readonly issuedAt: Date | null;
}

/** What is live now. Subjects that were not checked count as live. */
export interface Liveness {
  /** Active, and in the same epoch. */
  readonly appAlive: boolean;
  readonly familyAlive: boolean;
  readonly tokenAlive: boolean;
  /** Null when not requested, unknown, or another app's. A grant suspended by a restore counts as revoked. */
  readonly grant: (GrantTerms & Pick<Grant, 'status' | 'userId' | 'sub'>) | null;
}
