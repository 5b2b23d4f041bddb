import { text } from '../texts/frame.ts';

/** One wrong parameter of a refused request. */
export interface Violation {
  readonly parameter: string;
  readonly message: string;
}

/** The labels of the fields or filters that an error can name. */
export type Labels = Readonly<Record<string, string>>;

/** An error of the service (RFC 9457), or a failure to reach it. */
export class Problem extends Error {
  /** Code of the service, such as `PENDING_EXPIRED`; `UNREACHABLE`, `TIMED_OUT` or `UNREADABLE` without a response. */
  readonly code: string;
  readonly status: number;
  readonly violations: readonly Violation[];
  /** Leads the operator to the reason in the log. */
  readonly requestId: string | undefined;

  constructor(
    code: string,
    status: number,
    detail: string,
    violations: readonly Violation[] = [],
    requestId?: string,
  ) {
    super(detail);
    this.name = 'Problem';
    this.code = code;
    this.status = status;
    this.violations = violations;
    this.requestId = requestId;
  }
}

/**
 * Whether the service refused the request, so that nothing changed. Without a response, or after an error of the service, that is
 * unknown.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof Problem && error.status >= 400 && error.status < 500;
}

/** What is wrong with one parameter, including members of a list; undefined if nothing is. */
export function violationOf(error: unknown, parameter: string): string | undefined {
  if (!(error instanceof Problem)) return undefined;
  const own = error.violations.filter(
    (violation) => violation.parameter === parameter || violation.parameter.startsWith(`${parameter}[`),
  );
  return own.length === 0 ? undefined : own.map(({ message }) => faultText(message)).join('; ');
}

/** Parses the body of an error; accepts any body. */
export function toProblem(status: number, body: unknown): Problem {
  const { code, detail, error_description, errors, requestId } = (
    typeof body === 'object' && body !== null ? body : {}
  ) as Record<string, unknown>;
  const text = typeof detail === 'string' ? detail : error_description;
  return new Problem(
    typeof code === 'string' ? code : 'INTERNAL_ERROR',
    status,
    typeof text === 'string' ? text : '',
    Array.isArray(errors) ? (errors as Violation[]) : [],
    typeof requestId === 'string' ? requestId : undefined,
  );
}

const TEXTS = new Map([
  ['INTERNAL_ERROR', 'problemInternal'],
  ['RATE_LIMITED', 'problemRateLimited'],
  ['NOT_FOUND', 'problemNotFound'],
  ['CONFLICT', 'problemConflict'],
  ['APP_NOT_ACTIVE', 'problemAppNotActive'],
  ['PENDING_EXPIRED', 'problemPendingExpired'],
  ['ALREADY_DECIDED', 'problemAlreadyDecided'],
  ['NOT_MADE', 'problemNotMade'],
  ['NOT_A_DEVELOPER', 'problemNotDeveloper'],
] as const);

/** Problems that the page itself found: their messages are in its language. */
const OWN = new Set(['UNREACHABLE', 'TIMED_OUT', 'UNREADABLE']);

/** The cause of an error in the page's language; with the service's own words, which are English, for codes without a text. */
export function problemText(error: unknown): string {
  if (!(error instanceof Problem)) return text('ownError');
  const id = TEXTS.get(error.code as 'CONFLICT');
  if (id !== undefined) return text(id);
  if (OWN.has(error.code)) return error.message;
  return error.message === '' ? text('ownError') : text('problemOther', { words: error.message });
}

/** What is wrong with a parameter: the service's own words, which are English. The German pages say whose words they are. */
export function faultText(message: string): string {
  return text('faultOther', { words: message });
}
