import { CURSOR_EXPIRED_DETAIL } from '@phds/catalog/problems';
import { AppError, invalidRequest, notFound, unauthorized, unavailable } from '@phds/service-kit/errors';
import type { ApiCall } from '../api/api-call.ts';
import { parseQueryParameters } from '../api/query-parameters.ts';
import type { Route } from '../api/routes.ts';
import { methodNotAllowed, unsupportedVersion } from '../http-error.ts';
import { FORCE_HEADER, parseForced, toForced, toUsedUp } from './forced-errors.ts';

/** What a forced error of the data API depends on. */
export interface ForcedCall {
  readonly call: ApiCall;
  /** Throws what is wrong with version, path or method, as for every request. */
  readonly route: () => Route;
  readonly headers: Readonly<Record<string, string>>;
}

/** An error, and the header fields that come with it. */
export interface ForcedAnswer {
  readonly error: AppError;
  readonly headers: Readonly<Record<string, string>>;
}

type Force = (call: ForcedCall) => ForcedAnswer;

/** Every code that a data endpoint can answer, made as where it is really answered. */
export const FORCED_DATA_ERRORS: Readonly<Record<string, Force>> = {
  // These two are answered before anything is known of the app, so they carry none of its fields.
  UNAUTHORIZED: () => ({ error: unauthorized('forced'), headers: {} }),
  TOKEN_EXPIRED: () => ({ error: new AppError('token_expired'), headers: {} }),
  RATE_LIMITED: ({ headers }) => {
    const { state, retryAfterSeconds } = toUsedUp(headers['RateLimit'] ?? '');
    const error = new AppError('rate_limited', '', { retryAfterSeconds });
    return { error, headers: { ...headers, RateLimit: state } };
  },
  UNSUPPORTED_VERSION: onRoute(unsupportedVersion),
  METHOD_NOT_ALLOWED: onRoute(() => methodNotAllowed('GET')),
  NOT_FOUND: onRoute(() => notFound()),
  INSUFFICIENT_SCOPE: onRoute(
    ({ scopes: [scope] }) => new AppError('insufficient_scope', '', { requiredScope: scope }),
  ),
  CONSENT_REQUIRED: onRoute(
    ({ scopes: [scope] }) => new AppError('consent_required', '', { requiredScope: scope }),
  ),
  INVALID_REQUEST: onRoute(toInvalidRequest),
  CURSOR_EXPIRED: onRoute(toCursorExpired),
  ACCESS_NOT_RECORDED: onRoute(() => new AppError('access_not_recorded', '', { retryAfterSeconds: 1 })),
  INTERNAL_ERROR: onRoute(() => new AppError('internal')),
  'INTERNAL_ERROR/503': onRoute(() => unavailable('forced')),
};

/** The answer to a request of a sandbox app with `Sandbox-Force`. Throws `invalid_request` for a value that is no code. */
export function toForcedDataError(value: string, call: ForcedCall): ForcedAnswer {
  const answer = parseForced(FORCED_DATA_ERRORS, value)(call);
  toForced(answer.error);
  return answer;
}

function onRoute(toError: (route: Route) => AppError): Force {
  return ({ route, headers }) => ({ error: toError(route()), headers });
}

/** As for a misspelled parameter. */
function toInvalidRequest({ endpoint, category }: Route): AppError {
  try {
    parseQueryParameters(endpoint, category, 'fromm=2026-03-01');
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error(`${endpoint.id} accepts a misspelled parameter`);
}

function toCursorExpired({ endpoint }: Route): AppError {
  if (endpoint.query.includes('updatedSince')) return new AppError('cursor_expired', CURSOR_EXPIRED_DETAIL);
  throw invalidRequest(FORCE_HEADER, 'must not be CURSOR_EXPIRED here: this endpoint has no updatedSince');
}
