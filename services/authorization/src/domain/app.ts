import type { Scope } from '@phds/catalog/scopes';

/** Status of an app (contract section 4). */
export type AppStatus =
  /** May authenticate; its tokens work. */
  | 'active'
  /** Refused everywhere for now; unexpired tokens work again once it is active again. */
  | 'suspended'
  /** Grants, tokens, pending approvals and the secret issued so far are dead for good. */
  | 'revoked';

/** What a developer decides about an app. Texts that were not given are empty. */
export interface AppSettings {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly Scope[];
  readonly description: string;
  readonly homepageUrl: string;
  readonly privacyPolicyUrl: string;
  readonly logoUrl: string;
  readonly requirePkce: boolean;
}

/** Where an app stands in the consent ledger, which is the truth; copies here only ever get newer. */
export interface LedgerState {
  readonly status: AppStatus;
  /** Grows when the app is revoked; whatever was issued under an older one is dead. */
  readonly epoch: number;
  /** Grows with every change of status. */
  readonly revision: number;
}

/** A registered app. */
export interface App extends AppSettings {
  readonly clientId: string;
  /** User id of the developer. */
  readonly ownerId: string;
  readonly status: AppStatus;
  readonly epoch: number;
  readonly ledgerRevision: number;
  readonly statusChangedAt: Date;
  /** Empty while the app has no secret (it was revoked since). */
  readonly secretLast4: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
