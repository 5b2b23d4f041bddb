import type { ServerResponse } from 'node:http';
import { type ProblemCode, type ProblemStatus, toProblemType } from '@phds/catalog/problems';
import { AppError, type Reason } from '@phds/service-kit/errors';
import { POSSESSION_ALGORITHMS } from '@phds/service-kit/trust/dpop';
import { isUnder } from './query.ts';
import { type Headers, send } from './respond.ts';

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

/** For what an app may ask only with an access token of its own. */
export function tokenOfPerson(): HttpError {
  const message =
    'This needs an access token of the app itself (client_credentials); the one presented acts for a person.';
  return new HttpError(403, 'UNAUTHORIZED_CLIENT', message);
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
  invalid_dpop_proof: { status: 400, code: 'INVALID_DPOP_PROOF', title: 'Invalid DPoP proof' },
  cursor_expired: { status: 410, code: 'CURSOR_EXPIRED', title: 'Cursor expired' },
};

/** Status, code and title of an error over HTTP. */
export function meaningOf(error: AppError): Meaning {
  const meaning: Meaning = MEANING[error.reason];
  if (!(error instanceof HttpError)) return meaning;
  return {
    status: error.status,
    code: error.code,
    title: CODE_TITLES[error.code] ?? TITLES[error.status] ?? meaning.title,
  };
}

