import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { GrantEnder } from '@phds/catalog/wire-names';
import type { ApproveResponse } from '@phds/contracts/phds/consent/v1/consent_pb';
import {
  AppLockKind as AppLockKindMessage,
  type AppLock as AppLockMessage,
  type AppProfileSchema,
  AppStatus as AppStatusMessage,
  type GrantFacts as GrantFactsMessage,
  GrantStatus as GrantStatusMessage,
  type SetAppLockResponse,
  type SetAppStatusResponse,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError } from '@phds/service-kit/errors';
import { createWireEnum } from '@phds/service-kit/rpc/messages';
import type { App, AppLock, AppLockKind, AppStatus, ChangedState, LedgerState } from '../domain/app.ts';
import type { AuthorizationRequest } from '../domain/authorization-request.ts';
import type { GrantFacts, GrantStatus } from '../domain/token.ts';

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

export const { toMessage: toAppStatusMessage, find: findAppStatus } = createWireEnum<
  AppStatus,
  AppStatusMessage
>({
  active: AppStatusMessage.ACTIVE,
  suspended: AppStatusMessage.SUSPENDED,
  revoked: AppStatusMessage.REVOKED,
});

const grantStatuses = createWireEnum<GrantStatus, GrantStatusMessage>({
  active: GrantStatusMessage.ACTIVE,
  expired: GrantStatusMessage.EXPIRED,
  revoked: GrantStatusMessage.REVOKED,
});

export const toGrantStatusMessage = grantStatuses.toMessage;

export const { toMessage: toLockKindMessage, find: findLockKind } = createWireEnum<
  AppLockKind,
  AppLockKindMessage
>({
  suspension: AppLockKindMessage.SUSPENSION,
  approval: AppLockKindMessage.APPROVAL,
});

export function toAppLockMessage({ kind, reason, since }: AppLock) {
  return { kind: toLockKindMessage(kind), reason, since: timestampFromDate(since) };
}

/** The state of an app in the ledger after a change. */
export function fromStateMessage(state: SetAppLockResponse | SetAppStatusResponse): ChangedState {
  const { status, epoch, revision, statusChangedAt, lock } = state;
  return {
    status: fromAppStatusMessage(status),
    epoch,
    revision,
    statusChangedAt: fromTimestamp(statusChangedAt),
    lock: lock === undefined ? null : fromAppLockMessage(lock),
  };
}

function fromAppLockMessage({ kind, reason, since }: AppLockMessage): AppLock {
  return { kind: findLockKind(kind) ?? refuse('kind of lock'), reason, since: fromTimestamp(since) };
}

export function fromAppStatusMessage(message: AppStatusMessage): AppStatus {
  return findAppStatus(message) ?? refuse('app status');
}

export function fromGrantStatusMessage(message: GrantStatusMessage): GrantStatus {
  return grantStatuses.find(message) ?? refuse('grant status');
}

export function toAppProfileMessage(app: AppProfile): MessageInitShape<typeof AppProfileSchema> {
  return {
    clientId: app.clientId,
    name: app.name,
    ownerId: app.ownerId,
    description: app.description,
    developerName: app.developerName,
    homepageUrl: app.homepageUrl,
    privacyPolicyUrl: app.privacyPolicyUrl,
    updatedAt: timestampFromDate(app.updatedAt),
  };
}

/** A required time. */
export function fromTimestamp(time: Timestamp | undefined): Date {
  return time === undefined ? refuse('time') : timestampDate(time);
}

export function fromApprovalMessage(approval: ApproveResponse): Approval {
  const { grantId, clientId, userId, scopes, appEpoch } = approval;
  return {
    grantId,
    clientId,
    userId,
    scopes,
    grantExpiresAt: fromTimestamp(approval.grantExpiresAt),
    decidedAt: fromTimestamp(approval.decidedAt),
    appEpoch,
  };
}

export function fromGrantMessage(grant: GrantFactsMessage): GrantFacts {
  return {
    status: fromGrantStatusMessage(grant.status),
    scopes: grant.scopes,
    expiresAt: fromTimestamp(grant.expiresAt),
    userId: grant.userId,
    dataFrom: grant.dataFrom || null,
    sub: grant.sub || null,
  };
}

/** Throws for a response of consent that violates the proto's documentation. */
function refuse(what: string): never {
  throw new AppError('internal', '', { cause: `the consent service sent no usable ${what}` });
}
