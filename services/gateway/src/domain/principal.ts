/** The facts about a live access token, from authorization and the ledger. Times in ms since the epoch. */
export interface Principal {
  readonly clientId: string;
  /** Empty for a userless token. */
  readonly userId: string;
  readonly grantId: string;
  readonly familyId: string;
  readonly scopes: ReadonlySet<string>;
  readonly expiresAt: number;
  /** Null for a userless token, and when consent could not be reached. */
  readonly grant: GrantFacts | null;
  /** False when nothing is known about consent; the record step alone then decides. */
  readonly ledgerChecked: boolean;
  /** Signed assertion for health-data; empty for a userless token. */
  readonly assertion: string;
  /** Thumbprint of the key that the token is bound to; empty for a bearer token. */
  readonly jkt: string;
}

/** A consent grant as stored in the ledger. */
export interface GrantFacts {
  readonly active: boolean;
  readonly scopes: ReadonlySet<string>;
  readonly expiresAt: number;
}

/** Whether a principal may read data that needs `scope`, according to the known facts. */
export type Judgement = 'allowed' | 'insufficient_scope' | 'consent_required';

/** Judges scope, then consent. Revocation is decided by the record step, not here. */
export function judge(principal: Principal, scope: string, now: number): Judgement {
  if (!principal.scopes.has(scope)) return 'insufficient_scope';
  if (principal.userId === '') return 'consent_required';
  if (!principal.ledgerChecked) return 'allowed';
  const { grant } = principal;
  const covered = grant?.active === true && now < grant.expiresAt && grant.scopes.has(scope);
  return covered ? 'allowed' : 'consent_required';
}
