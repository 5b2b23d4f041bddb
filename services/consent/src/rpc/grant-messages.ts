import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type {
  AppGrantSchema,
  ConnectedAppSchema,
  ConsentGrantSchema,
} from '@phds/contracts/phds/consent/v1/consent_pb';
import { GrantStatus as GrantStatusMessage } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import type { ConnectedApp, Grant, GrantStatus, GrantView } from '../domain/grant.ts';
import { toAppProfileMessage } from './app-messages.ts';

const TO_MESSAGE = {
  active: GrantStatusMessage.ACTIVE,
  expired: GrantStatusMessage.EXPIRED,
  revoked: GrantStatusMessage.REVOKED,
} as const satisfies Record<GrantStatus, GrantStatusMessage>;

export function toGrantStatusMessage(status: GrantStatus): GrantStatusMessage {
  return TO_MESSAGE[status];
}

/** Null for every status. */
export function findGrantStatus(message: GrantStatusMessage): GrantStatus | null {
  if (message === GrantStatusMessage.UNSPECIFIED) return null;
  const statuses: readonly GrantStatus[] = ['active', 'expired', 'revoked'];
  const status = statuses.find((candidate) => TO_MESSAGE[candidate] === message);
  if (status === undefined) throw invalidRequest('status', 'must be active, expired or revoked');
  return status;
}

export function toGrantMessage(grant: GrantView): MessageInitShape<typeof ConsentGrantSchema> {
  return {
    id: grant.id,
    app: toAppProfileMessage(grant.app),
    scopes: [...grant.scopes],
    status: TO_MESSAGE[grant.status],
    grantedAt: timestampFromDate(grant.grantedAt),
    expiresAt: timestampFromDate(grant.expiresAt),
    ...(grant.revokedAt !== null && { revokedAt: timestampFromDate(grant.revokedAt) }),
    revokedBy: toRevokedBy(grant),
    endedBy: grant.endedBy ?? '',
    ...(grant.lastAccessAt !== null && { lastAccessAt: timestampFromDate(grant.lastAccessAt) }),
    accessCount: grant.accessCount,
    dataFrom: grant.dataFrom ?? '',
    currentAppName: grant.currentAppName,
    redirectHost: grant.redirectHost,
    purpose: grant.purpose,
    ...toDeletionRequest(grant),
    appChanges: grant.appChanges.map((change) => ({ ...change, at: timestampFromDate(change.at) })),
  };
}

function toRevokedBy({ status, endedBy }: Grant): string {
  if (status !== 'revoked') return '';
  return endedBy === 'person' ? 'user' : 'app';
}

/** A grant as its app sees it; of the person only what identifies them to this app. */
export function toAppGrantMessage(grant: Grant): MessageInitShape<typeof AppGrantSchema> {
  return {
    id: grant.id,
    scopes: [...grant.scopes],
    status: TO_MESSAGE[grant.status],
    grantedAt: timestampFromDate(grant.grantedAt),
    expiresAt: timestampFromDate(grant.expiresAt),
    ...toDeletionRequest(grant),
    dataFrom: grant.dataFrom ?? '',
    sub: grant.sub,
    ...(grant.endedBy !== null && { endedAt: timestampFromDate(grant.revokedAt ?? grant.expiresAt) }),
    endedBy: grant.endedBy ?? '',
  };
}

function toDeletionRequest({ deletionRequestedAt }: Grant) {
  return deletionRequestedAt === null ? {} : { deletionRequestedAt: timestampFromDate(deletionRequestedAt) };
}

export function toConnectedAppMessage(app: ConnectedApp): MessageInitShape<typeof ConnectedAppSchema> {
  return { ...app };
}
