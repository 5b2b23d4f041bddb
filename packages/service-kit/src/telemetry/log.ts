import { type DestinationStream, type Logger, pino } from 'pino';
import { toLogFields } from './current-origin.ts';

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
export function scrub(text: string): string {
  return text.replace(SECRET_TEXT, '[redacted]');
}

export interface LoggerOptions {
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
