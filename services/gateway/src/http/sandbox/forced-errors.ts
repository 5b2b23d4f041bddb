import { type AppError, invalidRequest } from '@phds/service-kit/errors';

/** Request header with which a sandbox app has an error answered. Live apps may send it; it is ignored. */
export const FORCE_HEADER = 'Sandbox-Force';

const forced = new WeakSet<AppError>();

/** Marks an error as asked for, so that it is neither counted as a failed authentication nor logged as a failure of the service. */
export function toForced<E extends AppError>(error: E): E {
  forced.add(error);
  return error;
}

export function isForced(error: AppError): boolean {
  return forced.has(error);
}

/** The entry of a table that a header names. Throws `invalid_request` for every other value. */
export function parseForced<Entry>(table: Readonly<Record<string, Entry>>, value: string): Entry {
  const code = value.trim();
  const entry = Object.hasOwn(table, code) ? table[code] : undefined;
  if (entry !== undefined) return entry;
  throw invalidRequest(FORCE_HEADER, `must be one of ${Object.keys(table).join(', ')} here`);
}

/** The state of a limit (`RateLimit`) when it is used up, and the seconds until it is full again. */
export function toUsedUp(state: string): { readonly state: string; readonly retryAfterSeconds: number } {
  const seconds = Number(/;t=(\d+)/.exec(state)?.[1] ?? 1);
  return { state: state.replace(/;r=\d+/, ';r=0'), retryAfterSeconds: seconds };
}
