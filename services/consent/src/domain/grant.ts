import type { Scope } from '@phds/catalog/scopes';
import type { GrantEnder } from '@phds/catalog/wire-names';
import { invalidRequest } from '@phds/service-kit/errors';
import type { AppProfile } from './app.ts';
import type { AppChange } from './shown-app.ts';

/** Status of a grant at the time of reading: `active -> expired | revoked`, by the database's clock. */
export type GrantStatus = 'active' | 'expired' | 'revoked';

/** What a grant allows. */
export interface GrantTerms {
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date;
  /** The first day that the app sees, `YYYY-MM-DD`; null for no limit. */
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
  /** Null while active. */
  readonly endedBy: GrantEnder | null;
  /** Identifies the person to this app only: the same in all of their grants for it until they are erased. */
  readonly sub: string;
  /** When the person asked the app to delete what it has read. */
  readonly deletionRequestedAt: Date | null;
}

/** An app that has or had a grant of a person. */
export interface ConnectedApp {
  readonly clientId: string;
  /** As shown at the latest approval. */
  readonly name: string;
  readonly currentName: string;
  /** As shown at the latest approval. */
  readonly redirectHost: string;
  /** As shown at the latest approval; empty when the app named none. */
  readonly developerName: string;
}

/** A grant as its person sees it. */
export interface GrantView extends Grant {
  /** As shown to the person at the latest approval. */
  readonly app: AppProfile;
  /** Host that received the response to that approval. */
  readonly redirectHost: string;
  /** Why the app asked, in its own words, at that approval; empty when it gave no reason. */
  readonly purpose: string;
  readonly currentAppName: string;
  /** The app's changes since that approval, oldest first. Lists contain only the latest change of each field, for active grants. */
  readonly appChanges: readonly AppChange[];
  /** Of released responses. */
  readonly lastAccessAt: Date | null;
  readonly accessCount: number;
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
