import { CURSOR_EXPIRED_DETAIL } from '@phds/catalog/problems';
import { isSandboxApp } from '@phds/catalog/sandbox';
import { AppError, notFound, unauthorized, unavailable } from '@phds/service-kit/errors';
import type { Counted } from '../data-request.ts';
import type { Exchange } from '../exchange.ts';
import { unsupportedVersion } from '../http-error.ts';
import { parseForced, toForced, toUsedUp } from './forced-errors.ts';

/** What the errors of an endpoint depend on. */
export interface ForcedRoute {
  /** Codes that it can answer. */
  readonly codes: readonly string[];
  /** The scope that an error names. */
  readonly scope: string;
  /** Parses a query with a misspelled parameter, which throws. */
  readonly misspell: () => unknown;
}

/** What a forced error of a data request depends on. */
interface ForcedCall {
  /** Throws what is wrong with version, path or method, as for every request. */
  readonly route: () => ForcedRoute;
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
    ({ scope }) => new AppError('insufficient_scope', '', { requiredScope: scope }),
  ),
  CONSENT_REQUIRED: onRoute(({ scope }) => new AppError('consent_required', '', { requiredScope: scope })),
  INVALID_REQUEST: onRoute(toInvalidRequest),
  CURSOR_EXPIRED: onRoute(() => new AppError('cursor_expired', CURSOR_EXPIRED_DETAIL)),
  ACCESS_NOT_RECORDED: onRoute(() => new AppError('access_not_recorded', '', { retryAfterSeconds: 1 })),
  INTERNAL_ERROR: onRoute(() => new AppError('internal')),
  'INTERNAL_ERROR/503': onRoute(() => unavailable('forced')),
};

/**
 * Answers a request of a sandbox app with the error that `Sandbox-Force` asks for. Throws `invalid_request` for a value that is no code of
 * the endpoint, with those that are. Beyond the limit, and for live apps, nothing happens.
 */
export function throwForcedData(
  exchange: Exchange,
  value: string | undefined,
  { who, allowance }: Counted,
  route: ForcedCall['route'],
): void {
  if (value === undefined || !isSandboxApp(who.principal.clientId) || !allowance.allowed) return;
  const isEverywhere = Object.hasOwn(EVERYWHERE, value.trim());
  const table = isEverywhere ? EVERYWHERE : tableOf(route());
  const { error, headers } = parseForced(table, value)({ route, headers: exchange.headers });
  exchange.headers = headers;
  throw toForced(error);
}

function tableOf({ codes }: ForcedRoute): Readonly<Record<string, Force>> {
  const entries = Object.entries(FORCED_DATA_ERRORS);
  return Object.fromEntries(entries.filter(([name]) => codes.includes(name.split('/')[0] ?? '')));
}

function onRoute(toError: (route: ForcedRoute) => AppError): Force {
  return ({ route, headers }) => ({ error: toError(route()), headers });
}

/** As for a misspelled parameter. */
function toInvalidRequest({ misspell }: ForcedRoute): AppError {
  try {
    misspell();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('the endpoint accepts a misspelled parameter');
}
