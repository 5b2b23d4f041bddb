import type { ServerResponse } from 'node:http';
import { type ProblemCode, toProblemType } from '@phds/catalog/problems';
import type { AppError } from '@phds/service-kit/errors';
import { errorHeaders, HttpError, meaningOf } from './http-error.ts';
import { type Headers, send } from './respond.ts';

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

/** Sends an error as RFC 9457 `application/problem+json`. Authentication failures use uniform-401 instead. */
export function sendProblem(
  response: ServerResponse,
  error: AppError,
  requestId: string,
  extra: Headers = {},
): void {
  const { status, headers, body } = toProblem(error, requestId);
  send(response, status, { ...headers, ...extra }, body);
}

export function toProblem(
  error: AppError,
  requestId: string,
): { readonly status: number; readonly headers: Headers; readonly body: string } {
  const { status, code, title } = meaningOf(error);
  const { requiredScope, violations } = error;
  const body = {
    type: toProblemType(code),
    title,
    status,
    code,
    detail: error.message === '' || status >= 500 ? (DETAILS[code] ?? title) : error.message,
    requestId,
    ...(code === 'INVALID_REQUEST' ? { errors: violations } : {}),
    ...(requiredScope === undefined ? {} : { requiredScope }),
    ...(error instanceof HttpError ? error.members : {}),
  };
  const headers = {
    'Content-Type': 'application/problem+json',
    'X-Request-Id': requestId,
    ...challenge(error),
    ...errorHeaders(error),
  };
  return { status, headers, body: JSON.stringify(body) };
}

/** A `WWW-Authenticate` challenge for a valid but insufficient token (RFC 6750 section 3.1). */
function challenge({ reason, requiredScope }: AppError): Headers {
  if (reason === 'token_expired') {
    return { 'WWW-Authenticate': 'Bearer realm="phds", error="invalid_token"' };
  }
  if (reason !== 'insufficient_scope' || requiredScope === undefined) return {};
  return { 'WWW-Authenticate': `Bearer realm="phds", error="insufficient_scope", scope="${requiredScope}"` };
}
