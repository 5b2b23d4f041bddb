import { type DestinationStream, type Logger, pino } from 'pino';
import { toLogFields, withinOrigin } from '../current-work.ts';

export type { Logger } from 'pino';

/** Fields that may contain a secret anywhere in a logged object; pino redacts them. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'session',
  'assertion',
  'token',
  'access_token',
  'refresh_token',
  'code',
  'code_verifier',
  'secret',
  'client_secret',
  'clientSecret',
  'client_assertion',
  'clientAssertion',
  'password',
  'connectionString',
  'privateKey',
];

/** Matches our secrets, JWTs and passwords in connection URLs anywhere in a text. */
const SECRET_TEXT =
  /phds_(?:cs|ac|at|rt)_\w{8,}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|(?<=:\/\/[^\s:/@]+:)[^\s@/]+(?=@)/g;

/** Removes secrets from external text, such as a driver's message. */
function scrub(text: string): string {
  return text.replace(SECRET_TEXT, '[redacted]');
}

interface LoggerOptions {
  readonly service: string;
  readonly level?: string;
  readonly destination?: DestinationStream;
}

/**
 * Creates a logger of JSON lines on standard output. Lines about a request have its id, and the id of its trace if that is recorded. Secret fields are redacted; texts of errors and
 * messages are scrubbed.
 */
export function createLogger({ service, level = 'info', destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: { service },
    mixin: toLogFields,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: toLogged, error: toLogged },
    redact: {
      paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
      censor: '[redacted]',
    },
    hooks: {
      logMethod(args: unknown[], method: (...args: never[]) => void) {
        const scrubbed = args.map((arg) => (typeof arg === 'string' ? scrub(arg) : arg));
        method.apply(this, scrubbed as never[]);
      },
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** The same log for fields that hold no text of a caller: searching for secrets takes ten times as long as the rest of a line. */
export function withoutRedaction(log: Logger): Logger {
  return log.child({}, { redact: [] });
}

interface SerializedError {
  type: string;
  message: string;
  reason?: string;
  errorCode?: string;
  stack?: string;
  cause?: SerializedError;
}

const toLogged = (error: unknown) => serializeError(error);

/**
 * The loggable part of an error. Other fields are dropped: drivers put parameters and configuration there. A dependency that does not answer
 * is no defect of the code, so it needs no stack; the cause of a missing access record decides for itself.
 */
function serializeError(error: unknown, depth = 0, isDefect = true): SerializedError {
  if (!(error instanceof Error)) return { type: typeof error, message: scrub(String(error)) };
  const { reason, code } = error as { reason?: unknown; code?: unknown };
  const serialized: SerializedError = { type: error.name, message: scrub(error.message) };
  if (typeof reason === 'string') serialized.reason = reason;
  if (typeof code === 'string' || typeof code === 'number') serialized.errorCode = String(code);
  const needsStack = isDefect && reason !== 'unavailable';
  if (needsStack && reason !== 'access_not_recorded' && error.stack !== undefined) {
    serialized.stack = scrub(error.stack);
  }
  if (error.cause !== undefined && depth < 4) {
    serialized.cause = serializeError(error.cause, depth + 1, needsStack);
  }
  return serialized;
}

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
interface SecurityFields {
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
