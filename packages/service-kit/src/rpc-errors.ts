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

// Errors travel in trailers, of which an HTTP/2 client takes 64 KiB: more ends the connection, with every other call on it. Texts
// may quote what a caller sent, and each character can take nine bytes there.
const MAX_MESSAGE = 500;
const MAX_PARAMETER = 64;
const MAX_VIOLATIONS = 20;
const MAX_VIOLATION = 200;

function toDetail(error: AppError): ErrorDetail {
  const violations = error.violations.slice(0, MAX_VIOLATIONS);
  return create(ErrorDetailSchema, {
    reason: WIRE[error.reason][0],
    message: clip(error.message, MAX_MESSAGE),
    violations: violations.map(({ parameter, message }) => ({
      parameter: clip(parameter, MAX_PARAMETER),
      message: clip(message, MAX_VIOLATION),
    })),
    requiredScope: error.requiredScope ?? '',
    retryAfterSeconds: error.retryAfterSeconds ?? 0,
  });
}

/** The text, or its beginning; never half of a surrogate pair, which gRPC cannot encode. */
function clip(text: string, length: number): string {
  return (text.length > length ? `${text.slice(0, length - 1)}…` : text).toWellFormed();
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
  const detail = toDetail(error);
  const body = create(StatusSchema, {
    code,
    message: detail.message,
    details: [anyPack(ErrorDetailSchema, detail)],
  });
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from(toBinary(StatusSchema, body)));
  return { code, details: detail.message, metadata };
}

/** What grpc-js says of calls whose connection ended under them. Our servers always send details, so they never said it. */
const CONNECTION_LOST = 'Received RST_STREAM';

/** What grpc-js says of messages over a limit, ours and the callee's. Sent again, they would be no smaller. */
const TOO_LARGE = /^Received message .*larger than/;

/** The AppError behind a failed call; without details only "does not answer" and "something else" can be told apart. */
export function fromGrpcError(error: ServiceError): AppError {
  const [bytes] = error.metadata?.get('grpc-status-details-bin') ?? [];
  const detail = bytes instanceof Buffer ? findDetail(bytes) : undefined;
  if (detail !== undefined) return fromDetail(detail);
  if (error.code === status.RESOURCE_EXHAUSTED && TOO_LARGE.test(error.details)) {
    return new AppError('internal', 'A message is larger than the services take.', { cause: error });
  }
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
