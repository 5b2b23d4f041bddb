import { createHash } from 'node:crypto';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type ApproveRequest,
  type OpenPendingApprovalRequest,
  PendingStatus,
} from '@phds/contracts/phds/consent/v1/consent_pb';
import type { AppLock, AppProfile } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, notFound, type Reason, unauthorized, unavailable } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import type { SessionVerifier } from '@phds/service-kit/trust/session';

export interface FakeApp {
  profile: AppProfile | undefined;
  status: AppStatus;
  epoch: number;
  revision: number;
  changedAt: Date;
  lock?: Pick<AppLock, 'kind' | 'reason' | 'since'> | undefined;
}

export interface FakeGrant {
  id: string;
  clientId: string;
  userId: string;
  scopes: string[];
  status: GrantStatus;
  grantedAt: Date;
  expiresAt: Date;
  dataFrom: string;
  deletionRequestedAt?: Date;
  endedAt?: Date;
  endedBy?: string;
}

interface FakePending {
  request: OpenPendingApprovalRequest;
  /** `approve` with the scopes, or `deny`. */
  decision: string | null;
  claimedBy: string | null;
  expiresAt: Date;
  grantId: string;
  decidedAt: Date;
  scopes: string[];
}

const DAY_MS = 86_400_000;

/**
 * An in-memory consent service that behaves as its proto documents, for this service's tests. `away` makes rpcs unavailable, by
 * name or all of them with `*`; `calls` lists the received calls in order.
 */
export class FakeConsent {
  readonly apps = new Map<string, FakeApp>();
  readonly grants = new Map<string, FakeGrant>();
  readonly pending = new Map<string, FakePending>();
  /** Of apps that were transferred, by client id. */
  readonly owners = new Map<string, string>();
  readonly revokedFamilies = new Set<string>();
  readonly revokedTokens = new Set<string>();
  readonly away = new Set<string>();
  /** Rpcs that do their work but lose the response. */
  readonly lost = new Set<string>();
  /** Rpcs that are refused, with the reason. */
  readonly refused = new Map<string, Reason>();
  /** Ids that the next opening reports as removed. */
  removed: readonly string[] = [];
  /** Identifies what everybody shares with every app now. */
  revision = 'first';
  readonly calls: string[] = [];
  /** What operators were about to do, and how it ended. */
  readonly acts: string[] = [];
  /** Runs in each CheckLiveness after its judgement and before its response. */
  onCheckLiveness: () => Promise<void> = () => Promise.resolve();
  /** Runs in each Approve after its decision and before its response. */
  onApprove: () => Promise<void> = () => Promise.resolve();
  /** Runs in each SetAppLock before its response. */
  onSetAppLock: () => Promise<void> = () => Promise.resolve();
  readonly clock: Clock;
  readonly sessions: SessionVerifier;

  constructor(clock: Clock, sessions: SessionVerifier) {
    this.clock = clock;
    this.sessions = sessions;
  }

  /** The number of calls of an rpc. */
  count(rpc: string): number {
    return this.calls.filter((call) => call === rpc).length;
  }

  enter(rpc: string): void {
    this.calls.push(rpc);
    if (this.away.has(rpc) || this.away.has('*')) throw unavailable('told to be away');
    const reason = this.refused.get(rpc);
    if (reason !== undefined) throw new AppError(reason);
  }

  leave<T>(rpc: string, answer: T): T {
    if (this.lost.has(rpc)) throw unavailable('told to lose the answer');
    return answer;
  }

  app(clientId: string): FakeApp {
    const app = this.apps.get(clientId);
    if (app === undefined) throw notFound();
    return app;
  }

  grantOf(clientId: string, id: string): FakeGrant {
    const grant = this.grants.get(id);
    if (grant === undefined || grant.clientId !== clientId) throw notFound();
    return grant;
  }

  facts(grant: FakeGrant) {
    const over = grant.status === GrantStatus.ACTIVE && grant.expiresAt <= this.clock.now();
    const { scopes, userId, dataFrom } = grant;
    const expiresAt = timestampFromDate(grant.expiresAt);
    const sub = toFakeSub(grant);
    return { status: over ? GrantStatus.EXPIRED : grant.status, scopes, userId, dataFrom, expiresAt, sub };
  }

