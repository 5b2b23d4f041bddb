import { withinOrigin } from '../deadline.ts';
import { type Logger, scrub } from './log.ts';

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
  /** Name of the operator who called. */
  readonly operator?: string;
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

/** Lines of one kind that are written in a second. */
const MAX_LINES = 10;
const WINDOW_MS = 1_000;

type Log = Pick<Logger, 'info' | 'warn' | 'error'>;
type Window = { written: number; omitted: number };

/** Each `kind` has a limit of its own; kinds are names in the code, so there are only a few. */
type SampledLog = (level: keyof Log, kind: string, fields: object, message: string) => void;

const sampledLogs = new WeakMap<Log, SampledLog>();

/**
 * The log for lines that anybody can cause, and for failures of every request: at most ten of each kind in a second are written, so that
 * nobody can fill the log or the memory with them. Another line counts the omitted ones of that second.
 */
export function sampledLogOf(log: Log): SampledLog {
  const known = sampledLogs.get(log);
  if (known !== undefined) return known;
  const windows = new Map<string, Window>();
  const sampled: SampledLog = (level, kind, fields, message) => {
    const window = windows.get(kind) ?? open(kind, (omitted) => log[level]({ kind, omitted }, message));
    if (window.written < MAX_LINES) {
      window.written += 1;
      log[level](fields, message);
    } else window.omitted += 1;
  };
  sampledLogs.set(log, sampled);
  return sampled;

  function open(kind: string, report: (omitted: number) => void): Window {
    const window = { written: 0, omitted: 0 };
    windows.set(kind, window);
    const close = () => {
      windows.delete(kind);
      if (window.omitted > 0) report(window.omitted);
    };
    // The count belongs to no request.
    withinOrigin(undefined, () => setTimeout(close, WINDOW_MS).unref());
    return window;
  }
}
