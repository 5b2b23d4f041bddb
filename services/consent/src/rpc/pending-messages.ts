import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type ApprovedTermsSchema,
  type ApproveRequest,
  type ConnectionSchema,
  type OpenPendingApprovalRequest,
  type PendingApprovalSchema,
  PendingStatus as PendingStatusMessage,
} from '@phds/contracts/phds/consent/v1/consent_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import type { OpeningRequest } from '../approvals.ts';
import type {
  Approval,
  Connection,
  GrantLife,
  PendingApprovalView,
  PendingStatus,
} from '../domain/pending-approval.ts';
import { toRevision } from '../domain/revisions.ts';
import { parseReportedApp, toAppProfileMessage } from './app-messages.ts';
import { parseName, parseScopes, parseText } from './parameters.ts';

const TO_MESSAGE = {
  pending: PendingStatusMessage.PENDING,
  approved: PendingStatusMessage.APPROVED,
  denied: PendingStatusMessage.DENIED,
  expired: PendingStatusMessage.EXPIRED,
  cancelled: PendingStatusMessage.CANCELLED,
} as const satisfies Record<PendingStatus, PendingStatusMessage>;

/** Null for every status. */
export function findPendingStatus(message: PendingStatusMessage): PendingStatus | null {
  if (message === PendingStatusMessage.UNSPECIFIED) return null;
  const statuses = Object.keys(TO_MESSAGE) as PendingStatus[];
  const status = statuses.find((candidate) => TO_MESSAGE[candidate] === message);
  if (status === undefined) throw invalidRequest('status', `must be one of ${statuses.join(', ')}`);
  return status;
}

export function toPendingMessage(
  pending: PendingApprovalView,
): MessageInitShape<typeof PendingApprovalSchema> {
  return {
    id: pending.id,
    status: TO_MESSAGE[pending.status],
    app: toAppProfileMessage(pending.app),
    redirectHost: pending.redirectHost,
    requestedScopes: pending.scopes.map((scope) => ({
      scope,
      alreadyShared: pending.connection?.scopes.includes(scope) ?? false,
    })),
    purpose: pending.purpose,
    clientAuthenticated: pending.clientAuthenticated,
    createdAt: timestampFromDate(pending.createdAt),
    expiresAt: timestampFromDate(pending.expiresAt),
    ...(pending.approval === null ? {} : { approved: toTermsMessage(pending.approval) }),
    revision: toRevision(pending.connection),
    ...(pending.connection === null ? {} : { connection: toConnectionMessage(pending.connection) }),
  };
}

function toConnectionMessage(connection: Connection): MessageInitShape<typeof ConnectionSchema> {
  const { grantId, appName, scopes, expiresAt, dataFrom } = connection;
  const end = timestampFromDate(expiresAt);
  return { grantId, appName, scopes: [...scopes], expiresAt: end, dataFrom: dataFrom ?? '' };
}

function toTermsMessage({ scopes, days, dataFrom }: Approval): MessageInitShape<typeof ApprovedTermsSchema> {
  const end = days === 'kept' ? { keepExpiry: true } : { expiresInDays: days };
  return { scopes: [...scopes], dataFrom: dataFrom ?? '', ...end };
}

/** Null for the default. */
export function findLife({ keepExpiry, expiresInDays }: ApproveRequest): GrantLife | null {
  if (keepExpiry) return 'kept';
  return expiresInDays === 0 ? null : expiresInDays;
}

export function parseOpening(request: OpenPendingApprovalRequest): OpeningRequest {
  // `apr_` and 128 bits in base62.
  if (!isId('apr', request.id) || request.id.length < 26)
    throw invalidRequest('id', 'must be an apr_ id of 128 bits');
  const purpose = parseText('purpose', request.purpose);
  const scopes = parseScopes('scopes', request.scopes);
  return {
    id: request.id,
    app: parseReportedApp(request.app),
    appEpoch: request.appEpoch,
    redirectHost: parseName('redirectHost', request.redirectHost, 512),
    scopes,
    // Anybody can send a request in an app's name; only the secret proves that these are the app's words.
    purpose: request.clientAuthenticated ? purpose : '',
    clientAuthenticated: request.clientAuthenticated,
    network: request.clientAuthenticated ? '' : parseText('network', request.network),
  };
}
