import type { RefusalReason } from '@phds/catalog/wire-names';

/** What the session endpoints answer (the contract's names and shapes). Instants are RFC 3339 in UTC. */

export interface AppProfile {
  readonly clientId: string;
  readonly name: string;
  readonly homepageUrl: string | null;
  readonly privacyPolicyUrl: string | null;
  readonly logoUrl: string | null;
}

/** An app by the name that the person agreed to. */
export interface NamedApp {
  readonly clientId: string;
  readonly name: string;
  /** Present exactly when the app has another name now. */
  readonly currentName?: string;
}

/** Something that an app changed about itself. */
export interface AppChange {
  readonly field: 'name' | 'homepageUrl' | 'privacyPolicyUrl' | 'logoUrl';
  readonly from: string | null;
  readonly to: string | null;
  readonly at: string;
}

export interface RequestedScope {
  readonly scope: string;
  readonly title: string;
  readonly description: string | null;
  readonly sensitive: boolean;
  readonly alreadyShared: boolean;
}

export type PendingStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';

export interface PendingApproval {
  readonly id: string;
  readonly status: PendingStatus;
  readonly app: AppProfile & { readonly redirectHost: string };
  readonly requestedScopes: readonly RequestedScope[];
  readonly purpose: string | null;
  readonly clientAuthenticated: boolean;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** Present exactly when approved. */
  readonly approved?: ApprovedTerms;
}

/** What a person approves; the same terms again repeat the decision. */
export interface ApprovedTerms {
  readonly scopes: readonly string[];
  /** Absent when the end of the connection is kept. */
  readonly expiresInDays?: number;
  readonly keepExpiry?: true;
  /** YYYY-MM-DD; null is everything. */
  readonly dataFrom: string | null;
}

export interface Decision {
  /** The way back to the app; null for a denial when the app has removed its redirect URI since. */
  readonly redirectUri: string | null;
}

export type GrantStatus = 'active' | 'expired' | 'revoked';

export interface Grant {
  readonly id: string;
  /** As it was shown at the latest approval. */
  readonly app: AppProfile & NamedApp;
  /** What the app changed since, oldest first; absent when nothing. In lists the latest change of each field, of active grants alone. */
  readonly appChanges?: readonly AppChange[];
  readonly scopes: readonly string[];
  readonly status: GrantStatus;
  readonly grantedAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  readonly revokedBy: string | null;
  readonly lastAccessAt: string | null;
  readonly accessCount: number;
  /** The first day the app sees (YYYY-MM-DD); null is everything. */
  readonly dataFrom: string | null;
}

export interface Access {
  readonly id: string;
  readonly at: string;
  readonly app: NamedApp;
  readonly grantId: string;
  readonly scope: string;
  readonly endpoint: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly recordCount: number;
  readonly outcome: 'released' | 'refused';
  readonly reason: RefusalReason | null;
}

/** Accesses of one app on one UTC day. */
export interface AccessDay {
  readonly date: string;
  readonly app: NamedApp;
  readonly released: number;
  readonly refused: number;
}

export interface TrendPoint {
  readonly type: string;
  readonly start: string;
  readonly end: string;
  readonly unit: string;
  readonly count: number;
  readonly value: number;
  readonly min: number;
  readonly max: number;
}

export interface Preview {
  readonly scope: string;
  readonly total: number;
  readonly newest: readonly Readonly<Record<string, unknown>>[];
  readonly trend: readonly TrendPoint[];
}

export type AppStatus = 'active' | 'suspended' | 'revoked';

export interface DeveloperApp {
  readonly clientId: string;
  readonly secretLast4: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  readonly description: string | null;
  readonly homepageUrl: string | null;
  readonly privacyPolicyUrl: string | null;
  readonly logoUrl: string | null;
  readonly requirePkce: boolean;
  readonly status: AppStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface NewApp extends DeveloperApp {
  /** Shown this once. */
  readonly clientSecret: string;
}

export interface RotatedSecret {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly secretLast4: string;
}

/** Requests of one app on one UTC day at one endpoint. */
export interface UsageDay {
  readonly date: string;
  readonly endpoint: string;
  readonly released: number;
  readonly refused: number;
  /** The refused ones by HTTP status, counted seconds later. */
  readonly refusals: readonly { readonly status: number; readonly count: number }[];
}

export interface Session {
  readonly userId: string;
}
