/** Status of a consent grant. */
export type GrantStatus = 'active' | 'expired' | 'revoked';

/** The facts of a grant that decide about access. */
export interface GrantFacts {
  readonly status: GrantStatus;
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
  readonly userId: string;
  /** First day that the app may see (YYYY-MM-DD); null for no limit. */
  readonly dataFrom: string | null;
  /** Identifies the person to this app only; null while consent does not say. */
  readonly sub: string | null;
}

/** The ledger's statement about an app, a family, a token and a grant at one time. */
export interface Liveness {
  readonly appAlive: boolean;
  readonly familyAlive: boolean;
  readonly tokenAlive: boolean;
  /** Null when not requested, or unknown. */
  readonly grant: GrantFacts | null;
}

/** The grant if it is active and belongs to this user, else null. */
export function findActiveGrant(liveness: Liveness, userId: string): GrantFacts | null {
  const { grant } = liveness;
  return grant !== null && grant.status === 'active' && grant.userId === userId ? grant : null;
}
