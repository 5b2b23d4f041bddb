import type { Listed, Page } from '@phds/catalog/pagination';
import type { Scope } from '@phds/catalog/scopes';
import type { GrantEnder } from '@phds/catalog/wire-names';
import type { App, AppLock, AppLockKind, AppStatus, ChangedState, LedgerState } from '../domain/app.ts';
import type { SettingsChange } from '../domain/app-settings.ts';
import type { AuthorizationCode, AuthorizationRequest } from '../domain/authorization-request.ts';
import type { ParsedKeys } from '../domain/public-keys.ts';
import type { AccessToken, GrantStatus, Liveness, TokenFamily } from '../domain/token.ts';

// Interfaces that the use cases require, with their guarantees. Every method may throw `unavailable`.

/** Authorization requests and their codes. */
export interface AuthorizationStore {
  insertRequest(request: AuthorizationRequest): Promise<void>;
  deleteRequests(pendingIds: readonly string[]): Promise<void>;
  findRequest(pendingId: string): Promise<AuthorizationRequest | null>;
  /** Moves a request's end later; never earlier. */
  extendRequest(pendingId: string, expiresAt: Date): Promise<void>;
  /** Stores a code unless its approval already has one. Returns the stored one. */
  putCode(code: AuthorizationCode): Promise<AuthorizationCode>;
  findCode(hash: Uint8Array): Promise<AuthorizationCode | null>;
  /** Counts a failed attempt on an unused code. */
  countFailedAttempt(hash: Uint8Array): Promise<void>;
}

