import { createHash } from 'node:crypto';
import type { Scope } from '@phds/catalog/scopes';
import { invalidRequest } from '@phds/service-kit/errors';

/** What a grant allows. */
export interface GrantTerms {
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date;
  /** The first day that the app sees, `YYYY-MM-DD`; null for no limit. */
  readonly dataFrom: string | null;
}

/** What a person withdraws; null keeps a value. */
export interface Narrowing {
  /** The remaining scopes. */
  readonly scopes: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly dataFrom: string | null;
}

/** The terms after narrowing an active grant. Throws `invalid_request` for anything that would widen the terms or end the grant. */
export function narrowTerms(terms: GrantTerms, narrowing: Narrowing, now: Date): GrantTerms {
  return {
    scopes: narrowScopes(terms.scopes, narrowing.scopes),
    expiresAt: shorten(terms.expiresAt, narrowing.expiresAt, now),
    dataFrom: moveLater(terms.dataFrom, narrowing.dataFrom, now),
  };
}

export function sameTerms(one: GrantTerms, other: GrantTerms): boolean {
  return (
    sameScopes(one.scopes, other.scopes) &&
    one.expiresAt.getTime() === other.expiresAt.getTime() &&
    one.dataFrom === other.dataFrom
  );
}

/** Whether the new terms share less than the former ones in any respect. */
export function sharesLess(after: GrantTerms, before: GrantTerms): boolean {
  return (
    before.scopes.some((scope) => !after.scopes.includes(scope)) ||
    after.expiresAt < before.expiresAt ||
    (after.dataFrom ?? '') > (before.dataFrom ?? '')
  );
}

/** Whether two lists contain the same scopes, in any order. */
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

// The earliest time zone, UTC+14. The person's own zone is not known here.
const EARLIEST_ZONE_MS = 14 * 3_600_000;

/** Refuses a first day that has not begun anywhere yet, because nothing would be shared until then. */
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

/** 128 bits, so that two terms never have the same revision by chance. */
const CHARACTERS = 22;

/**
 * Identifies the terms of a live grant, or that there is none. Equal exactly if grant, scopes, end and first day are equal, so a
 * decision that names it applies to what the screen showed.
 */
export function toRevision(live: (GrantTerms & { readonly grantId: string }) | null): string {
  if (live === null) return 'none';
  const { grantId, scopes, expiresAt, dataFrom } = live;
  const terms = JSON.stringify([grantId, scopes.toSorted(), expiresAt.toISOString(), dataFrom]);
  return createHash('sha256').update(terms).digest('base64url').slice(0, CHARACTERS);
}
