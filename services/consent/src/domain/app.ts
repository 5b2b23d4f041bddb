/** Whether an app may act: `active`, `suspended` (reversible), `revoked` (ends everything issued so far for good). */
export type AppStatus = 'active' | 'suspended' | 'revoked';

/** What an app tells people about itself. Links are empty when unknown. */
export interface Profile {
  readonly name: string;
  readonly homepageUrl: string;
  readonly privacyPolicyUrl: string;
  readonly logoUrl: string;
}

/** What people see of an app. */
export interface AppProfile extends Profile {
  readonly clientId: string;
  /** User id of the developer. */
  readonly ownerId: string;
}

/** An app as authorization hands it over. */
export interface ReportedApp extends AppProfile {
  /** When its developer last changed it; null from a release that does not say so. */
  readonly updatedAt: Date | null;
}

/** How the ledger sees an app. */
export interface AppStanding {
  readonly status: AppStatus;
  /** Whatever carries an older epoch is dead (contract section 4). */
  readonly epoch: number;
  /** Grows by one with every change of status, so that a reader can tell newer from older. */
  readonly revision: number;
  readonly statusChangedAt: Date;
}
