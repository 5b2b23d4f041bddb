import type { ProblemCode, ProblemStatus } from '@phds/catalog/problems';
import { AppError, type Reason } from '@phds/service-kit/errors';

/** An error with HTTP-specific parts: its own status, header fields, or additional members of the body. */
export class HttpError extends AppError {
  readonly status: number;
  readonly code: ProblemCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: ProblemCode,
    message: string,
    { headers = {}, members = {} }: Partial<Pick<HttpError, 'headers' | 'members'>> = {},
  ) {
    super('invalid_request', message);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.members = members;
  }
}

export function methodNotAllowed(allow: string): HttpError {
  return new HttpError(405, 'METHOD_NOT_ALLOWED', `This resource answers ${allow} only.`, {
    headers: { Allow: allow },
  });
}

export function unsupportedMediaType(accepted: string): HttpError {
  return new HttpError(415, 'INVALID_REQUEST', `The body must be ${accepted}, in UTF-8 and not compressed.`);
}

/** The connection is not closed here: a client that is still sending would then lose the response. */
export function bodyTooLarge(maxBytes: number): HttpError {
  return new HttpError(413, 'INVALID_REQUEST', `The body must not be larger than ${maxBytes} bytes.`);
}

export function urlTooLong(maxBytes: number): HttpError {
  return new HttpError(400, 'INVALID_REQUEST', `The URL must not be longer than ${maxBytes} bytes.`);
}

export function unsupportedVersion(): HttpError {
  return new HttpError(400, 'UNSUPPORTED_VERSION', 'This version of the API does not exist.', {
    members: { supportedVersions: ['1'] },
  });
}

interface Meaning {
  readonly status: number;
  readonly code: ProblemCode;
  readonly title: string;
}

/** A meaning whose status is the one that the catalog gives for its code. */
type ListedMeaning = {
  [C in ProblemCode]: Meaning & { readonly code: C; readonly status: ProblemStatus<C> };
}[ProblemCode];

/** The HTTP status and code of every reason. */
const MEANING: Readonly<Record<Reason, ListedMeaning>> = {
  internal: { status: 500, code: 'INTERNAL_ERROR', title: 'Internal error' },
  unavailable: { status: 503, code: 'INTERNAL_ERROR', title: 'Temporarily unavailable' },
  // Internal misconfiguration; details are only logged.
  caller_not_admitted: { status: 500, code: 'INTERNAL_ERROR', title: 'Internal error' },
  unauthorized: { status: 401, code: 'UNAUTHORIZED', title: 'Unauthorized' },
  token_expired: { status: 401, code: 'TOKEN_EXPIRED', title: 'Access token expired' },
  // Reaches clients only when the renewed assertion is refused too, because clocks differ. A retry may succeed.
  assertion_stale: { status: 503, code: 'INTERNAL_ERROR', title: 'Temporarily unavailable' },
  insufficient_scope: { status: 403, code: 'INSUFFICIENT_SCOPE', title: 'Insufficient scope' },
  consent_required: { status: 403, code: 'CONSENT_REQUIRED', title: 'Consent required' },
  step_up_required: { status: 403, code: 'STEP_UP_REQUIRED', title: 'New sign-in required' },
  not_a_developer: { status: 403, code: 'NOT_A_DEVELOPER', title: 'Not a developer' },
  invalid_request: { status: 400, code: 'INVALID_REQUEST', title: 'Invalid request' },
  not_found: { status: 404, code: 'NOT_FOUND', title: 'Not found' },
  conflict: { status: 409, code: 'CONFLICT', title: 'Conflict' },
  pending_expired: { status: 409, code: 'PENDING_EXPIRED', title: 'Pending approval expired' },
  already_decided: { status: 409, code: 'ALREADY_DECIDED', title: 'Already decided' },
  app_not_active: { status: 409, code: 'APP_NOT_ACTIVE', title: 'App not active' },
  no_scopes_approved: { status: 400, code: 'NO_SCOPES_APPROVED', title: 'No scopes approved' },
  rate_limited: { status: 429, code: 'RATE_LIMITED', title: 'Too many requests' },
  access_not_recorded: { status: 503, code: 'ACCESS_NOT_RECORDED', title: 'Access not recorded' },
  invalid_grant: { status: 400, code: 'INVALID_GRANT', title: 'Invalid grant' },
  invalid_scope: { status: 400, code: 'INVALID_SCOPE', title: 'Invalid scope' },
  unsupported_grant_type: { status: 400, code: 'UNSUPPORTED_GRANT_TYPE', title: 'Unsupported grant type' },
  unauthorized_client: { status: 400, code: 'UNAUTHORIZED_CLIENT', title: 'Unauthorized client' },
  cursor_expired: { status: 410, code: 'CURSOR_EXPIRED', title: 'Cursor expired' },
};

/** Status, code and title of an error over HTTP. */
export function meaningOf(error: AppError): Meaning {
  const meaning: Meaning = MEANING[error.reason];
  if (!(error instanceof HttpError)) return meaning;
  return { status: error.status, code: error.code, title: TITLES[error.status] ?? meaning.title };
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  405: 'Method not allowed',
  408: 'Request timeout',
  413: 'Body too large',
  415: 'Unsupported media type',
  417: 'Expectation failed',
  431: 'Headers too large',
  503: 'Temporarily unavailable',
};

const DEFAULT_RETRY_SECONDS = 1;

/** Header fields of an error: its own, `Retry-After`, and `WWW-Authenticate` challenges for a live token (RFC 6750 3). */
export function errorHeaders(error: AppError): Record<string, string> {
  const headers: Record<string, string> = error instanceof HttpError ? { ...error.headers } : {};
  const { status } = meaningOf(error);
  if (status === 503 || status === 429) {
    headers['Retry-After'] = String(error.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS);
  }
  return headers;
}
