import type { Listed, Page } from '@phds/catalog/pagination';
import type { AppStanding, AppStatus, ReportedApp } from '../domain/app.ts';
import type { ApprovalOutcome, DecisionFacts } from '../domain/decision.ts';
import type { Grant, GrantStatus, GrantTerms, GrantView } from '../domain/grant.ts';
import type { Liveness, LivenessQuery } from '../domain/liveness.ts';
import type {
  ConsentRequest,
  PendingApproval,
  PendingApprovalView,
  PendingStatus,
} from '../domain/pending-approval.ts';
import type { ReceiptFacts, ShownScope } from '../domain/receipt.ts';

// Every method commits before it answers and throws `unavailable` while the database is away. Whether something has expired
// is judged by the database's clock alone, so that all instances agree.

/** The ledger's view of apps. */
export interface AppStore {
  /** Creates the app (active, epoch 1) or replaces its display unless that is newer; status, epoch and owner never change here. */
  put(app: ReportedApp): Promise<AppStanding>;
  /**
   * Sets the status; becoming revoked starts a new epoch, the same status changes nothing unless the ledger is behind what is known.
   * Leaves an app alone that does not stand at the expected revision. null when unknown.
   */
  setStatus(command: StatusCommand): Promise<AppStanding | null>;
}

/** A status for an app. */
export interface StatusCommand {
  readonly clientId: string;
  readonly status: AppStatus;
  /** null is any. */
  readonly expectedRevision: number | null;
  /** Where the app has stood before, as far as authorization knows: a ledger that was restored goes on above it. Zeros are nothing. */
  readonly known: Pick<AppStanding, 'epoch' | 'revision'>;
}

/** The ledger of single credentials; adding twice is the same as once. */
export interface RevocationStore {
  revokeFamily(familyId: string, expiresAt: Date): Promise<void>;
  revokeToken(tokenHash: Uint8Array, expiresAt: Date): Promise<void>;
}

export interface LivenessStore {
  check(query: LivenessQuery): Promise<Liveness>;
}

export interface OpeningRequest extends ConsentRequest {
  readonly app: ReportedApp;
  readonly appEpoch: number;
}

/** An opened pending approval, and the ids of those that were removed for it. */
export interface OpenedApproval {
  readonly kind: 'opened';
  readonly expiresAt: Date;
  readonly removedIds: readonly string[];
}

/** How opening a pending approval went. `id_taken`: another app's request has that id. */
export type Opening =
  | OpenedApproval
  | { readonly kind: 'app_not_active' }
  | { readonly kind: 'too_many'; readonly retryAfterSeconds: number }
  | { readonly kind: 'id_taken' };

export interface PendingApprovalStore {
  /**
   * Parallel calls never exceed `maxLive` undecided, unexpired ones that an app authenticated; only those count. Of those that it did not
   * authenticate and nobody has claimed, the `maxLive` newest stay and older ones are removed. The same id again answers the same.
   */
  open(request: OpeningRequest, limits: { lifetimeSeconds: number; maxLive: number }): Promise<Opening>;
  /** Reads for a user, claiming it when nobody has; null when unknown or claimed by somebody else. */
  claim(id: string, userId: string): Promise<PendingApprovalView | null>;
  /** Claimed by the user, or unclaimed of an app that the user owns. */
  list(userId: string, status: PendingStatus | null, page: Page): Promise<Listed<PendingApprovalView>>;
}

export interface ApprovalCommand {
  readonly pendingId: string;
  readonly userId: string;
  /** Id of the grant, should a new one be made. */
  readonly newGrantId: string;
  readonly language: string;
  readonly describe: (scopes: readonly string[]) => readonly ShownScope[];
}

/** A decided approval, now or before. */
export interface Approved {
  readonly grantId: string;
  readonly clientId: string;
  readonly appEpoch: number;
  readonly scopes: readonly string[];
  readonly grantExpiresAt: Date;
  readonly decidedAt: Date;
  readonly repeated: boolean;
  /** An older live grant was changed. */
  readonly joined: boolean;
}

/** Decisions about pending approvals. `decide` judges facts that cannot change until its outcome is committed. */
export interface DecisionStore {
  /** null when unknown or claimed by somebody else. Whatever `decide` throws leaves everything as it was. */
  approve(
    command: ApprovalCommand,
    decide: (facts: DecisionFacts) => ApprovalOutcome,
  ): Promise<Approved | null>;
  /** Answers the moment of the denial: now, or the one that `decide` names. null as above. */
  deny(
    pendingId: string,
    userId: string,
    decide: (pending: PendingApproval) => Date | null,
  ): Promise<Date | null>;
}

/** Grants of people; another person's grant is as unknown as one that does not exist. */
export interface GrantStore {
  list(userId: string, status: GrantStatus | null, page: Page): Promise<Listed<GrantView>>;
  find(id: string, userId: string): Promise<GrantView | null>;
  /** Replaces the terms by what `change` makes of the locked grant; null leaves them. Answers false when unknown. */
  change(
    id: string,
    userId: string,
    change: (grant: Grant, now: Date) => GrantTerms | null,
  ): Promise<boolean>;
  /** Ends a grant; one that was revoked before keeps its moment. null when unknown. */
  revoke(id: string, userId: string): Promise<Date | null>;
  /** Ends every active grant of a user, answering their ids. */
  revokeAll(userId: string): Promise<string[]>;
  listOfApp(clientId: string, page: Page): Promise<Listed<Grant>>;
}

export interface ReceiptStore {
  findReceipt(grantId: string, userId: string): Promise<ReceiptFacts | null>;
}

/** Signs what either side can show later. */
export interface Signer {
  /** Compact JWS of the content, issued at `at`. */
  sign(content: object, at: Date): Promise<string>;
}

/** What gateways have to forget. */
export type EvictionSubject =
  | { readonly case: 'tokenHash'; readonly value: Uint8Array }
  | { readonly case: 'familyId' | 'grantId' | 'clientId'; readonly value: string };

export interface EvictionPublisher {
  /** Best effort, after the commit: answers at once, never throws. Losing one costs freshness, never safety. */
  publish(subject: EvictionSubject): void;
}
