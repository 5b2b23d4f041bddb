import type { ServerResponse } from 'node:http';
import type { ProblemCode } from '@phds/catalog/problems';
import type { AppError } from '@phds/service-kit/errors';
import { errorHeaders, meaningOf } from './http-error.ts';
import { type Headers, send } from './respond.ts';

/** The `error` of RFC 6749 4.1.2.1 and 5.2 for each code, and the default description. */
const ERRORS: Partial<Record<ProblemCode, readonly [error: string, description: string]>> = {
  UNAUTHORIZED: ['invalid_client', 'Client authentication failed.'],
  INVALID_GRANT: ['invalid_grant', 'The grant is not valid.'],
  INVALID_SCOPE: ['invalid_scope', 'The scope is not valid.'],
  UNSUPPORTED_GRANT_TYPE: ['unsupported_grant_type', 'The grant type is not supported.'],
  UNAUTHORIZED_CLIENT: ['unauthorized_client', 'The app may not do this.'],
  RATE_LIMITED: ['temporarily_unavailable', 'Too many requests. Try again after the time in Retry-After.'],
  INTERNAL_ERROR: ['temporarily_unavailable', 'Temporarily not available. Try again later.'],
};

const MALFORMED = ['invalid_request', 'The request is not valid.'] as const;

/** The `error` that a code has under `/oauth`. */
export function toOauthErrorName(code: ProblemCode): string {
  return (ERRORS[code] ?? MALFORMED)[0];
}

/** Sent with every response of the OAuth endpoints (RFC 6749 5.1). */
export const OAUTH_HEADERS: Headers = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/** Sends an error as RFC 6749 JSON. Authentication failures use uniform-401 instead. */
export function sendOauthError(
  response: ServerResponse,
  error: AppError,
  requestId: string,
  extra: Headers = {},
): void {
  const { status, headers, body } = toOauthError(error, requestId);
  send(response, status, { ...headers, ...extra }, body);
}

export function toOauthError(
  error: AppError,
  requestId: string,
): { readonly status: number; readonly headers: Headers; readonly body: string } {
  const { status, code } = toOauthMeaning(error);
  const [name, description] = ERRORS[code] ?? MALFORMED;
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
