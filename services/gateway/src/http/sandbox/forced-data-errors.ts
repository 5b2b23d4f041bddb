import { errorsOfEndpoint } from '@phds/catalog/data-errors';
import { CURSOR_EXPIRED_DETAIL } from '@phds/catalog/problems';
import { AppError, notFound, unauthorized, unavailable } from '@phds/service-kit/errors';
import { parseQueryParameters, readDataQuery } from '../api/query-parameters.ts';
import type { Route } from '../api/routes.ts';
import { unsupportedVersion } from '../http-error.ts';
import { parseForced, toForced, toUsedUp } from './forced-errors.ts';

/** What a forced error of the data API depends on. */
interface ForcedCall {
  /** Throws what is wrong with version, path or method, as for every request. */
  readonly route: () => Route;
  readonly headers: Readonly<Record<string, string>>;
}

/** An error, and the header fields that come with it. */
interface ForcedAnswer {
  readonly error: AppError;
  readonly headers: Readonly<Record<string, string>>;
}

type Force = (call: ForcedCall) => ForcedAnswer;

/** Codes that are answered before the path is checked. */
const EVERYWHERE: Readonly<Record<string, Force>> = {
  // These two are answered before anything is known of the app, so they carry none of its fields.
  UNAUTHORIZED: () => ({ error: unauthorized('forced'), headers: {} }),
  TOKEN_EXPIRED: () => ({ error: new AppError('token_expired'), headers: {} }),
  RATE_LIMITED: ({ headers }) => {
    const { state, retryAfterSeconds } = toUsedUp(headers['RateLimit'] ?? '');
    const error = new AppError('rate_limited', '', { retryAfterSeconds });
    return { error, headers: { ...headers, RateLimit: state } };
  },
};

/** Every code that a data endpoint can answer, with the same error as in a real answer. */
export const FORCED_DATA_ERRORS: Readonly<Record<string, Force>> = {
  ...EVERYWHERE,
  UNSUPPORTED_VERSION: onRoute(unsupportedVersion),
  NOT_FOUND: onRoute(() => notFound()),
  INSUFFICIENT_SCOPE: onRoute(
    ({ scopes: [scope] }) => new AppError('insufficient_scope', '', { requiredScope: scope }),
  ),
  CONSENT_REQUIRED: onRoute(
    ({ scopes: [scope] }) => new AppError('consent_required', '', { requiredScope: scope }),
  ),
  INVALID_REQUEST: onRoute(toInvalidRequest),
  CURSOR_EXPIRED: onRoute(() => new AppError('cursor_expired', CURSOR_EXPIRED_DETAIL)),
  ACCESS_NOT_RECORDED: onRoute(() => new AppError('access_not_recorded', '', { retryAfterSeconds: 1 })),
  INTERNAL_ERROR: onRoute(() => new AppError('internal')),
  'INTERNAL_ERROR/503': onRoute(() => unavailable('forced')),
};

/**
 * The answer to a request of a sandbox app with `Sandbox-Force`. Throws `invalid_request` for a value that is no code of the endpoint,
 * with those that are.
 */
export function toForcedDataError(value: string, call: ForcedCall): ForcedAnswer {
  const isEverywhere = Object.hasOwn(EVERYWHERE, value.trim());
  const table = isEverywhere ? EVERYWHERE : tableOf(call.route());
  const answer = parseForced(table, value)(call);
  toForced(answer.error);
  return answer;
}

function tableOf({ endpoint }: Route): Readonly<Record<string, Force>> {
  const codes: readonly string[] = errorsOfEndpoint(endpoint);
  const entries = Object.entries(FORCED_DATA_ERRORS);
  return Object.fromEntries(entries.filter(([name]) => codes.includes(name.split('/')[0] ?? '')));
}

function onRoute(toError: (route: Route) => AppError): Force {
  return ({ route, headers }) => ({ error: toError(route()), headers });
}

/** As for a misspelled parameter. */
function toInvalidRequest({ endpoint, category }: Route): AppError {
  try {
    parseQueryParameters(endpoint, category, readDataQuery('fromm=2026-03-01'));
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error(`${endpoint.id} accepts a misspelled parameter`);
}
