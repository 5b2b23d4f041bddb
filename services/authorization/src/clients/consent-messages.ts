import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
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
import { createWireEnum } from '@phds/service-kit/wire-enums';
import type { AppProfile, Approval } from '../app/ports.ts';
import type { AppLock, AppLockKind, AppStatus, ChangedState } from '../domain/app.ts';
import type { GrantFacts, GrantStatus } from '../domain/token.ts';

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
