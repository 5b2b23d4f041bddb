import type { Scope } from '@phds/catalog/scopes';
import { invalidRequest } from '@phds/service-kit/errors';
import type { AppProfile } from './app.ts';
import type { AppChange } from './shown-app.ts';

/** How a grant stands at the moment of reading: `active -> expired | revoked`, judged by the database's clock. */
export type GrantStatus = 'active' | 'expired' | 'revoked';

/** Who ended a grant: the person, or the revocation of the app. */
export type Revoker = 'user' | 'app';

/** What a grant allows. */
export interface GrantTerms {
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date;
  /** How far back the app sees, `YYYY-MM-DD`; null is everything. */
  readonly dataFrom: string | null;
}

/** A person's consent for one app. */
export interface Grant extends GrantTerms {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly status: GrantStatus;
  readonly grantedAt: Date;
  readonly revokedAt: Date | null;
  readonly revokedBy: Revoker | null;
}

/** A grant as its person sees it. */
export interface GrantView extends Grant {
  /** As the person saw it at the latest approval. */
  readonly app: AppProfile;
  readonly currentAppName: string;
  /** What the app changed since that approval, oldest first; in lists the latest change of each field, of active grants alone. */
  readonly appChanges: readonly AppChange[];
  /** Of answers that were released. */
  readonly lastAccessAt: Date | null;
  readonly accessCount: number;
}

/** What a person wants to take back; null leaves it as it is. */
export interface Narrowing {
  /** The scopes that stay. */
  readonly scopes: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly dataFrom: string | null;
}

/** The terms after narrowing an active grant. Throws `invalid_request` for whatever would widen them, or end the grant. */
export function narrowTerms(terms: GrantTerms, narrowing: Narrowing, now: Date): GrantTerms {
  return {
    scopes: narrowScopes(terms.scopes, narrowing.scopes),
    expiresAt: shorten(terms.expiresAt, narrowing.expiresAt, now),
    dataFrom: moveLater(terms.dataFrom, narrowing.dataFrom, now),
  };
}

/** Whether two sets of terms allow the same. */
export function sameTerms(one: GrantTerms, other: GrantTerms): boolean {
  return (
    sameScopes(one.scopes, other.scopes) &&
    one.expiresAt.getTime() === other.expiresAt.getTime() &&
    one.dataFrom === other.dataFrom
  );
}

/** Whether two lists hold the same scopes, in whatever order. */
export function sameScopes(one: readonly string[], other: readonly string[]): boolean {
  const set = new Set(one);
  return set.size === new Set(other).size && other.every((scope) => set.has(scope));
}

function narrowScopes(present: readonly Scope[], kept: readonly string[] | null): readonly Scope[] {
  if (kept === null) return present;
  if (kept.length === 0)
    throw invalidRequest('scopes', 'must keep at least one; to withdraw all, delete the grant');
  const foreign = kept.filter((scope) => !(present as readonly string[]).includes(scope));
  if (foreign.length > 0) throw invalidRequest('scopes', `not part of this grant: ${foreign.join(', ')}`);
  return present.filter((scope) => kept.includes(scope));
}

function shorten(present: Date, wanted: Date | null, now: Date): Date {
  if (wanted === null) return present;
  if (wanted > present) throw invalidRequest('expiresAt', 'must not be later than the present one');
  if (wanted <= now)
    throw invalidRequest('expiresAt', 'must be in the future; to end it now, delete the grant');
  return wanted;
}

// Where the day begins first, UTC+14. A person's own zone is not known here.
const EARLIEST_ZONE_MS = 14 * 3_600_000;

/** Refuses a first day that has begun nowhere yet: nothing would be shared until then. */
export function refuseFutureDay(day: string | null, now: Date): void {
  const latest = new Date(now.getTime() + EARLIEST_ZONE_MS).toISOString().slice(0, 10);
  if (day !== null && day > latest) throw invalidRequest('dataFrom', 'must not be in the future');
}

function moveLater(present: string | null, wanted: string | null, now: Date): string | null {
  if (wanted === null || wanted === present) return present;
  refuseFutureDay(wanted, now);
  if (present !== null && wanted < present) {
    throw invalidRequest('dataFrom', 'must not be earlier than the present one');
  }
  return wanted;
}
