import type { ServerResponse } from 'node:http';
import type { ProblemCode } from '@phds/catalog/problems';
import type { Gateway } from './gateway.ts';

/** An answered request. */
interface Answered {
  readonly requestId: string;
  /** `performance.now()` when the request arrived. */
  readonly startedAt: number;
  readonly method: string;
  /** One of a fixed set of names, never the path itself. */
  readonly endpoint: string;
  readonly response: ServerResponse;
  /** Null for an answer that is not an error. */
  readonly code: ProblemCode | null;
}

/** Adds an answered request to the request log of its app. */
export function addToRequestLog(
  { requests, clock }: Pick<Gateway, 'requests' | 'clock'>,
  clientId: string,
  { requestId, startedAt, method, endpoint, response, code }: Answered,
): void {
  const ms = Math.round(performance.now() - startedAt);
  requests.add(clientId, {
    requestId,
    at: clock.now().getTime() - ms,
    method,
    endpoint,
    status: response.statusCode,
    code,
    ms,
  });
}
