import { type Logger, scrub } from './log.ts';
import { sampledLogOf } from './sampled-log.ts';

/** What the security log tells of (docs/operations/observability.md). */
export type SecurityEvent =
  | 'authentication-refused'
  | 'sign-in'
  | 'sign-out'
  | 'registration'
  | 'rotation'
  | 'approval'
  | 'revocation'
  | 'operator-act';

/** Never a secret, a path or a person. */
export interface SecurityFields {
  readonly requestId?: string;
  /** Pattern of the route, or the rpc. */
  readonly route: string;
  readonly outcome: number | string;
  readonly address?: string;
  /** A well-formed client id, which may be a claim; null for none. */
  readonly client?: string | null;
  /** Why it was refused; answers do not tell it. */
  readonly cause?: string;
}

export type SecurityLog = (event: SecurityEvent, fields: SecurityFields) => void;

/** Writes a line with the message `security` for each event. Anybody can cause refusals, so lines are sampled. */
export function createSecurityLog(log: Pick<Logger, 'info' | 'warn' | 'error'>): SecurityLog {
  const sampled = sampledLogOf(log);
  return (event, fields) => {
    const isRefused = fields.cause !== undefined;
    sampled(isRefused ? 'warn' : 'info', event, { security: event, ...fields }, 'security');
  };
}

const MAX_CAUSE_LENGTH = 200;

/** The cause of a refusal for the log. Cut, because libraries may quote names that are the caller's own text. */
export function toCauseText(cause: unknown, fallback: string): string {
  const text = cause instanceof Error ? cause.message || cause.name : cause;
  return typeof text === 'string' && text !== '' ? scrub(text).slice(0, MAX_CAUSE_LENGTH) : fallback;
}
