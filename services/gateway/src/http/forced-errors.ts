import { CURSOR_EXPIRED_DETAIL, type ProblemCode } from '@phds/catalog/problems';
import { AppError, invalidRequest, notFound, unauthorized, unavailable } from '@phds/service-kit/errors';
import type { Exchange } from './exchange.ts';
import { tokenOfPerson, unsupportedVersion } from './http-error.ts';
import { type Fields, text } from './openapi/fields.ts';

// Sandbox deployments only: a request header names an error of the operation, which is then answered as if it had happened. It is answered
// after authentication, to data requests and to apps under `/oauth`; every other operation refuses the header.

export const FORCE_HEADER = 'Sandbox-Force';
const HEADER = FORCE_HEADER.toLowerCase();

/** The request header, for the document. */
export const FORCE_HEADERS: Fields = {
  [FORCE_HEADER]: text.optional().meta({
    description: 'The code of an error of this operation, which is then answered as if it had happened.',
    examples: ['RATE_LIMITED'],
  }),
};

/** An error code of an operation, also with a status. */
type ErrorCode = ProblemCode | readonly [code: ProblemCode, status: number];

/** What the errors of an operation depend on. */
export interface ForcedRoute {
  /** Codes that it can answer. */
  readonly codes: readonly ErrorCode[];
  /** The scope that an error names. */
  readonly scope?: string;
  /** Throws what a request with a mistake in its parameters gets. */
  readonly misspell: () => unknown;
}

interface ForcedCall extends ForcedRoute {
  /** State of the limit before the error. */
  readonly limit: string;
}

/** Each error as it is really answered. */
const FORCED: Readonly<Record<string, (call: ForcedCall) => AppError>> = {
  UNAUTHORIZED: () => unauthorized('forced'),
  TOKEN_EXPIRED: () => new AppError('token_expired'),
  RATE_LIMITED: ({ limit }) =>
    new AppError('rate_limited', '', { retryAfterSeconds: Number(/;t=(\d+)/.exec(limit)?.[1] ?? 1) }),
  UNSUPPORTED_VERSION: unsupportedVersion,
  NOT_FOUND: () => notFound(),
  INSUFFICIENT_SCOPE: ({ scope = '' }) => new AppError('insufficient_scope', '', { requiredScope: scope }),
  CONSENT_REQUIRED: ({ scope = '' }) => new AppError('consent_required', '', { requiredScope: scope }),
  INVALID_REQUEST: ({ misspell }) => catchError(misspell),
  CURSOR_EXPIRED: () => new AppError('cursor_expired', CURSOR_EXPIRED_DETAIL),
  ACCESS_NOT_RECORDED: () => new AppError('access_not_recorded', '', { retryAfterSeconds: 1 }),
  INVALID_GRANT: () =>
    new AppError('invalid_grant', 'The grant is invalid, expired, revoked or already used.'),
  INVALID_SCOPE: () => new AppError('invalid_scope', 'The scope exceeds what the person shares.'),
  UNSUPPORTED_GRANT_TYPE: () =>
    new AppError(
      'unsupported_grant_type',
      'The grant_type must be one of authorization_code, refresh_token, client_credentials.',
    ),
  INVALID_DPOP_PROOF: () => new AppError('invalid_dpop_proof'),
  UNAUTHORIZED_CLIENT: tokenOfPerson,
  INTERNAL_ERROR: () => new AppError('internal'),
  'INTERNAL_ERROR/503': () => unavailable('forced'),
};

/** Answered before the path is checked. */
const BEFORE_THE_PATH: ReadonlySet<string> = new Set(['UNAUTHORIZED', 'TOKEN_EXPIRED', 'RATE_LIMITED']);

const forced = new WeakSet<AppError>();

/** Whether an error was asked for, so that it is neither a failed authentication nor a failure of the service. */
export function isForced(error: AppError): boolean {
  return forced.has(error);
}

/**
 * Answers a data request with the error that it asks for. Throws `invalid_request` for a value that is no code of the endpoint, with those
 * that are. `route` throws what is wrong with version, path or method, as for every request.
 */
export function throwForcedData(exchange: Exchange, value: string, route: () => ForcedRoute): never {
  const { headers } = exchange;
  const limit = headers['RateLimit'] ?? '';
  const code = value.trim();
  const call = BEFORE_THE_PATH.has(code)
    ? { codes: [...BEFORE_THE_PATH] as ErrorCode[], misspell: notFound }
    : route();
  const error = toForced(code, { ...call, limit });
  // The first two are answered before anything is known of the app, so they carry none of its fields.
  if (code === 'UNAUTHORIZED' || code === 'TOKEN_EXPIRED') exchange.headers = {};
  if (code === 'RATE_LIMITED') exchange.headers = { ...headers, RateLimit: toUsedUp(limit) };
  throw error;
}

/** The operation of a request; a page for browsers has only a path. */
interface Forceable {
  readonly path: string;
  readonly security?: unknown;
  readonly errors?: readonly ErrorCode[];
}

/** Whether an operation takes the header. */
export function isForceable({ security = 'none' }: Pick<Forceable, 'security'>): boolean {
  return security !== 'none' && security !== 'session';
}

/** Parameters of requests under `/oauth` that an error can name. */
const REQUIRED: Readonly<Record<string, string>> = {
  '/oauth/token': 'code',
  '/oauth/revoke': 'token',
  '/oauth/introspect': 'token',
  '/oauth/authorize': 'redirect_uri',
  '/oauth/par': 'redirect_uri',
};

/**
 * In a sandbox, what throws the error that a request outside the data interfaces asks for, once the app is authenticated; undefined for a request that
 * asks for none. Throws `invalid_request` where no app authenticates itself.
 */
export function findForced(exchange: Exchange, operation: Forceable): (() => void) | undefined {
  const { request, response } = exchange;
  const values = request.headersDistinct[HEADER];
  if (values === undefined) return undefined;
  const { errors: codes = [], path } = operation;
  if (!isForceable(operation)) {
    throw invalidRequest(FORCE_HEADER, 'works only for data requests and for apps under /oauth');
  }
  const parameter = REQUIRED[path];
  const misspell = () =>
    parameter === undefined
      ? invalidRequest('parameter', 'is unknown')
      : invalidRequest(parameter, 'is required');
  return () => {
    const limit = String(response.getHeader('RateLimit') ?? '');
    const code = values.join(', ').trim();
    const error = toForced(code, { codes, limit, misspell });
    if (code === 'RATE_LIMITED') response.setHeader('RateLimit', toUsedUp(limit));
    throw error;
  };
}

function toForced(code: string, call: ForcedCall): AppError {
  const possible = Object.keys(FORCED).filter((name) => call.codes.some((each) => isOf(each, name)));
  if (!possible.includes(code))
    throw invalidRequest(FORCE_HEADER, `must be one of ${possible.join(', ')} here`);
  const error = FORCED[code]?.(call) ?? new AppError('internal');
  forced.add(error);
  return error;
}

function isOf(code: ErrorCode, name: string): boolean {
  return name.split('/')[0] === (typeof code === 'string' ? code : code[0]);
}

/** The state of a limit (`RateLimit`) when it is used up. */
function toUsedUp(state: string): string {
  return state.replace(/;r=\d+/, ';r=0');
}

function catchError(misspell: () => unknown): AppError {
  try {
    const returned = misspell();
    if (returned instanceof AppError) return returned;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('the operation accepts a mistake');
}
