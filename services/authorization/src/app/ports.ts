// Interfaces that the use cases require, with their guarantees. Every method may throw `unavailable`.

import type { Scope } from '@phds/catalog/scopes';
import type { ChangedState, LedgerState } from '../domain/app.ts';
import type { AuthorizationRequest } from '../domain/authorization-request.ts';
import type { AuthorizationCode } from '../domain/code.ts';
import type { Liveness } from '../domain/liveness.ts';
import type { AccessToken, RefreshToken } from '../domain/token.ts';
import type { AppProfile, LockCommand, StatusCommand } from './app-ports.ts';

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
  readonly refreshHash: Uint8Array;
  readonly now: Date;
}

/** The result of the first use of a refresh token. The successor has the family's new end. */
export interface Rotation {
  readonly tokenHash: Uint8Array;
  readonly familyId: string;
  readonly familyExpiresAt: Date;
  readonly accessHash: Uint8Array;
  readonly accessScopes: readonly Scope[];
  readonly accessExpiresAt: Date;
  readonly successorHash: Uint8Array;
  readonly successorScopes: readonly Scope[];
  /** The requested scope, see `RefreshToken.rotatedScope`. */
  readonly scope: string;
  readonly now: Date;
}

/** Proves changes of other calls, before an answer repeats them (docs/decisions/0011). */
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
  /** Finds a token with its family and the state of its successor, all at one time. */
  findRefreshToken(hash: Uint8Array): Promise<RefreshToken | null>;
  /** One of these tokens; null when none is stored. */
  findAnyRefreshToken(hashes: readonly Uint8Array[]): Promise<RefreshToken | null>;
  /**
   * Uses a refresh token for the first time and stores the result. Removes used and expired tokens of the family now and then, see
   * KEPT_GENERATIONS. Returns false without any effect when the token is used, expired
   * or suspended, or its family is revoked or erased. Of concurrent calls one wins.
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
  readonly neededScopes: readonly Scope[];
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
}) => Promise<string>;