/** A token to store. */
export interface NewAccessToken {
  readonly hash: Uint8Array;
  readonly clientId: string;
  readonly scopes: readonly Scope[];
  /** As in AccessToken, like those below. */
  readonly jkt: string | null;
  readonly appEpoch: number;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** The result of one exchange of a code. The tokens have the code's app and epoch. */
export interface Exchange {
  readonly codeHash: Uint8Array;
  readonly scopes: readonly Scope[];
  readonly familyId: string;
  readonly familyExpiresAt: Date;
  readonly accessHash: Uint8Array;
  readonly accessExpiresAt: Date;
  readonly jkt: string | null;
  /** As in TokenFamily. */
  readonly familyJkt: string | null;
  readonly refreshHash: Uint8Array;
  readonly now: Date;
}

/** An access token for the use of a refresh token, and its family afterwards. */
export interface Rotation extends Pick<TokenFamily, 'refreshHash' | 'generation' | 'scopes'> {
  readonly familyId: string;
  /** That at which the use has found the family. */
  readonly seenGeneration: number;
  readonly familyExpiresAt: Date;
  /** The requested scope, see `TokenFamily.rotatedScope`. */
  readonly scope: string;
  readonly accessHash: Uint8Array;
  readonly accessScopes: readonly Scope[];
  readonly accessExpiresAt: Date;
  readonly jkt: string | null;
  readonly now: Date;
}

/** Signed JWTs that are accepted once: client assertions and DPoP proofs. */
export interface UsedJwts {
  /**
   * Notes the use of a JWT, by a SHA-256 that identifies it, until `expiresAt`. False if it was used before. Of concurrent calls one
   * gets true, also of those of other processes.
   */
  use(hash: Uint8Array, expiresAt: Date): Promise<boolean>;
}

/** A DPoP proof whose form and claims are right, and whose signature has not been verified. */
export interface UnverifiedProof {
  /** Thumbprint of its key. */
  readonly jkt: string;
  /** Identifies the proof. */
  readonly id: Uint8Array;
  isSigned(): boolean;
}

/** Reads a DPoP proof for a request (RFC 9449 section 4.3). */
export type ProofReader = (
  proof: string,
  subject: {
    readonly method: string;
    readonly url: string;
    readonly accessToken: null;
    readonly now: Date;
  },
) => UnverifiedProof | { readonly fault: string };

/** Where the keys of an app are. */
export type KeyPlace = Pick<App, 'clientId' | 'jwksUri'>;

/** What was fetched of the keys of apps. */
export interface FetchedKeysStore {
  /**
   * Takes the places that were last asked before that time, or never, except those of revoked apps. Nobody else gets them until they are due
   * again.
   */
  claim(due: {
    readonly now: Date;
    readonly askedBefore: Date;
    /** Apps with another time. */
    readonly named: { readonly clientIds: readonly string[]; readonly askedBefore: Date };
    readonly limit: number;
  }): Promise<readonly KeyPlace[]>;
  /** Stores what was fetched from there, unless the app has another place by now. */
  put(place: KeyPlace, keys: ParsedKeys, now: Date): Promise<void>;
}

/** Fetches key sets from public addresses. */
export interface KeySource {
  /** Whether a URL may be fetched, as far as it tells. */
  mayFetch(uri: string): boolean;
  /** Rejects only if the signal is aborted. */
  fetch(uri: string, signal: AbortSignal): Promise<{ readonly text: string } | { readonly fault: string }>;
}

/**
 * Judges a client assertion (RFC 7523) by the keys of the app. The answer takes as long without keys. A right one may have been used
 * before.
 */
export type AssertionVerifier = (
  assertion: string,
  signer: { readonly clientId: string; readonly jwks: string },
) => Promise<
  | { readonly jti: string; readonly memorableUntil: Date }
  | { readonly fault: string; readonly namesUnknownKey: boolean }
>;

/** Proves changes of other calls, before an answer repeats them. */
export interface ChangeProof {
  acknowledge(): Promise<void>;
}

/** Tokens and their families. What changes codes or tokens returns after its commit, which also proves it. */
export interface TokenStore {
  /**
   * Consumes a code and stores the result of its exchange in one transaction. Returns false without any effect when the code is
   * used, expired or invalidated, or its app is not active in the code's epoch. Of concurrent calls one wins.
   */
  exchange(exchange: Exchange): Promise<boolean>;
  /** Stores an app's own token. Returns false when the app is not active in that epoch. */
  insertOwnToken(token: NewAccessToken): Promise<boolean>;
  /** Finds a token with the facts of its family and app in one look-up. */
  findAccessToken(hash: Uint8Array): Promise<AccessToken | null>;
  findFamily(id: string): Promise<TokenFamily | null>;
  /**
   * Stores an access token of a family and its next generation, or for a repeated use the same one. Returns false without any effect when the
   * family is at another generation than was seen, or expired, suspended, revoked or erased. Of concurrent first uses one wins.
   */
  rotate(rotation: Rotation): Promise<boolean>;
  /** Records a revocation that the ledger has; idempotent. */
  markFamilyRevoked(familyId: string, now: Date): Promise<void>;
  /** Records a revocation that the ledger has; idempotent. */
  markTokenRevoked(hash: Uint8Array, now: Date): Promise<void>;
}

/** Consent's ledger, the authority on what is live. Every method is idempotent. */
export interface ConsentLedger {
  /** Creates the app in the ledger, or replaces its profile. */
  putApp(profile: AppProfile): Promise<LedgerState>;
  /** In effect everywhere when it returns the requested status. Another status means that the app is at another revision. */
  setAppStatus(command: StatusCommand): Promise<ChangedState>;
  /** In effect everywhere when it returns the requested lock. Another one means that the app is at another revision. */
  setAppLock(command: LockCommand): Promise<ChangedState>;
  setAppOwner(clientId: string, ownerId: string): Promise<void>;
  /** Revokes a family permanently. `expiresAt` is when everything issued by it has expired. */
  revokeFamily(familyId: string, expiresAt: Date): Promise<void>;
  /** Revokes one access token permanently. */
  revokeToken(hash: Uint8Array, expiresAt: Date): Promise<void>;
  checkLiveness(query: LivenessQuery): Promise<Liveness>;
}

/** The subjects of a liveness check; null omits one. */
export interface LivenessQuery {
  readonly clientId: string;
  /** The app's epoch when the credential was issued. */
  readonly appEpoch: number;
  readonly grantId: string | null;
  readonly familyId: string | null;
  readonly tokenHash: Uint8Array | null;
  /** Issue time of an access token; the ledger needs it for an app's own token. */
  readonly issuedAt?: Date;
}

/** The part of a request that the approval screen shows. */
export interface PendingApproval extends Pick<AuthorizationRequest, 'appEpoch' | 'scopes'> {
  readonly id: string;
  readonly app: AppProfile;
  readonly redirectHost: string;
  readonly purpose: string;
  readonly clientAuthenticated: boolean;
  /** A keyed hash of the client's network; empty when unknown. */
  readonly network: string;
}

/** A user's decision as received. */
export interface Decision {
  readonly pendingId: string;
  readonly scopes: readonly string[];
  readonly allRequested: boolean;
  readonly expiresInDays: number;
  /** Whether the live grant keeps its end. */
  readonly keepExpiry: boolean;
  readonly dataFrom: string;
  readonly language: string;
  /** What the person shared with the app when the screen was shown; empty when unknown. */
  readonly revision: string;
}

/** The result of an approval. */
export interface Approval {
  readonly grantId: string;
  readonly clientId: string;
  readonly userId: string;
  readonly scopes: readonly string[];
  readonly grantExpiresAt: Date;
  readonly decidedAt: Date;
  readonly appEpoch: number;
}

/** Consent's pending approvals. Consent verifies the session itself. */
export interface ConsentApprovals {
  /** Idempotent by id. Returns the ids of requests that consent removed for it. Throws `app_not_active`, `rate_limited`. */
  open(pending: PendingApproval): Promise<readonly string[]>;
  /** Whether the pending approval is still undecided. Does not claim it. Throws `not_found`, also when another person has claimed it. */
  isUndecided(session: string, pendingId: string): Promise<boolean>;
  /** Repeating a user's decision returns the same result. */
  approve(session: string, decision: Decision): Promise<Approval>;
  deny(session: string, pendingId: string): Promise<void>;
  /** Gives the person more time to decide and returns the new end. */
  extend(session: string, pendingId: string): Promise<Date>;
}

/** Signs an assertion about an access token for health-data. */
export type SignAssertion = (assertion: {
  clientId: string;
  userId: string;
  grantId: string;
  familyId: string;
  scopes: readonly string[];
  tokenHash: string;
  tokenExpiresAt: number;
  dataFrom: string | null;
  sub: string | null;
  jkt: string | null;
}) => Promise<string>;

// The interfaces for registered apps. Every method may throw `unavailable`.

/** The stored part of a client secret. */
export interface SecretTrace {
  readonly hash: Uint8Array;
  readonly last4: string;
}

/** An app with the hash of its secret; null when it has none. */
export interface Credential {
  readonly app: App;
  readonly secretHash: Uint8Array | null;
}

/** Which apps are listed; null for all. */
export interface AppFilter {
  readonly ownerId: string | null;
  readonly lockKind: AppLockKind | null;
}

/** The registered apps. */
export interface AppStore {
  /**
   * Finds by client id with one indexed look-up, whether it exists or not. An app whose secret or keys a restore suspends is
   * returned as suspended.
   */
  findCredential(clientId: string): Promise<Credential | null>;
  findApp(clientId: string): Promise<App | null>;
  /** Newest first. */
  listApps(filter: AppFilter, page: Page): Promise<Listed<App>>;
  countApps(ownerId: string): Promise<number>;
  /** Runs `change` while no other change of this app is in progress, at any replica. */
  alone<T>(clientId: string, change: () => Promise<T>): Promise<T>;
  /** Stores a new app unless its owner already has `limit` apps, in which case it returns false. Exact under concurrency. */
  insertApp(app: App, secret: SecretTrace | null, limit: number): Promise<boolean>;
  /**
   * Replaces the given fields; null when the app has changed or is no longer this owner's. `updatedAt` increases with every change,
   * whatever `now` is. The method `private_key_jwt` ends the secret.
   */
  updateSettings(
    known: Pick<App, 'clientId' | 'ownerId' | 'updatedAt'>,
    change: SettingsChange,
    now: Date,
  ): Promise<App | null>;
  /** False unless the app belongs to one of these two. An erased developer is an empty id. */
  setOwner(clientId: string, ownerId: string, formerId: string): Promise<boolean>;
  /**
   * Replaces the secret; false if the app is revoked, has this secret already or has none because of its key. The old one fails from
   * the commit on.
   */
  replaceSecret(clientId: string, secret: SecretTrace, now: Date): Promise<boolean>;
  /** Stores the ledger's state unless ours is newer. A new epoch removes the secret and the keys. */
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

/** Which grants of an app are listed; null for all. */
export interface OwnGrantFilter {
  readonly status: GrantStatus | null;
  /** Of one person. */
  readonly sub: string | null;
  /** Only those after the grant with this id. */
  readonly before: string | null;
  /** Only those whose person asked for deletion. */
  readonly deletionRequested: boolean;
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

/** What the erasure of a person removed. */
export interface Erasure {
  readonly codes: number;
  readonly families: number;
  /** Number of apps that lost their owner. */
  readonly apps: number;
}

/** The tables with user ids. */
export interface PersonStore {
  /** Client ids of the person's apps that are not revoked. */
  findOpenApps(userId: string): Promise<string[]>;
  /**
   * Removes every row of the person, and the person from the apps, in steps that each commit. Returns when nothing is left; after an
   * interruption a repeat continues.
   */
  erase(userId: string): Promise<Erasure>;
}
