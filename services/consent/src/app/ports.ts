import type { Language } from '@phds/catalog/languages';
import type { Listed, Page } from '@phds/catalog/pagination';
import type { Scope } from '@phds/catalog/scopes';
import type { AppLock, AppState, AppStatus, ReportedApp } from '../domain/app.ts';
import type { ApprovalOutcome, DecisionFacts } from '../domain/decision.ts';
import type { ConnectedApp, Grant, GrantStatus, GrantTerms, GrantView } from '../domain/grant.ts';
import type { Liveness, LivenessQuery } from '../domain/liveness.ts';
import type {
  ConsentRequest,
  PendingApproval,
  PendingApprovalView,
  PendingStatus,
} from '../domain/pending-approval.ts';
import type { ReceiptFacts, ShownScope } from '../domain/receipt.ts';

// Every method commits before it returns and throws `unavailable` when the database is unavailable. Only the database's clock
// decides whether something has expired, so that all instances agree.

/** The apps in the ledger. */
export interface AppStore {
  /** Creates the app (active, epoch 1) or replaces its profile unless a newer one is stored. Never changes status, epoch or owner. */
  put(app: ReportedApp): Promise<AppState>;
  /**
   * Sets the status. Becoming revoked starts a new epoch. Setting the same status changes nothing unless the ledger is behind
   * `known`. Does nothing if the app is not at the expected revision, or would become active while it is locked. Null when unknown.
   */
  setStatus(command: StatusCommand): Promise<AppState | null>;
  /**
   * Sets or lifts the operator's lock, under the same conditions. A locked app that was active is suspended, and active again when
   * the lock is lifted, unless its developer has set another status meanwhile.
   */
  setLock(command: LockCommand): Promise<AppState | null>;
  /** False when unknown. */
  setOwner(clientId: string, ownerId: string): Promise<boolean>;
}

/** A change of an app that is at a certain revision. */
export interface AppCommand {
  readonly clientId: string;
  /** Null for any. */
  readonly expectedRevision: number | null;
  /** The highest epoch and revision known to authorization. A restored ledger continues above them. Zero means unknown. */
  readonly known: Pick<AppState, 'epoch' | 'revision'>;
}

export interface StatusCommand extends AppCommand {
  readonly status: AppStatus;
}

export interface LockCommand extends AppCommand {
  /** Null lifts the lock. */
  readonly lock: Pick<AppLock, 'kind' | 'reason'> | null;
}

/** The revocations of families and tokens; adding one twice has no further effect. */
export interface RevocationStore {
  revokeFamily(familyId: string, expiresAt: Date): Promise<void>;
  revokeToken(tokenHash: Uint8Array, expiresAt: Date): Promise<void>;
}

/** What was ended: one token, a sid, all sessions of a subject, or those of a subject without a sid. */
export interface SessionEnd {
  readonly kind: 'token' | 'sid' | 'subject' | 'subject_without_sid';
  /** SHA-256; nothing else of a session is stored. */
  readonly valueHash: Uint8Array;
}

/** The ends of people's sessions; adding one twice has no further effect. */
export interface SessionEndStore {
  add(ends: readonly SessionEnd[], endedAt: Date): Promise<void>;
}

export interface HashedSession {
  readonly tokenHash: Uint8Array;
  readonly sidHash: Uint8Array | null;
  readonly subjectHash: Uint8Array;
  readonly issuedAt: Date;
}

export interface SessionCheckStore {
  /** Sees every end that was added before the call. */
  isEnded(session: HashedSession): Promise<boolean>;
}

export interface LivenessStore {
  check(query: LivenessQuery): Promise<Liveness>;
}

export interface OpeningRequest extends ConsentRequest {
  readonly app: ReportedApp;
  readonly appEpoch: number;
  /** A keyed hash of the client's network; empty when unknown, and when the app was authenticated. */
  readonly network: string;
}

/** An opened pending approval, and the ids of those that were removed for it. */
export interface OpenedApproval {
  readonly kind: 'opened';
  readonly expiresAt: Date;
  readonly removedIds: readonly string[];
}

/** The result of opening a pending approval. `id_taken`: another app's request has this id. */
export type Opening =
  | OpenedApproval
  | { readonly kind: 'app_not_active' }
  | { readonly kind: 'too_many'; readonly retryAfterSeconds: number }
  | { readonly kind: 'id_taken' };

export interface PendingApprovalStore {
  /**
   * Even concurrent calls never exceed `maxLive` undecided, unexpired requests that an app authenticated. Extended and
   * unauthenticated ones do not count; of the unauthenticated ones that are unclaimed, `maxLive` are kept: the newest of each network, then
   * the second newest of each, and so on. Repeating an id returns the same result.
   */
  open(request: OpeningRequest, limits: { lifetimeSeconds: number; maxLive: number }): Promise<Opening>;
  /** Reads for a user and claims it if it is unclaimed; null when unknown or claimed by another user. */
  claim(id: string, userId: string): Promise<PendingApprovalView | null>;
  /** Reads for a user without claiming; null when unknown or claimed by another user. */
  find(id: string, userId: string): Promise<PendingApprovalView | null>;
  /**
   * Ends the time to decide `seconds` from now and counts the extension, unless `refuse` throws. Returns the new end; null when unknown
   * or not claimed by this user.
   */
  extend(
    id: string,
    userId: string,
    seconds: number,
    refuse: (pending: PendingApproval) => void,
  ): Promise<Date | null>;
  /** Removes the user's claim, if any, unless `refuse` throws. Returns false when unknown or claimed by another user. */
  release(id: string, userId: string, refuse: (pending: PendingApproval) => void): Promise<boolean>;
  /** Those claimed by the user, and unclaimed ones of the user's apps. */
  list(userId: string, status: PendingStatus | null, page: Page): Promise<Listed<PendingApprovalView>>;
}

