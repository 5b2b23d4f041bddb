import type { ServerResponse } from 'node:http';
import { isSandboxApp } from '@phds/catalog/sandbox';
import { AppError, invalidRequest, unauthorized, unavailable } from '@phds/service-kit/errors';
import type { Exchange } from '../exchange.ts';
import { type Fields, text } from '../openapi/fields.ts';

/** Request header with which a sandbox app has an error answered. Live apps may send it; it is ignored. */
const FORCE_HEADER = 'Sandbox-Force';

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

/** The request header `Sandbox-Force`, for the document. */
export const FORCE_HEADERS: Fields = {
  [FORCE_HEADER]: text.meta({
    description:
      'Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps.',
    examples: ['RATE_LIMITED'],
  }),
};

const HEADER = 'sandbox-force';

type Force = (response: ServerResponse) => AppError;
type Forced = Readonly<Record<string, Force>>;

/** Every code that `/oauth/revoke` and `/oauth/introspect` can answer, as authorization answers it. */
export const FORCED_TOKEN_ERRORS: Forced = {
  UNAUTHORIZED: () => unauthorized('forced'),
  INVALID_REQUEST: () => invalidRequest('token', 'is required'),
  RATE_LIMITED: (response) => {
    const { state, retryAfterSeconds } = toUsedUp(String(response.getHeader('RateLimit') ?? ''));
    response.setHeader('RateLimit', state);
    return new AppError('rate_limited', '', { retryAfterSeconds });
  },
  INTERNAL_ERROR: () => new AppError('internal'),
  'INTERNAL_ERROR/503': () => unavailable('forced'),
};

/** Every code that `/oauth/token` can answer. */
export const FORCED_GRANT_ERRORS: Forced = {
  ...FORCED_TOKEN_ERRORS,
  INVALID_REQUEST: () => invalidRequest('code', 'is required'),
  INVALID_GRANT: () =>
    new AppError('invalid_grant', 'The grant is invalid, expired, revoked or already used.'),
  INVALID_DPOP_PROOF: () => new AppError('invalid_dpop_proof'),
  INVALID_SCOPE: () => new AppError('invalid_scope', 'The scope exceeds what the person shares.'),
  UNSUPPORTED_GRANT_TYPE: () =>
    new AppError(
      'unsupported_grant_type',
      'The grant_type must be one of authorization_code, refresh_token, client_credentials.',
    ),
};

/** Whether a sandbox app sent `Sandbox-Force`. */
export function asksForError({ request }: Exchange, clientId: string): boolean {
  return isSandboxApp(clientId) && request.headersDistinct[HEADER] !== undefined;
}

/** Throws the error that an authenticated sandbox app asks for. */
export function throwForced({ request, response }: Exchange, table: Forced): never {
  const values = request.headersDistinct[HEADER] ?? [];
  throw toForced(parseForced(table, values.join(', '))(response));
}
