import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type AppProfile as AppProfileMessage,
  type AppProfileSchema,
  AppStatus as AppStatusMessage,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/user-id';
import type { AppProfile, AppStatus, ReportedApp } from '../domain/app.ts';
import { findMoment, parseName, parseText } from './parameters.ts';

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

export function toAppProfileMessage(app: AppProfile): MessageInitShape<typeof AppProfileSchema> {
  const { clientId, name, ownerId, description, developerName, homepageUrl, privacyPolicyUrl, logoUrl } = app;
  return {
    clientId,
    name,
    ownerId,
    ...(description !== null && { description }),
    ...(developerName !== null && { developerName }),
    homepageUrl,
    privacyPolicyUrl,
    logoUrl,
  };
}

/** Null when absent. */
function findText(parameter: string, text: string | undefined): string | null {
  return text === undefined ? null : parseText(parameter, text);
}

export function parseReportedApp(message: AppProfileMessage | undefined): ReportedApp {
  if (message === undefined) throw invalidRequest('app', 'is missing');
  return {
    clientId: parseName('app.clientId', message.clientId),
    name: parseName('app.name', message.name, 512),
    ownerId: parseUserId(message.ownerId, 'app.ownerId'),
    description: findText('app.description', message.description),
    developerName: findText('app.developerName', message.developerName),
    homepageUrl: parseText('app.homepageUrl', message.homepageUrl),
    privacyPolicyUrl: parseText('app.privacyPolicyUrl', message.privacyPolicyUrl),
    logoUrl: parseText('app.logoUrl', message.logoUrl),
    updatedAt: findMoment('app.updatedAt', message.updatedAt),
  };
}
