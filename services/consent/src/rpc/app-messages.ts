import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  AppLockKind as AppLockKindMessage,
  type AppLock as AppLockMessage,
  type AppProfile as AppProfileMessage,
  type AppProfileSchema,
  AppStatus as AppStatusMessage,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/user-id';
import type { AppLock, AppLockKind, AppProfile, AppStatus, ReportedApp } from '../domain/app.ts';
import { parseMoment, parseName, parseText } from './parameters.ts';

const TO_MESSAGE = {
  active: AppStatusMessage.ACTIVE,
  suspended: AppStatusMessage.SUSPENDED,
  revoked: AppStatusMessage.REVOKED,
} as const satisfies Record<AppStatus, AppStatusMessage>;

export function toAppStatusMessage(status: AppStatus): AppStatusMessage {
  return TO_MESSAGE[status];
}

export function parseAppStatus(message: AppStatusMessage): AppStatus {
  const statuses: readonly AppStatus[] = ['active', 'suspended', 'revoked'];
  const status = statuses.find((candidate) => TO_MESSAGE[candidate] === message);
  if (status === undefined) throw invalidRequest('status', 'must be active, suspended or revoked');
  return status;
}

const LOCK_KINDS = {
  suspension: AppLockKindMessage.SUSPENSION,
  approval: AppLockKindMessage.APPROVAL,
} as const satisfies Record<AppLockKind, AppLockKindMessage>;

export function toAppLockMessage({ kind, reason, since }: AppLock) {
  return { kind: LOCK_KINDS[kind], reason, since: timestampFromDate(since) };
}

/** The lock to set; null to lift it. */
export function findAppLock(message: AppLockMessage | undefined): Pick<AppLock, 'kind' | 'reason'> | null {
  if (message === undefined) return null;
  const kinds: readonly AppLockKind[] = ['suspension', 'approval'];
  const kind = kinds.find((candidate) => LOCK_KINDS[candidate] === message.kind);
  if (kind === undefined) throw invalidRequest('lock.kind', 'must be suspension or approval');
  return { kind, reason: parseText('lock.reason', message.reason, 1_000) };
}

export function toAppProfileMessage(app: AppProfile): MessageInitShape<typeof AppProfileSchema> {
  const { clientId, name, ownerId, description, developerName, homepageUrl, privacyPolicyUrl } = app;
  return { clientId, name, ownerId, description, developerName, homepageUrl, privacyPolicyUrl };
}

export function parseReportedApp(message: AppProfileMessage | undefined): ReportedApp {
  if (message === undefined) throw invalidRequest('app', 'is missing');
  return {
    clientId: parseName('app.clientId', message.clientId),
    name: parseName('app.name', message.name, 512),
    ownerId: parseUserId(message.ownerId, 'app.ownerId'),
    description: parseText('app.description', message.description),
    developerName: parseText('app.developerName', message.developerName),
    homepageUrl: parseText('app.homepageUrl', message.homepageUrl),
    privacyPolicyUrl: parseText('app.privacyPolicyUrl', message.privacyPolicyUrl),
    updatedAt: parseMoment('app.updatedAt', message.updatedAt),
  };
}