export interface ApprovalCommand {
  readonly pendingId: string;
  readonly userId: string;
  /** Id for a new grant, if one is created. */
  readonly newGrantId: string;
  readonly language: Language;
  readonly describe: (scopes: readonly Scope[]) => readonly ShownScope[];
}

/** An approval, decided now or earlier. */
export interface Approved {
  readonly grantId: string;
  readonly clientId: string;
  readonly appEpoch: number;
  readonly scopes: readonly string[];
  readonly grantExpiresAt: Date;
  readonly decidedAt: Date;
  readonly repeated: boolean;
  /** Whether an existing live grant was changed. */
  readonly joined: boolean;
}

/** Decisions about pending approvals. `decide` receives facts that cannot change until its outcome is committed. */
export interface DecisionStore {
  /** Null when unknown or claimed by another user. If `decide` throws, nothing is changed. */
  approve(
    command: ApprovalCommand,
    decide: (facts: DecisionFacts) => ApprovalOutcome,
  ): Promise<Approved | null>;
  /** Returns the time of the denial: now, or the one that `decide` returns. Null as above. */
  deny(
    pendingId: string,
    userId: string,
    decide: (pending: PendingApproval) => Date | null,
  ): Promise<Date | null>;
}

/** Which grants of an app are listed; null for all. `Place` names a grant. */
export interface AppGrantFilter<Place> {
  readonly status: GrantStatus | null;
  /** Of one person. Anything that is no `sub` of the app is found in no grant. */
  readonly sub: string | null;
  /** Only those that come after this one in the list. */
  readonly before: Place | null;
  /** Only those whose person asked for deletion. */
  readonly deletionRequested: boolean;
}

/** Grants of people. Another person's grant is treated as unknown. */
export interface GrantStore {
  list(userId: string, status: GrantStatus | null, page: Page): Promise<Listed<GrantView>>;
  find(id: string, userId: string): Promise<GrantView | null>;
  /** Of any person. */
  findAny(id: string): Promise<GrantView | null>;
  /** The grant of a person that an app may have now, and its epoch; its time may be over. */
  findOpen(
    userId: string,
    clientId: string,
  ): Promise<{ readonly id: string; readonly appEpoch: number } | null>;
  /** Replaces the terms of the locked grant by the result of `change`; null keeps them. Returns false when unknown. */
  change(
    id: string,
    userId: string,
    change: (grant: Grant, now: Date) => GrantTerms | null,
  ): Promise<boolean>;
  /** Ends a grant and returns when. One that had ended keeps its status and time, and stays ended. Null when unknown. */
  revoke(id: string, userId: string): Promise<Date | null>;
  /** Ends every grant of a user as `revoke` does and returns the ids of those that were active. */
  revokeAll(userId: string): Promise<string[]>;
  listOfApp(clientId: string, filter: AppGrantFilter<Grant>, page: Page): Promise<Listed<Grant>>;
  findOfApp(id: string, clientId: string): Promise<Grant | null>;
  /** Like `revoke`, by the app. Null when unknown or another app's. */
  revokeByApp(id: string, clientId: string): Promise<Date | null>;
  /** Revokes a grant of any person. */
  revokeByOperator(id: string): Promise<Date | null>;
  /** The apps of a person's grants, the one with the latest grant first. */
  listApps(userId: string, page: Page): Promise<Listed<ConnectedApp>>;
  /** Records a request for deletion. A repeated one returns the first time. Null when unknown. */
  requestDeletion(id: string, userId: string): Promise<Date | null>;
}

/** Grants by their app. */
export interface SandboxGrantStore {
  isOwner(ownerId: string, clientId: string): Promise<boolean>;
  /** Null when unknown or another app's. */
  find(id: string, clientId: string): Promise<Grant | null>;
  /** Ends the time of an active grant now, as if it had run out; returns false when it had ended. */
  expire(id: string): Promise<boolean>;
}

export interface ReceiptStore {
  findReceipt(grantId: string, userId: string): Promise<ReceiptFacts | null>;
}

/** Signs statements that can be verified later. */
export interface Signer {
  /** Compact JWS of the content, issued at `at`. */
  sign(content: object, at: Date): Promise<string>;
}

/** The subject of an eviction. */
export type EvictionSubject =
  | { readonly case: 'tokenHash'; readonly value: Uint8Array }
  | { readonly case: 'familyId' | 'grantId' | 'clientId'; readonly value: string };

export interface EvictionPublisher {
  /**
   * Best effort, after the commit: returns immediately and never throws. A lost eviction delays a refusal in gateways but releases
   * no data.
   */
  publish(subject: EvictionSubject): void;
}