  /** Returns its expiry. */
  putPending(request: OpenPendingApprovalRequest): Date {
    const decidedAt = this.clock.now();
    const expiresAt = new Date(decidedAt.getTime() + 600_000);
    const fresh = { decision: null, claimedBy: null, grantId: '', scopes: [] };
    this.pending.set(request.id, { ...fresh, request, expiresAt, decidedAt });
    return expiresAt;
  }

  find(id: string, userId: string): FakePending {
    const pending = this.pending.get(id);
    if (pending === undefined || (pending.claimedBy ?? userId) !== userId) throw notFound();
    return pending;
  }

  claim(id: string, userId: string): FakePending {
    const pending = this.find(id, userId);
    pending.claimedBy = userId;
    return pending;
  }

  statusOf({ decision, expiresAt }: FakePending): PendingStatus {
    if (decision !== null) return decision === 'deny' ? PendingStatus.DENIED : PendingStatus.APPROVED;
    return expiresAt <= this.clock.now() ? PendingStatus.EXPIRED : PendingStatus.PENDING;
  }

  decide(id: string, decision: string, userId: string): FakePending {
    const pending = this.claim(id, userId);
    if (pending.decision !== null && pending.decision !== decision) throw new AppError('already_decided');
    if (this.statusOf(pending) === PendingStatus.EXPIRED) throw new AppError('pending_expired');
    if (pending.decision === null) pending.decidedAt = this.clock.now();
    pending.decision = decision;
    return pending;
  }

  /** Returns the new end of the time to decide. */
  extend(id: string, userId: string): Date {
    const pending = this.claim(id, userId);
    if (pending.decision !== null) throw new AppError('already_decided');
    if (this.statusOf(pending) === PendingStatus.EXPIRED) throw new AppError('pending_expired');
    pending.expiresAt = new Date(this.clock.now().getTime() + 600_000);
    return pending.expiresAt;
  }

  approve(
    wanted: Pick<
      ApproveRequest,
      'id' | 'scopes' | 'allRequested' | 'expiresInDays' | 'dataFrom' | 'revision'
    >,
    userId: string,
  ) {
    const known = this.pending.get(wanted.id);
    if (known?.decision === null && wanted.revision !== '' && wanted.revision !== this.revision) {
      throw new AppError('conflict', 'What you share has changed.');
    }
    const requested = known?.request.scopes ?? [];
    const scopes = wanted.allRequested ? requested : wanted.scopes;
    if (scopes.length === 0) throw new AppError('no_scopes_approved');
    const pending = this.decide(wanted.id, `approve ${scopes.join(' ')}`, userId);
    const clientId = pending.request.app?.clientId ?? '';
    const app = this.app(clientId);
    if (app.status !== AppStatus.ACTIVE) throw new AppError('app_not_active');
    if (pending.grantId === '') {
      pending.grantId = newId('grt');
      const grantedAt = pending.decidedAt;
      const expiresAt = new Date(grantedAt.getTime() + (wanted.expiresInDays || 90) * DAY_MS);
      const { grantId: id } = pending;
      const { dataFrom } = wanted;
      const status = GrantStatus.ACTIVE;
      this.grants.set(id, { id, clientId, userId, scopes, status, grantedAt, expiresAt, dataFrom });
    }
    const grant = this.grants.get(pending.grantId);
    if (grant === undefined) throw unauthorized();
    return {
      grantId: grant.id,
      clientId,
      userId,
      scopes,
      grantExpiresAt: timestampFromDate(grant.expiresAt),
      decidedAt: timestampFromDate(pending.decidedAt),
      appEpoch: pending.request.appEpoch,
    };
  }
}

/** The same for each grant of a person and an app. */
export function toFakeSub({ userId, clientId }: Pick<FakeGrant, 'userId' | 'clientId'>): string {
  return `sub_${createHash('sha256').update(`${userId} ${clientId}`).digest('hex').slice(0, 22)}`;
}

/** The time of a protobuf timestamp that must be present. */
export function toDate(time: Parameters<typeof timestampDate>[0] | undefined): Date {
  if (time === undefined) throw new Error('no time');
  return timestampDate(time);
}
