import { AppError, unavailable } from '../errors.ts';
import { ConfigError } from '../settings/config.ts';

/** SQLSTATEs (appendix A of the Postgres manual) after which a retry may succeed. */
const RETRY_LATER = new Set([
  '25P03', // idle-in-transaction timeout
  '28000', // login refused: the role is locked, for maintenance or during a password change
  '28P01', // wrong password: it is being rotated
  '25006', // answer from a read-only standby: a failover is in progress
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
  '57014', // statement timeout
  '57P01', // shut down by an administrator
  '57P02', // crash of another session
  '57P03', // starting up
  '57P05', // idle session timeout
]);
/** Classes: connection exceptions, and insufficient resources such as a full disk or too many connections. */
const RETRY_LATER_CLASSES = new Set(['08', '53']);

const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Prisma: login refused, no server, timed out, connection closed, pool or transaction timeout, write conflict. */
const PRISMA_CODES = new Set([
  'P1000',
  'P1001',
  'P1002',
  'P1008',
  'P1010',
  'P1017',
  'P2024',
  'P2028',
  'P2034',
  'P2037',
]);
const ADAPTER_KINDS = new Set([
  'AuthenticationFailed',
  'DatabaseAccessDenied',
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TlsConnectionError',
  'TooManyConnections',
  'TransactionWriteConflict',
]);

// Messages of the plain errors that `pg` and its pool throw for connection problems.
const CONNECTION_TEXT =
  /timeout exceeded when trying to connect|connection terminated|connection error and is not queryable|cannot use a pool after calling end|client was closed and is not queryable/i;

/** Whether the database was unreachable or did not answer in time, so that a retry may succeed. */
function isConnectionFailure(error: unknown): boolean {
  return listCauses(error).some(
    (cause) => codesOf(cause).some(isPassingCode) || (isObject(cause) && isConnectionText(cause['message'])),
  );
}

/** Converts any error of a store operation to an AppError: `unavailable` for connection failures, else `internal`. */
export function translateDatabaseError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return isConnectionFailure(error) ? unavailable(error) : new AppError('internal', '', { cause: error });
}

/** What the operator has to check when no connection can be made, by SQLSTATE or code of the system; and whether waiting may help. */
const CONNECTION_FAILURES: ReadonlyMap<string, readonly [reason: string, mayHeal: boolean]> = new Map([
  ['28P01', ['the database refuses the password, or does not have the role', false]],
  ['3D000', ['the database does not exist', false]],
  // The role may be locked for maintenance.
  ['28000', ['the database does not let the role log in: see pg_hba.conf and the role', true]],
  ['42501', ['the role lacks a right to the database or the schema', true]],
  ['42P01', ['the schema has no migrations yet', true]],
  ['ENOTFOUND', ['the host name cannot be resolved', true]],
  ['EAI_AGAIN', ['the host name cannot be resolved', true]],
]);

/** The same error, or a ConfigError that names what may be wrong with the setting that has the connection string. */
export function explainConnectionFailure(error: unknown, setting = 'DATABASE_URL'): unknown {
  const codes = listCauses(error).flatMap(codesOf);
  const known = codes.map((code) => CONNECTION_FAILURES.get(code)).find((failure) => failure !== undefined);
  if (known === undefined) return error;
  const [reason, mayHeal] = known;
  return new ConfigError([{ setting, reason }], { mayHeal, cause: error });
}

function isPassingCode(code: string): boolean {
  return (
    RETRY_LATER.has(code) ||
    SOCKET_CODES.has(code) ||
    PRISMA_CODES.has(code) ||
    ADAPTER_KINDS.has(code) ||
    (code.length === 5 && RETRY_LATER_CLASSES.has(code.slice(0, 2)))
  );
}

function isConnectionText(message: unknown): boolean {
  return typeof message === 'string' && CONNECTION_TEXT.test(message);
}

/** The codes in this object: `pg`'s SQLSTATE, Prisma's code, and the kind and original SQLSTATE of its adapter. */
function codesOf(cause: unknown): string[] {
  if (!isObject(cause)) return [];
  return [cause['code'], cause['originalCode'], cause['kind']].filter((code) => typeof code === 'string');
}

/** The error and everything it wraps: `cause`, members of an AggregateError, the adapter's error inside Prisma's. */
function listCauses(error: unknown): unknown[] {
  const found = new Set<unknown>();
  const pending = [error];
  while (pending.length > 0) {
    const cause = pending.pop();
    if (!isObject(cause) || found.has(cause)) continue;
    found.add(cause);
    pending.push(cause['cause']);
    if (Array.isArray(cause['errors'])) pending.push(...cause['errors']);
    if (isObject(cause['meta'])) pending.push(cause['meta']['driverAdapterError']);
  }
  return [...found];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