/** Of codes that no reason has. */
const CODE_TITLES: Readonly<Partial<Record<ProblemCode, string>>> = {
  UNSUPPORTED_VERSION: 'Unsupported version',
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  405: 'Method not allowed',
  406: 'Not acceptable',
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

/** The error format: RFC 6749 under `/oauth`, RFC 9457 elsewhere. */
export type Surface = 'oauth' | 'problem';

export function surfaceOf(url: string): Surface {
  return isUnder('/oauth', url) ? 'oauth' : 'problem';
}

interface ErrorAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** An error in the format of its surface. */
export function toErrorAnswer(surface: Surface, error: AppError, requestId: string): ErrorAnswer {
  return surface === 'oauth' ? toOauthError(error, requestId) : toProblem(error, requestId);
}

/** Sends an error in the format of its surface. Authentication failures get the uniform 401 instead. */
export function sendError(
  response: ServerResponse,
  surface: Surface,
  error: AppError,
  requestId: string,
  extra: Headers = {},
): void {
  const { status, headers, body } = toErrorAnswer(surface, error, requestId);
  send(response, status, { ...headers, ...extra }, body);
}

/** Default detail for errors without a message. */
const DETAILS: Partial<Record<ProblemCode, string>> = {
  TOKEN_EXPIRED: 'The access token is past its expiry. Refresh it.',
  INSUFFICIENT_SCOPE: 'The access token does not carry the scope of this endpoint.',
  CONSENT_REQUIRED: 'No active consent of the user covers this endpoint.',
  ACCESS_NOT_RECORDED: 'The access could not be recorded, so no data was released. Try again later.',
  INTERNAL_ERROR: 'Something went wrong on our side. Try again later.',
  RATE_LIMITED: 'Too many requests. Try again after the time in Retry-After.',
  NOT_FOUND: 'There is nothing here.',
  INVALID_REQUEST: 'The request is not valid.',
  CONFLICT: 'The state of the resource does not allow this.',
  PENDING_EXPIRED: 'The time to decide on this request is over.',
  ALREADY_DECIDED: 'This request was decided already.',
  APP_NOT_ACTIVE: 'The app is not active.',
  NO_SCOPES_APPROVED: 'At least one scope has to be approved.',
};

/** What happened, for people. The texts of our own failures are only logged. */
export function detailOf(error: AppError): string {
  const { status, code, title } = meaningOf(error);
  return error.message === '' || status >= 500 ? (DETAILS[code] ?? title) : error.message;
}

/** An error as RFC 9457 `application/problem+json`. */
function toProblem(error: AppError, requestId: string): ErrorAnswer {
  const { status, code, title } = meaningOf(error);
  const { requiredScope, violations } = error;
  const body = {
    type: toProblemType(code),
    title,
    status,
    code,
    detail: detailOf(error),
    requestId,
    ...(code === 'INVALID_REQUEST' ? { errors: violations } : {}),
    ...(requiredScope === undefined ? {} : { requiredScope }),
    ...(error instanceof HttpError ? error.members : {}),
  };
  const headers = {
    'Content-Type': 'application/problem+json',
    'X-Request-Id': requestId,
    ...toChallenge(error),
    ...errorHeaders(error),
  };
  return { status, headers, body: JSON.stringify(body) };
}

export const BEARER_CHALLENGE = 'Bearer realm="phds"';
export const DPOP_CHALLENGE = `DPoP realm="phds", algs="${POSSESSION_ALGORITHMS.join(' ')}"`;

/** A `WWW-Authenticate` challenge for a valid but insufficient token (RFC 6750 section 3.1, RFC 9449 section 7.1). */
export function toChallenge({ reason, requiredScope }: AppError, challenge = BEARER_CHALLENGE): Headers {
  if (reason === 'token_expired') return { 'WWW-Authenticate': `${challenge}, error="invalid_token"` };
  if (reason !== 'insufficient_scope' || requiredScope === undefined) return {};
  return { 'WWW-Authenticate': `${challenge}, error="insufficient_scope", scope="${requiredScope}"` };
}

/** The `error` of RFC 6749 4.1.2.1 and 5.2 for each code, and the default description. */
const ERRORS: Partial<Record<ProblemCode, readonly [error: string, description: string]>> = {
  UNAUTHORIZED: ['invalid_client', 'Client authentication failed.'],
  INVALID_GRANT: ['invalid_grant', 'The grant is not valid.'],
  INVALID_SCOPE: ['invalid_scope', 'The scope is not valid.'],
  UNSUPPORTED_GRANT_TYPE: ['unsupported_grant_type', 'The grant type is not supported.'],
  UNAUTHORIZED_CLIENT: ['unauthorized_client', 'The app may not do this.'],
  INVALID_DPOP_PROOF: ['invalid_dpop_proof', 'The DPoP proof is missing or not valid.'],
  RATE_LIMITED: ['temporarily_unavailable', 'Too many requests. Try again after the time in Retry-After.'],
  INTERNAL_ERROR: ['temporarily_unavailable', 'Temporarily not available. Try again later.'],
};

const MALFORMED_OAUTH = ['invalid_request', 'The request is not valid.'] as const;

/** The `error` that a code has under `/oauth`. */
export function toOauthErrorName(code: ProblemCode): string {
  return (ERRORS[code] ?? MALFORMED_OAUTH)[0];
}

/** Sent with every response of the OAuth endpoints (RFC 6749 5.1). */
export const OAUTH_HEADERS: Headers = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/** An error as RFC 6749 JSON. */
function toOauthError(error: AppError, requestId: string): ErrorAnswer {
  const { status, code } = toOauthMeaning(error);
  const [name, description] = ERRORS[code] ?? MALFORMED_OAUTH;
  const body = {
    error: name,
    error_description: error.message === '' || status >= 500 ? description : clean(error.message),
    code,
  };
  const headers = {
    ...OAUTH_HEADERS,
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': requestId,
    ...errorHeaders(error),
  };
  return { status, headers, body: JSON.stringify(body) };
}

/** Under /oauth there is no code for a conflict; it becomes an invalid request. */
export function toOauthMeaning(error: AppError): { status: number; code: ProblemCode } {
  const { status, code } = meaningOf(error);
  if (code in ERRORS || code === 'NOT_FOUND') return { status, code };
  return status >= 500
    ? { status, code: 'INTERNAL_ERROR' }
    : { status: status === 409 ? 400 : status, code: 'INVALID_REQUEST' };
}

/** Restricts `error_description` to printable ASCII without quotes and backslashes (RFC 6749 5.2). */
function clean(text: string): string {
  return text.replaceAll('"', "'").replaceAll(/[^\x20-\x5B\x5D-\x7E]/g, '?');
}
