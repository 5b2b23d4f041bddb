import type { ServerResponse } from 'node:http';
import { isSandboxApp } from '@phds/catalog/sandbox';
import { AppError, invalidRequest, unauthorized, unavailable } from '@phds/service-kit/errors';
import type { Exchange } from '../exchange.ts';
import { FORCE_HEADER, parseForced, toForced, toUsedUp } from './forced-errors.ts';

const HEADER = FORCE_HEADER.toLowerCase();

type Force = (response: ServerResponse) => AppError;
type Forced = Readonly<Record<string, Force>>;

/** Every code that `/oauth/revoke` and `/oauth/introspect` can answer, as authorization answers it. */
export const FORCED_TOKEN_ERRORS: Forced = {
  UNAUTHORIZED: () => unauthorized('forced'),
  INVALID_REQUEST: () => invalidRequest('token', 'is required'),
  RATE_LIMITED: (response) => {
    const { state, retryAfterSeconds } = toUsedUp(String(response.getHeader('RateLimit') ?? ''));
    response.setHeader('RateLimit', state);
    return new AppError('rate_limited', '', { retryAfterSeconds });
  },
  INTERNAL_ERROR: () => new AppError('internal'),
  'INTERNAL_ERROR/503': () => unavailable('forced'),
};

/** Every code that `/oauth/token` can answer. */
export const FORCED_GRANT_ERRORS: Forced = {
  ...FORCED_TOKEN_ERRORS,
  INVALID_REQUEST: () => invalidRequest('code', 'is required'),
  INVALID_GRANT: () =>
    new AppError('invalid_grant', 'The grant is invalid, expired, revoked or already used.'),
  INVALID_SCOPE: () => new AppError('invalid_scope', 'The scope exceeds what the person shares.'),
  UNSUPPORTED_GRANT_TYPE: () =>
    new AppError(
      'unsupported_grant_type',
      'The grant_type must be one of authorization_code, refresh_token, client_credentials.',
    ),
};

/** Whether a sandbox app sent `Sandbox-Force`. */
export function asksForError({ request }: Exchange, clientId: string): boolean {
  return isSandboxApp(clientId) && request.headersDistinct[HEADER] !== undefined;
}

/** Throws the error that an authenticated sandbox app asks for. */
export function throwForced({ request, response }: Exchange, table: Forced): never {
  const values = request.headersDistinct[HEADER] ?? [];
  throw toForced(parseForced(table, values.join(', '))(response));
}
