import type { Listed, Page } from '@phds/catalog/pagination';
import type { GrantEnder } from '@phds/catalog/wire-names';
import type { GrantStatus } from '../domain/liveness.ts';

/** Which grants of an app are listed; null for all. */
export interface OwnGrantFilter {
  readonly status: GrantStatus | null;
  /** Of one person. */
  readonly sub: string | null;
  /** Only those after the grant with this id. */
  readonly before: string | null;
}

/** One grant of an app; of the person only what identifies them to this app. */
export interface OwnGrant {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly status: GrantStatus;
  readonly grantedAt: Date;
  readonly expiresAt: Date;
  /** When the person asked the app to delete what it has read. */
  readonly deletionRequestedAt: Date | null;
  /** First day that the app may see (YYYY-MM-DD); null for no limit. */
  readonly dataFrom: string | null;
  /** Null while consent does not say. */
  readonly sub: string | null;
  /** Null while active, like the next one. */
  readonly endedAt: Date | null;
  readonly endedBy: GrantEnder | null;
}

/** The grants of one app in consent. Every method may throw `unavailable`. */
export interface ConsentGrants {
  /** Newest first. */
  list(clientId: string, filter: OwnGrantFilter, page: Page): Promise<Listed<OwnGrant>>;
  /** Throws `not_found`, also for another app's grant. */
  get(clientId: string, id: string): Promise<OwnGrant>;
  /** Ends a grant, in effect everywhere when it returns its time. Idempotent. Throws `not_found` as above. */
  end(clientId: string, id: string): Promise<Date>;
}
