import { create, type DescMethod, fromBinary, toBinary } from '@bufbuild/protobuf';
import { anyPack, anyUnpack } from '@bufbuild/protobuf/wkt';
import { type Code, ConnectError } from '@connectrpc/connect';
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import {
  type ErrorDetail,
  ErrorDetailSchema,
  Reason as WireReason,
} from '@phds/contracts/phds/common/v1/error_pb';
import { StatusSchema } from '@phds/contracts/phds/common/v1/status_pb';
import { AppError, type Reason, unavailable } from '../errors.ts';
import { toCauseText } from '../telemetry/log.ts';

/** Name of a gRPC status code, such as `OK` or `UNAVAILABLE`. */
export type RpcCode = keyof typeof status;

const CODES = new Map(
  Object.entries(status).flatMap(([name, code]) =>
    typeof code === 'number' ? [[code, name as RpcCode]] : [],
  ),
);

export function toRpcCode(code: number): RpcCode {
  return CODES.get(code) ?? 'UNKNOWN';
}

/** Full name of an rpc, as in the log and in the label `rpc`. */
export function toRpcName(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

/**
 * Observes the rpcs that a service calls or answers. For the caller, a batch is one call; the service answers each of its calls.
 * Observers must not throw.
 */
export interface RpcObserver {
  /** Called at the start of each call. The returned function is called exactly once, at its end. */
  started(method: DescMethod): (code: RpcCode) => void;
  /** A caller without a valid service token, or one that the rpc does not list, was refused. Only on the side that answers. */
  refused?(method: DescMethod): void;
}

/** The wire reason and gRPC status code of each reason. */
const WIRE: Readonly<Record<Reason, readonly [WireReason, status]>> = {
  internal: [WireReason.INTERNAL, status.INTERNAL],
  unavailable: [WireReason.UNAVAILABLE, status.UNAVAILABLE],
  caller_not_admitted: [WireReason.CALLER_NOT_ADMITTED, status.PERMISSION_DENIED],
  unauthorized: [WireReason.UNAUTHORIZED, status.UNAUTHENTICATED],
  token_expired: [WireReason.TOKEN_EXPIRED, status.UNAUTHENTICATED],
  assertion_stale: [WireReason.ASSERTION_STALE, status.UNAUTHENTICATED],
  insufficient_scope: [WireReason.INSUFFICIENT_SCOPE, status.PERMISSION_DENIED],
  consent_required: [WireReason.CONSENT_REQUIRED, status.PERMISSION_DENIED],
  not_a_developer: [WireReason.NOT_A_DEVELOPER, status.PERMISSION_DENIED],
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
  invalid_dpop_proof: [WireReason.INVALID_DPOP_PROOF, status.INVALID_ARGUMENT],
  cursor_expired: [WireReason.CURSOR_EXPIRED, status.FAILED_PRECONDITION],
};

const REASON_OF = new Map<WireReason, Reason>(
  Object.entries(WIRE).map(([reason, [wire]]) => [wire, reason as Reason]),
);

/** The name of the gRPC status code that the error is sent with. */
export function codeOf(error: AppError): RpcCode {
  return toRpcCode(WIRE[error.reason][1]);
}

// Errors are sent in trailers. An HTTP/2 client accepts 64 KiB of trailers; more would end the connection with all its calls. Texts
// may quote the caller, and each character can take nine bytes.
const MAX_MESSAGE = 500;
const MAX_PARAMETER = 64;
const MAX_VIOLATIONS = 20;
const MAX_VIOLATION = 200;

/** The error as a message, in which only the sizes of texts and lists are limited. */
export function toErrorDetail(error: AppError): ErrorDetail {
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
    cause: error.reason === 'unauthorized' ? toCauseText(error.cause, '') : '',
    clientId: error.clientId ?? '',
  });
}

/** Truncates the text without splitting a surrogate pair, which gRPC cannot encode. */
function clip(text: string, length: number): string {
  return (text.length > length ? `${text.slice(0, length - 1)}…` : text).toWellFormed();
}

/** The error that another service sent. */
export function fromErrorDetail(detail: ErrorDetail): AppError {
  return new AppError(REASON_OF.get(detail.reason) ?? 'internal', detail.message, {
    violations: detail.violations.map(({ parameter, message }) => ({ parameter, message })),
    requiredScope: detail.requiredScope || undefined,
    retryAfterSeconds: detail.retryAfterSeconds || undefined,
    clientId: detail.clientId || undefined,
    cause: detail.cause || undefined,
  });
}

/** Encodes the error for gRPC: status and `grpc-status-details-bin`. */
export function toGrpcError(error: AppError): { code: status; details: string; metadata: Metadata } {
  const code = WIRE[error.reason][1];
  const detail = toErrorDetail(error);
  const body = create(StatusSchema, {
    code,
    message: detail.message,
    details: [anyPack(ErrorDetailSchema, detail)],
  });
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from(toBinary(StatusSchema, body)));
  return { code, details: detail.message, metadata };
}

/** The error with the same code and details in every protocol of the Connect port. */
export function toConnectError(error: AppError): ConnectError {
  const detail = toErrorDetail(error);
  const details = [{ desc: ErrorDetailSchema, value: detail }];
  return new ConnectError(detail.message, WIRE[error.reason][1] as number as Code, undefined, details, error);
}

/** grpc-js's message for calls whose connection ended. Our servers always send details, so the message is not theirs. */
const CONNECTION_LOST = 'Received RST_STREAM';

/** grpc-js's message when a message exceeds a limit of either side. A retry would fail too. */
const TOO_LARGE = /^Received message .*larger than/;

/** The AppError of a failed call. Without details, only connection failures can be distinguished from other errors. */
export function fromGrpcError(error: ServiceError): AppError {
  const [bytes] = error.metadata?.get('grpc-status-details-bin') ?? [];
  const detail = bytes instanceof Buffer ? findDetail(bytes) : undefined;
  if (detail !== undefined) return fromErrorDetail(detail);
  if (error.code === status.RESOURCE_EXHAUSTED && TOO_LARGE.test(error.details)) {
    return tooLarge(error);
  }
  const away = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.RESOURCE_EXHAUSTED, status.CANCELLED];
  const isAway = away.includes(error.code) || error.details?.startsWith(CONNECTION_LOST) === true;
  return isAway ? unavailable(error) : new AppError('internal', '', { cause: error });
}

/** Whether a call got no answer of the service because there is no connection, or it ended. The call may have been executed. */
export function isConnectionLost(error: unknown): error is AppError {
  if (!(error instanceof AppError) || error.reason !== 'unavailable') return false;
  const { code, details } = (error.cause ?? {}) as Partial<ServiceError>;
  return code === status.UNAVAILABLE || details?.startsWith(CONNECTION_LOST) === true;
}

/** A response that no caller accepts. */
export function tooLarge(cause: unknown): AppError {
  return new AppError('internal', 'A message exceeds the size limit of the services.', { cause });
}

function findDetail(bytes: Buffer): ErrorDetail | undefined {
  try {
    const [detail] = fromBinary(StatusSchema, bytes).details;
    return detail === undefined ? undefined : anyUnpack(detail, ErrorDetailSchema);
  } catch {
    return undefined;
  }
}
