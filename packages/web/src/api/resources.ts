import type { ProblemCode } from '@phds/catalog/problems';
import type { Environment } from '@phds/catalog/sandbox';
import type { RefusalReason } from '@phds/catalog/wire-names';

/** Responses of the session endpoints. Instants are RFC 3339 in UTC. */

export interface AppProfile {
  readonly clientId: string;
  readonly name: string;
  readonly description: string | null;
  readonly developerName: string | null;
  readonly homepageUrl: string | null;
  readonly privacyPolicyUrl: string | null;
  readonly logoUrl: string | null;
}

/** An app with the name that the person approved. */
export interface NamedApp {
  readonly clientId: string;
  readonly name: string;
  /** Present only if the app has a different name now. */
  readonly currentName?: string;
}

/** A change that an app made to its profile. */
export interface AppChange {
  readonly field: 'name' | 'description' | 'developerName' | 'homepageUrl' | 'privacyPolicyUrl' | 'logoUrl';
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
  /** What the app says about it; null if the app says nothing about any. */
  readonly need: 'needed' | 'optional' | null;
}

/** What a person shares with an app now. */
export interface Connection {
  readonly grantId: string;
  /** As shown at the latest approval. */
  readonly appName: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string;
  /** The first day that the app sees (YYYY-MM-DD); null for no limit. */
  readonly dataFrom: string | null;
}

export type PendingStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';

/** An app as it was when it asked. */
export interface RequestingApp extends AppProfile {
  readonly redirectHost: string;
}

export interface PendingApproval {
  readonly id: string;
  readonly status: PendingStatus;
  readonly app: RequestingApp;
  readonly requestedScopes: readonly RequestedScope[];
  readonly purpose: string | null;
  readonly clientAuthenticated: boolean;
  readonly createdAt: string;
  readonly expiresAt: string;
  /**
   * Identifies the connection's present terms. A decision names it, so that it is refused if they have changed. Null from a service of
   * the release before.
   */
  readonly revision: string | null;
  /** Null if nothing is shared with the app now. */
  readonly connection: Connection | null;
  /** Present only if approved. */
  readonly approved?: ApprovedTerms;
}

/** The terms of an approval; sending the same terms again repeats the decision. */
export interface ApprovedTerms {
  readonly scopes: readonly string[];
  /** Absent to keep the connection's end. */
  readonly expiresInDays?: number;
  readonly keepExpiry?: true;
  /** YYYY-MM-DD; null for no limit. */
  readonly dataFrom: string | null;
}

export interface Decision {
  /** The redirect to the app; null for a denial if the app has removed its redirect URI since. */
  readonly redirectUri: string | null;
}

export type GrantStatus = 'active' | 'expired' | 'revoked';

export interface Grant {
  readonly id: string;
  /** As shown at the latest approval. */
  readonly app: AppProfile & NamedApp & { readonly redirectHost: string | null };
  /**
   * The app's changes since then, oldest first; absent if there are none. Lists contain only the latest change of each field, for
   * active grants.
   */
  readonly appChanges?: readonly AppChange[];
  /** What the app said at the latest approval. */
  readonly purpose: string | null;
  readonly scopes: readonly string[];
  readonly status: GrantStatus;
  readonly grantedAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  /** `person`, `app`, `developer` (who revoked the app) or `expiry`; null while active. */
  readonly endedBy: string | null;
  readonly lastAccessAt: string | null;
  readonly accessCount: number;
  /** The first day that the app sees (YYYY-MM-DD); null for no limit. */
  readonly dataFrom: string | null;
  /** When the person asked the app to delete what it has read. */
  readonly deletionRequestedAt: string | null;
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

/** The accesses of one app on one day of the requested time zone. */
export interface AccessDay {
  readonly date: string;
  readonly app: NamedApp;
  readonly released: number;
  readonly refused: number;
  readonly scopes: readonly {
    readonly scope: string;
    readonly released: number;
    readonly refused: number;
  }[];
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
  /** The doses of medications; absent for other scopes. */
  readonly doses?: {
    readonly total: number;
    readonly newest: readonly Readonly<Record<string, unknown>>[];
  };
}

export type AppStatus = 'active' | 'suspended' | 'revoked';

export interface DeveloperApp {
  readonly clientId: string;
  /** Never changes. */
  readonly environment: Environment;
  readonly secretLast4: string;
  /** The secret before the present one, which works until then; null when it does not. */
  readonly previousSecretExpiresAt: string | null;
  readonly previousSecretLast4: string | null;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  readonly description: string | null;
  readonly developerName: string | null;
  readonly homepageUrl: string | null;
  readonly privacyPolicyUrl: string | null;
  readonly logoUrl: string | null;
  readonly requirePkce: boolean;
  readonly status: AppStatus;
  /** While an operator keeps it from being active: suspended it, or has not approved it yet. */
  readonly lock: {
    readonly kind: 'suspension' | 'approval';
    readonly reason: string | null;
    readonly since: string;
  } | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface NewApp extends DeveloperApp {
  /** Returned only this time. */
  readonly clientSecret: string;
}

export interface RotatedSecret {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly secretLast4: string;
  readonly previousSecretExpiresAt: string | null;
}

/** The requests of one app at one endpoint on one UTC day. */
export interface UsageDay {
  readonly date: string;
  readonly endpoint: string;
  readonly released: number;
  readonly refused: number;
  /** Refused requests by HTTP status, counted with a delay of seconds. */
  readonly refusals: readonly { readonly status: number; readonly count: number }[];
}

/** An answered request of an app, without path, query, person or value. */
export interface LoggedRequest {
  readonly requestId: string;
  readonly at: string;
  readonly method: string;
  readonly endpoint: string;
  readonly status: number;
  /** Null for an answer that is not an error. */
  readonly code: ProblemCode | null;
  readonly ms: number;
}

export interface Session {
  readonly userId: string;
  /** Null when the identity provider gives none. */
  readonly name: string | null;
}

/** The answer to a sign-out. */
export interface EndedSession {
  /** The identity provider's page to sign out there too; null if it has none. */
  readonly continueTo: string | null;
}
