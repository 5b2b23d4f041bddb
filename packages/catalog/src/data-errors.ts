import type { Endpoint } from './endpoints.ts';
import type { ProblemCode } from './problems.ts';

/** The codes that requests for this endpoint can be answered with, in the order of the documentation. */
export function errorsOfEndpoint({ path, query }: Pick<Endpoint, 'path' | 'query'>): readonly ProblemCode[] {
  return [
    'INVALID_REQUEST',
    'UNSUPPORTED_VERSION',
    'UNAUTHORIZED',
    'TOKEN_EXPIRED',
    'INSUFFICIENT_SCOPE',
    'CONSENT_REQUIRED',
    'RATE_LIMITED',
    'ACCESS_NOT_RECORDED',
    'INTERNAL_ERROR',
    // Only a path with a parameter can name something that does not exist.
    ...(path.includes(':') ? (['NOT_FOUND'] as const) : []),
    ...(query.includes('updatedSince') ? (['CURSOR_EXPIRED'] as const) : []),
  ];
}
