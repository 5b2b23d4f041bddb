/** Whether an app may act: `active`, `suspended` (reversible), `revoked` (permanently ends everything issued so far). */
export type AppStatus = 'active' | 'suspended' | 'revoked';

/** An app's description of itself. Texts and links are empty when the app has none. */
export interface Profile {
  readonly name: string;
  readonly description: string;
  /** Who makes the app, in the developer's own words. */
  readonly developerName: string;
  readonly homepageUrl: string;
  readonly privacyPolicyUrl: string;
}

/** The public profile of an app. */
export interface AppProfile extends Profile {
  readonly clientId: string;
  /** User id of the developer. */
  readonly ownerId: string;
}

/** An app as reported by authorization. */
export interface ReportedApp extends AppProfile {
  /** Time of the developer's last change. */
  readonly updatedAt: Date;
}

/** An operator's lock. A locked app is never active, and its developer cannot change that. */
export interface AppLock {
  /** An operator suspended the app, or it waits for an operator's approval. */
  readonly kind: AppLockKind;
  /** For the developer; empty for an approval. */
  readonly reason: string;
  readonly since: Date;
}

export type AppLockKind = 'suspension' | 'approval';

/** The status of an app in the ledger. */
export interface AppState {
  readonly status: AppStatus;
  /** Everything issued in an older epoch is dead. */
  readonly epoch: number;
  /** Increases with every change of status, so that readers can order changes. */
  readonly revision: number;
  readonly statusChangedAt: Date;
  readonly lock: AppLock | null;
}
