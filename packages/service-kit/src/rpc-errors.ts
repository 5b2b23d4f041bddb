import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { anyPack, anyUnpack } from '@bufbuild/protobuf/wkt';
import { type Code, ConnectError } from '@connectrpc/connect';
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import {
  type ErrorDetail,
  ErrorDetailSchema,
  Reason as WireReason,
} from '@phds/contracts/phds/common/v1/error_pb';
import { StatusSchema } from '@phds/contracts/phds/common/v1/status_pb';
import { AppError, type Reason, unavailable } from './errors.ts';

/** One total table: each reason's name on the wire and its gRPC status code (the same numbers as Connect's). */
const WIRE: Readonly<Record<Reason, readonly [WireReason, status]>> = {
  internal: [WireReason.INTERNAL, status.INTERNAL],
  unavailable: [WireReason.UNAVAILABLE, status.UNAVAILABLE],
  caller_not_admitted: [WireReason.CALLER_NOT_ADMITTED, status.PERMISSION_DENIED],
  unauthorized: [WireReason.UNAUTHORIZED, status.UNAUTHENTICATED],
  token_expired: [WireReason.TOKEN_EXPIRED, status.UNAUTHENTICATED],
  assertion_stale: [WireReason.ASSERTION_STALE, status.UNAUTHENTICATED],
  insufficient_scope: [WireReason.INSUFFICIENT_SCOPE, status.PERMISSION_DENIED],
  consent_required: [WireReason.CONSENT_REQUIRED, status.PERMISSION_DENIED],
  invalid_request: [WireReason.INVALID_REQUEST, status.INVALID_ARGUMENT],
  not_found: [WireReason.NOT_FOUND, status.NOT_FOUND],
  conflict: [WireReason.CONFLICT, status.FAILED_PRECONDITION],
  pending_expired: [WireReason.PENDING_EXPIRED, status.FAILED_PRECONDITION],
  already_decided: [WireReason.ALREADY_DECIDED, status.FAILED_PRECONDITION],
  app_not_active: [WireReason.APP_NOT_ACTIVE, status.FAILED_PRECONDITION],
  no_scopes_approved: [WireReason.NO_SCOPES_APPROVED, status.INVALID_ARGUMENT],
  rate_limited: [WireReason.RATE_LIMITED, status.RESOURCE_EXHAUSTED],
  access_not_recorded: [WireReason.ACCESS_NOT_RECORDED, status.UNAVAILABLE],
  invalid_grant: [WireReason.INVALID_GRANT, status.INVALID_ARGUMENT],
  invalid_scope: [WireReason.INVALID_SCOPE, status.INVALID_ARGUMENT],
  unsupported_grant_type: [WireReason.UNSUPPORTED_GRANT_TYPE, status.INVALID_ARGUMENT],
  unauthorized_client: [WireReason.UNAUTHORIZED_CLIENT, status.PERMISSION_DENIED],
};

const REASON_OF = new Map<WireReason, Reason>(
  Object.entries(WIRE).map(([reason, [wire]]) => [wire, reason as Reason]),
);

function toDetail(error: AppError): ErrorDetail {
  return create(ErrorDetailSchema, {
    reason: WIRE[error.reason][0],
    message: error.message,
    violations: error.violations.map(({ parameter, message }) => ({ parameter, message })),
    requiredScope: error.requiredScope ?? '',
    retryAfterSeconds: error.retryAfterSeconds ?? 0,
  });
}

function fromDetail(detail: ErrorDetail): AppError {
  return new AppError(REASON_OF.get(detail.reason) ?? 'internal', detail.message, {
    violations: detail.violations.map(({ parameter, message }) => ({ parameter, message })),
    ...(detail.requiredScope === '' ? {} : { requiredScope: detail.requiredScope }),
    ...(detail.retryAfterSeconds === 0 ? {} : { retryAfterSeconds: detail.retryAfterSeconds }),
  });
}

/** The error as the Connect protocol sends it. */
export function toConnectError(error: AppError): ConnectError {
  const code = WIRE[error.reason][1] as number as Code;
  return new ConnectError(error.message, code, undefined, [
    { desc: ErrorDetailSchema, value: toDetail(error) },
  ]);
}

/** The error as gRPC sends it: status and `grpc-status-details-bin`. */
export function toGrpcError(error: AppError): { code: status; details: string; metadata: Metadata } {
  const code = WIRE[error.reason][1];
  const body = create(StatusSchema, {
    code,
    message: error.message,
    details: [anyPack(ErrorDetailSchema, toDetail(error))],
  });
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from(toBinary(StatusSchema, body)));
  return { code, details: error.message, metadata };
}

/** What grpc-js says of calls whose connection ended under them. Our servers always send details, so they never said it. */
const CONNECTION_LOST = 'Received RST_STREAM';

/** The AppError behind a failed call; without details only "does not answer" and "something else" can be told apart. */
export function fromGrpcError(error: ServiceError): AppError {
  const [bytes] = error.metadata?.get('grpc-status-details-bin') ?? [];
  const detail = bytes instanceof Buffer ? findDetail(bytes) : undefined;
  if (detail !== undefined) return fromDetail(detail);
  const away = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.RESOURCE_EXHAUSTED, status.CANCELLED];
  const isAway = away.includes(error.code) || error.details?.startsWith(CONNECTION_LOST) === true;
  return isAway ? unavailable(error) : new AppError('internal', '', { cause: error });
}

function findDetail(bytes: Buffer): ErrorDetail | undefined {
  try {
    const [detail] = fromBinary(StatusSchema, bytes).details;
    return detail === undefined ? undefined : anyUnpack(detail, ErrorDetailSchema);
  } catch {
    return undefined;
  }
}
