import type { IncomingMessage, ServerResponse } from 'node:http';
import { withinOrigin } from '@phds/service-kit/deadline';
import { endRequestSpan, startRequestTrace } from '@phds/service-kit/telemetry/spans';
import { whenOver } from './request-metrics.ts';

/** A request and how it is named. */
export interface NamedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Whether it gets a trace. Default: it does. */
  readonly isTraced?: boolean;
  /** The pattern of the matched route, never the path; empty for none. Called at the end. */
  readonly routeOf: () => string;
}

/**
 * Handles a request so that every line of the log about it has its id, here and in the called services, and starts its trace. Nothing of
 * either is sent to the client here.
 */
export function withinRequest<T>(
  { request, response, requestId, isTraced = true, routeOf }: NamedRequest,
  handle: () => T,
): T {
  const method = request.method ?? '';
  const traced = isTraced ? startRequestTrace(method, findTraceparent(request)) : undefined;
  const span = traced?.span;
  if (span !== undefined) {
    whenOver(request, response, () =>
      endRequestSpan(span, { method, route: routeOf(), status: response.statusCode, requestId }),
    );
  }
  return withinOrigin({ requestIds: [requestId], trace: traced?.context }, handle);
}

function findTraceparent({ headers: { traceparent } }: IncomingMessage): string | undefined {
  return typeof traceparent === 'string' ? traceparent : undefined;
}
