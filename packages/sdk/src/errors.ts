import type { components } from './generated/openapi.ts';

type Schemas = components['schemas'];

/** The literal codes of a schema; never where `code` is any text. */
type CodeOf<Schema> = Schema extends { readonly code: infer Code extends string }
  ? string extends Code
    ? never
    : Code
  : never;

/** The `code` of an error that the service answered. */
export type ServiceErrorCode = CodeOf<Schemas[keyof Schemas]>;

/** The `code` of an error that the SDK found itself. */
export type SdkErrorCode =
  /** No answer arrived: no connection, or a timeout. */
  | 'CONNECTION_FAILED'
  /** Something answered, but not as this service does: a proxy's page, for example. */
  | 'UNEXPECTED_ANSWER'
  /** The person said no. */
  | 'ACCESS_DENIED'
  /** The service sent the browser back with another error than a refusal by the person. */
  | 'AUTHORIZATION_FAILED'
  /** The callback does not belong to this authorization: `state` or `iss` differ, or the code is missing. */
  | 'CALLBACK_REFUSED'
  /** The token store holds no tokens of this connection. */
  | 'NOT_CONNECTED'
  /** The webhook's signature is wrong, or its time too far away. */
  | 'WEBHOOK_REFUSED';

export type ErrorCode = ServiceErrorCode | SdkErrorCode;

/** One parameter that the service refused. */
export interface ParameterError {
  readonly parameter: string;
  readonly message: string;
}

/** What an error says besides its code and message. */
interface ErrorDetails {
  readonly status?: number | null;
  readonly requestId?: string | null;
  readonly retryAfterSeconds?: number | null;
  readonly requiredScope?: string | null;
  readonly errors?: readonly ParameterError[];
  readonly cause?: unknown;
}

/** Every error of the SDK, except an abort by the caller's signal and what a token store throws. */
export class PhdsError extends Error {
  override readonly name = 'PhdsError';
  /** Tells errors apart. Messages may change, codes do not. */
  readonly code: ErrorCode;
  /** The HTTP status; null when nothing was answered. */
  readonly status: number | null;
  /** Identifies the request in the logs of the service. Null in the answers that never have one. */
  readonly requestId: string | null;
  /** The wait that the service asks for; null when it names none. */
  readonly retryAfterSeconds: number | null;
  /** With INSUFFICIENT_SCOPE and CONSENT_REQUIRED: the scope to ask for. */
  readonly requiredScope: string | null;
  /** With INVALID_REQUEST: the parameters at fault. */
  readonly errors: readonly ParameterError[];

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? null;
    this.requestId = details.requestId ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
    this.requiredScope = details.requiredScope ?? null;
    this.errors = details.errors ?? [];
  }

  /** Whether only the person can help, by a new approval: show your "Connect" button again. */
  get needsNewApproval(): boolean {
    return NEEDS_NEW_APPROVAL.has(this.code);
  }
}

const NEEDS_NEW_APPROVAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INVALID_GRANT',
  'CONSENT_REQUIRED',
  'INSUFFICIENT_SCOPE',
  'NOT_CONNECTED',
]);

/** Whether this is an error of the SDK, with one of the codes if any are given. */
export function isPhdsError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is PhdsError & { readonly code: Code } {
  return (
    error instanceof PhdsError && (codes.length === 0 || (codes as readonly string[]).includes(error.code))
  );
}

/** The error in an answer of the service. */
export function toPhdsError(status: number, headers: Headers, body: unknown): PhdsError {
  const fields = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  const { code, detail, error_description: description, requestId, requiredScope, errors } = fields;
  const facts = {
    status,
    requestId: asText(requestId) ?? headers.get('X-Request-Id'),
    retryAfterSeconds: parseRetryAfter(headers.get('Retry-After')),
    requiredScope: asText(requiredScope),
    errors: Array.isArray(errors) ? (errors as readonly ParameterError[]) : [],
  };
  if (typeof code !== 'string') {
    return new PhdsError(
      'UNEXPECTED_ANSWER',
      `The answer with status ${status} is not of this service.`,
      facts,
    );
  }
  const message = asText(detail) ?? asText(description) ?? `The service answered ${status} ${code}.`;
  const parameters = facts.errors.map(({ parameter, message: what }) => ` ${parameter}: ${what}`).join('');
  return new PhdsError(code as ServiceErrorCode, message + parameters, facts);
}

function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** `Retry-After` as seconds. A date is not used by this service and is ignored. */
function parseRetryAfter(value: string | null): number | null {
  return value !== null && /^\d+$/.test(value) ? Number(value) : null;
}
