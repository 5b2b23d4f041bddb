/** Why a call was refused: the closed set used by every layer (proto `phds.common.v1.Reason`). */
export type Reason =
  | 'internal'
  | 'unavailable'
  | 'caller_not_admitted'
  | 'unauthorized'
  | 'token_expired'
  | 'assertion_stale'
  | 'insufficient_scope'
  | 'consent_required'
  | 'not_a_developer'
  | 'invalid_request'
  | 'not_found'
  | 'conflict'
  | 'pending_expired'
  | 'already_decided'
  | 'app_not_active'
  | 'no_scopes_approved'
  | 'rate_limited'
  | 'access_not_recorded'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'unauthorized_client'
  | 'invalid_dpop_proof'
  | 'cursor_expired';

/** One invalid parameter, by its public name. */
export interface Violation {
  readonly parameter: string;
  readonly message: string;
}

interface AppErrorOptions {
  readonly violations?: readonly Violation[];
  readonly requiredScope?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** As in AppError. */
  readonly clientId?: string | undefined;
  /** Logged, never sent to a caller. */
  readonly cause?: unknown;
}

/** The error type of all services. `message` may be shown to callers; internal details belong in `cause`. */
export class AppError extends Error {
  readonly reason: Reason;
  readonly violations: readonly Violation[];
  readonly requiredScope: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The app that had authenticated itself at authorization when it refused the call. */
  readonly clientId: string | undefined;

  constructor(reason: Reason, message = '', options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.reason = reason;
    this.violations = options.violations ?? [];
    this.requiredScope = options.requiredScope;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.clientId = options.clientId;
  }

  /** The same error with this client id. A copy, because all calls of a failed batch get the same object. */
  inNameOf(clientId: string): AppError {
    const { reason, message, cause, stack } = this;
    return Object.assign(new AppError(reason, message, { ...this, cause, clientId }), { stack });
  }
}

/** An authentication failure. It has no message, because every cause must look the same to callers. */
export function unauthorized(cause?: unknown): AppError {
  return new AppError('unauthorized', '', { cause });
}

/** Maximum number of violations in one error; a request may have thousands. */
export const MAX_VIOLATIONS = 20;
/** Maximum length of a parameter name in an error, because the name may be the caller's own text. */
const MAX_NAME_LENGTH = 100;

/** Malformed input, with at most `MAX_VIOLATIONS` named parameters. */
export function invalidRequest(parameter: string, message: string): AppError;
export function invalidRequest(violations: readonly Violation[]): AppError;
export function invalidRequest(what: string | readonly Violation[], message = ''): AppError {
  const named = typeof what === 'string' ? [{ parameter: what, message }] : what.slice(0, MAX_VIOLATIONS);
  const violations = named.map(({ parameter, message }) => ({ parameter: shorten(parameter), message }));
  const text = violations.map((violation) => `${violation.parameter}: ${violation.message}`).join('; ');
  return new AppError('invalid_request', text, { violations });
}

function shorten(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH).toWellFormed()}…`;
}

export function notFound(message = 'Not found.'): AppError {
  return new AppError('not_found', message);
}

/** A dependency does not answer; the caller may retry. */
export function unavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'Temporarily unavailable.', { cause, retryAfterSeconds: 1 });
}

/** Converts any thrown value to an AppError. An unknown error becomes `internal`; its text is kept in `cause` only. */
export function toAppError(error: unknown): AppError {
  return error instanceof AppError ? error : new AppError('internal', '', { cause: error });
}
