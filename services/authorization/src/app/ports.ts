// What the use cases need from outside, with the promises they rely on. Every method may throw `unavailable`.

import type { Listed, Page } from '@phds/catalog/pagination';
import type { Scope } from '@phds/catalog/scopes';
import type { App, AppStatus, LedgerState } from '../domain/app.ts';
import type { SettingsChange } from '../domain/app-settings.ts';
import type { AuthorizationRequest } from '../domain/authorization-request.ts';
import type { AuthorizationCode } from '../domain/code.ts';
import type { GrantStatus, Liveness } from '../domain/liveness.ts';
import type { AccessToken, RefreshToken, TokenFamily } from '../domain/token.ts';

/** What is kept of a client secret. */
export interface SecretTrace {
  readonly hash: Uint8Array;
  readonly last4: string;
}

/** An app together with the hash of its secret; null when it has none. */
export interface Credential {
  readonly app: App;
  readonly secretHash: Uint8Array | null;
}

/** The registered apps. */
export interface AppStore {
  /**
   * By client id: one indexed look-up, whether it exists or not. An app whose secret a restore suspends is answered as a suspended one.
   */
  findCredential(clientId: string): Promise<Credential | null>;
  findApp(clientId: string): Promise<App | null>;
  /** Newest first. */
  listApps(ownerId: string, page: Page): Promise<Listed<App>>;
  countApps(ownerId: string): Promise<number>;
  /** Stores a new app unless its owner has `limit` already: then false. Exact under concurrency. */
  insertApp(app: App, secret: SecretTrace, limit: number): Promise<boolean>;
  /** Replaces the given fields; null when the app is not this owner's. `updatedAt` grows with every change, whatever `now` is. */
  updateSettings(clientId: string, ownerId: string, change: SettingsChange, now: Date): Promise<App | null>;
  /** Replaces the secret unless the app is revoked: then false. The old one fails from the commit on. */
  replaceSecret(clientId: string, secret: SecretTrace, now: Date): Promise<boolean>;
  /** Takes over what the ledger says, if it is newer than what is here. A new epoch takes the secret away. */
  applyLedgerState(clientId: string, state: LedgerState & { statusChangedAt: Date }): Promise<void>;
}

/** Authorization requests and the codes that come of them. */
export interface AuthorizationStore {
  insertRequest(request: AuthorizationRequest): Promise<void>;
  deleteRequests(pendingIds: readonly string[]): Promise<void>;
  findRequest(pendingId: string): Promise<AuthorizationRequest | null>;
  /** Stores a code unless its approval has one already; answers the one that stands. */
  putCode(code: AuthorizationCode): Promise<AuthorizationCode>;
  findCode(hash: Uint8Array): Promise<AuthorizationCode | null>;
  /** Counts a failed attempt on a code that is not used. */
  countFailedAttempt(hash: Uint8Array): Promise<void>;
}

