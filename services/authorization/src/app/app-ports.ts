// The interfaces for registered apps. Every method may throw `unavailable`.

import type { Listed, Page } from '@phds/catalog/pagination';
import type { App, AppLock, AppLockKind, AppStatus, ChangedState, LedgerState } from '../domain/app.ts';
import type { SettingsChange } from '../domain/app-settings.ts';

/** The stored part of a client secret. */
export interface SecretTrace {
  readonly hash: Uint8Array;
  readonly last4: string;
}

/** An app with the hashes of its secrets; null when it has none. */
export interface Credential {
  readonly app: App;
  readonly secretHash: Uint8Array | null;
  /** The secret that the current one replaced; its end may be over. */
  readonly previous: { readonly hash: Uint8Array; readonly expiresAt: Date } | null;
}

/** What is kept of a secret that was replaced. */
export type ReplacedSecret = Pick<App, 'previousSecretLast4' | 'previousSecretExpiresAt'>;

/** Which apps are listed; null for all. */
export interface AppFilter {
  readonly ownerId: string | null;
  readonly lockKind: AppLockKind | null;
}

/** The registered apps. */
export interface AppStore {
  /**
   * Finds by client id with one indexed look-up, whether it exists or not. An app whose secret a restore suspends is returned as
   * suspended.
   */
  findCredential(clientId: string): Promise<Credential | null>;
  findApp(clientId: string): Promise<App | null>;
  /** Newest first. */
  listApps(filter: AppFilter, page: Page): Promise<Listed<App>>;
  countApps(ownerId: string): Promise<number>;
  /** Stores a new app unless its owner already has `limit` apps, in which case it returns false. Exact under concurrency. */
  insertApp(app: App, secret: SecretTrace, limit: number): Promise<boolean>;
  /** Replaces the given fields; null when the app is not this owner's. `updatedAt` increases with every change, whatever `now` is. */
  updateSettings(clientId: string, ownerId: string, change: SettingsChange, now: Date): Promise<App | null>;
  /**
   * Replaces the secret; null if the app is revoked. The old one is kept until then, or fails from the commit on; the one before it
   * fails in any case.
   */
  replaceSecret(
    clientId: string,
    secret: SecretTrace,
    now: Date,
    keptUntil: Date | null,
  ): Promise<ReplacedSecret | null>;
  /** Stores the ledger's state unless ours is newer. A new epoch removes the secrets. */
  applyLedgerState(clientId: string, state: ChangedState): Promise<void>;
}

/** An app's public profile with the time of its last change; consent ignores older profiles than the stored one. */
export type AppProfile = Pick<
  App,
  | 'clientId'
  | 'ownerId'
  | 'name'
  | 'description'
  | 'developerName'
  | 'homepageUrl'
  | 'privacyPolicyUrl'
  | 'logoUrl'
  | 'updatedAt'
>;

/** A change of an app that is at a certain revision. */
export interface AppCommand {
  readonly clientId: string;
  readonly expectedRevision: number;
  /** The state of our copy. A ledger restored from a backup continues above it. */
  readonly known: Pick<LedgerState, 'epoch' | 'revision'>;
}

export interface StatusCommand extends AppCommand {
  readonly status: AppStatus;
}

export interface LockCommand extends AppCommand {
  /** Null lifts the lock. */
  readonly lock: Pick<AppLock, 'kind' | 'reason'> | null;
}
