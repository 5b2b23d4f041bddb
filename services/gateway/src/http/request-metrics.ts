import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics } from '@phds/service-kit/telemetry/metrics';

/** Label of requests that match no route. */
const OTHER = 'other';
/** Label `status` of a request whose client was gone before the answer was sent. */
const ABORTED = 'aborted';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Measures a request until its answer is sent or its client is gone. `endpointOf` is called then, and returns the pattern of the matched
 * route, never the path; empty for none.
 */
export type MeasureRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  endpointOf: () => string,
) => void;

/** Measures the requests of the public port. */
export function measureRequests(metrics: Metrics): MeasureRequest {
  let inFlight = 0;
  metrics.readGauge(
    { name: 'phds_http_requests_in_flight', help: 'Requests being answered now.' },
    () => inFlight,
  );
  const durations = metrics.histogram({
    name: 'phds_http_request_duration_seconds',
    help: 'Duration of requests, from their head to the end of the answer.',
    labels: ['endpoint', 'method', 'status'],
  });
  const childOf = keepingChildren((endpoint, method, status) => durations.labels(endpoint, method, status));
  return (request, response, endpointOf) => {
    const startedAt = performance.now();
    const method = request.method ?? '';
    inFlight += 1;
    whenOver(request, response, () => {
      inFlight -= 1;
      const status = response.writableFinished ? String(response.statusCode) : ABORTED;
      const child = childOf(endpointOf() || OTHER, METHODS.has(method) ? method : OTHER, status);
      child.observe((performance.now() - startedAt) / 1000);
    });
  };
}

/** Keeps the children of a metric, because the library joins all labels to find one. */
function keepingChildren<Child>(
  create: (endpoint: string, method: string, status: string) => Child,
): typeof create {
  const kept = new Map<string, Map<string, Map<string, Child>>>();
  return (endpoint, method, status) => {
    const byMethod = getOrAdd(kept, endpoint, () => new Map<string, Map<string, Child>>());
    const byStatus = getOrAdd(byMethod, method, () => new Map<string, Child>());
    return getOrAdd(byStatus, status, () => create(endpoint, method, status));
  };
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}

/** Pipelined requests whose responses wait behind others, by connection. */
const queued = new WeakMap<Socket, Set<() => void>>();

/** Calls `end` once, when the answer is sent or the client is gone. */
export function whenOver(request: IncomingMessage, response: ServerResponse, end: () => void): void {
  if (response.socket !== null) {
    response.once('close', end);
    return;
  }
  // A response that waits behind another has no connection yet. It never closes if the connection ends first.
  const { socket } = request;
  const waiting = queued.get(socket) ?? new Set();
  if (!queued.has(socket)) {
    queued.set(socket, waiting);
    socket.once('close', () => {
      for (const endOne of [...waiting]) endOne();
    });
  }
  const endOnce = () => {
    if (waiting.delete(endOnce)) end();
  };
  waiting.add(endOnce);
  response.once('close', endOnce);
}
