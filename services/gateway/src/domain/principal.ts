/** The facts behind a live access token, as authorization and the ledger told them. Times in ms since the epoch. */
export interface Principal {
  readonly clientId: string;
  /** Empty for a userless token. */
  readonly userId: string;
  readonly grantId: string;
  readonly familyId: string;
  readonly scopes: ReadonlySet<string>;
  readonly expiresAt: number;
  /** Null for a userless token, and when the ledger could not be asked. */
  readonly grant: GrantFacts | null;
  /** False: nothing is known about consent, and only the record step decides (contract section 8). */
  readonly ledgerChecked: boolean;
  /** Signed assertion for health-data; empty for a userless token. */
  readonly assertion: string;
}

/** A consent grant as the ledger had it. */
export interface GrantFacts {
  readonly active: boolean;
  readonly scopes: ReadonlySet<string>;
  readonly expiresAt: number;
}

/** Whether a principal may read what `scope` opens, judged by the facts at hand. */
export type Judgement = 'allowed' | 'insufficient_scope' | 'consent_required';

/** Judges scope, then consent (contract section 2). Never authoritative about revocation: the record step is. */
export function judge(principal: Principal, scope: string, now: number): Judgement {
  if (!principal.scopes.has(scope)) return 'insufficient_scope';
  if (principal.userId === '') return 'consent_required';
  if (!principal.ledgerChecked) return 'allowed';
  const { grant } = principal;
  const covered = grant?.active === true && now < grant.expiresAt && grant.scopes.has(scope);
  return covered ? 'allowed' : 'consent_required';
}