/** A token about to be stored. */
export interface NewAccessToken {
  readonly hash: Uint8Array;
  readonly clientId: string;
  readonly scopes: readonly Scope[];
  readonly appEpoch: number;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** Everything one exchange of a code makes. The refresh token has the family's scopes and end. */
export interface Exchange {
  readonly codeHash: Uint8Array;
  readonly family: Omit<TokenFamily, 'revokedAt'>;
  readonly access: NewAccessToken;
  readonly refreshHash: Uint8Array;
  readonly now: Date;
}

/** Everything one rotation of a refresh token makes. The successor has the family's scopes and the new end. */
export interface Rotation {
  readonly access: NewAccessToken;
  readonly successorHash: Uint8Array;
  readonly familyExpiresAt: Date;
  /** Scope of the access token, as text. */
  readonly scope: string;
  readonly now: Date;
}

/** A refresh token whose family nobody else can rotate, revoke or judge until the transaction ends. */
export interface LockedRefreshToken {
  readonly token: RefreshToken;
  rotate(rotation: Rotation): Promise<void>;
  /** End of an access token, asked inside the transaction; null when there is none of that hash. */
  findAccessExpiry(hash: Uint8Array): Promise<Date | null>;
}

/** Tokens and their families. */
export interface TokenStore {
  /**
   * Consumes a code and stores what its exchange makes, in one transaction. False, and nothing done, when the code is
   * used, expired or burned by now, or its app is not active under the code's epoch. Of any number at once one wins.
   */
  exchange(exchange: Exchange): Promise<boolean>;
  /** Stores an app's own token; false when the app is not active under that epoch by now. */
  insertOwnToken(token: NewAccessToken): Promise<boolean>;
  /** With what decides about it in its family and app; one look-up. */
  findAccessToken(hash: Uint8Array): Promise<AccessToken | null>;
  findRefreshToken(hash: Uint8Array): Promise<RefreshToken | null>;
  /** Locks the token's family and runs `use` with the token as it is then; commits unless it throws. */
  withLockedRefreshToken<T>(
    hash: Uint8Array,
    use: (locked: LockedRefreshToken | null) => Promise<T>,
  ): Promise<T>;
  /** Notes a revocation that the ledger has; idempotent. */
  markFamilyRevoked(familyId: string, now: Date): Promise<void>;
  /** Notes a revocation that the ledger has; idempotent. */
  markTokenRevoked(hash: Uint8Array, now: Date): Promise<void>;
}

/** What the erasure of a person removed. */
export interface Erasure {
  readonly codes: number;
  readonly families: number;
  /** Apps that have no owner any more. */
  readonly apps: number;
}

/** The tables that name people. */
export interface PersonStore {
  /** Client ids of the person's apps that are not revoked. */
  findOpenApps(userId: string): Promise<string[]>;
  /** Removes every row of the person, and the person from the apps; all or nothing. */
  erase(userId: string): Promise<Erasure>;
}

/** What people see of an app, and when it last changed: consent ignores what is older than what it knows. */
export type AppProfile = Pick<
  App,
  'clientId' | 'ownerId' | 'name' | 'homepageUrl' | 'privacyPolicyUrl' | 'logoUrl' | 'updatedAt'
>;

/** The consent service's ledger of what is alive: the one truth. Every method is idempotent. */
export interface ConsentLedger {
  /** Makes the app known, or replaces what people see of it. */
  putApp(profile: AppProfile): Promise<LedgerState>;
  /** Effective everywhere when it answers that status; another one means that the app stands at another revision. */
  setAppStatus(command: StatusCommand): Promise<LedgerState & { statusChangedAt: Date | null }>;
  /** Ends a family for good. `expiresAt` is when all it issued is over by itself. */
  revokeFamily(familyId: string, expiresAt: Date): Promise<void>;
  /** Ends one access token for good. */
  revokeToken(hash: Uint8Array, expiresAt: Date): Promise<void>;
  checkLiveness(query: LivenessQuery): Promise<Liveness>;
}

/** A status for an app that stands at a revision. */
export interface StatusCommand {
  readonly clientId: string;
  readonly status: AppStatus;
  readonly expectedRevision: number;
  /** Where the copy here stands. A ledger that was restored from a backup goes on above it. */
  readonly known: Pick<LedgerState, 'epoch' | 'revision'>;
}

/** What to ask the ledger about; null leaves a part out. */
export interface LivenessQuery {
  readonly clientId: string;
  /** The app's epoch when the credential was issued. */
  readonly appEpoch: number;
  readonly grantId: string | null;
  readonly familyId: string | null;
  readonly tokenHash: Uint8Array | null;
  /** Of an access token: of an app's own one nothing else tells the ledger the age. */
  readonly issuedAt?: Date;
}

/** What the approval screen shows of a request. */
export interface PendingApproval {
  readonly id: string;
  readonly app: AppProfile;
  readonly appEpoch: number;
  readonly redirectHost: string;
  readonly scopes: readonly Scope[];
  readonly purpose: string;
  readonly clientAuthenticated: boolean;
}

/** A user's decision, as it came. */
export interface Decision {
  readonly pendingId: string;
  readonly scopes: readonly string[];
  readonly allRequested: boolean;
  readonly expiresInDays: number;
  /** The live grant keeps its end. */
  readonly keepExpiry: boolean;
  readonly dataFrom: string;
  readonly language: string;
}

/** What an approval came to. */
export interface Approval {
  readonly grantId: string;
  readonly clientId: string;
  readonly userId: string;
  readonly scopes: readonly string[];
  readonly grantExpiresAt: Date;
  readonly decidedAt: Date;
  readonly appEpoch: number;
}

/** One grant of an app, without a word about the person. */
export interface OwnGrant {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly status: GrantStatus;
  readonly grantedAt: Date;
  readonly expiresAt: Date;
}

/** The consent service's pending approvals and grants. It verifies the session itself. */
export interface ConsentApprovals {
  /** Idempotent by id. Answers the ids of those that consent removed for it. Throws `app_not_active`, `rate_limited`. */
  open(pending: PendingApproval): Promise<readonly string[]>;
  /** Whether the pending approval still waits for the user's decision. Claims it. Throws `not_found`, also when somebody else has it. */
  isUndecided(session: string, pendingId: string): Promise<boolean>;
  /** The same decision by the same user again answers the same. */
  approve(session: string, decision: Decision): Promise<Approval>;
  deny(session: string, pendingId: string): Promise<void>;
  /** Newest first. */
  listAppGrants(clientId: string, page: Page): Promise<Listed<OwnGrant>>;
}

/** Vouches for an access token towards health-data. Answers a signed text. */
export type SignAssertion = (assertion: {
  clientId: string;
  userId: string;
  grantId: string;
  familyId: string;
  scopes: readonly string[];
  tokenHash: string;
  tokenExpiresAt: number;
  dataFrom: string | null;
}) => Promise<string>;
