import type { DescMethod } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import type { Metrics } from '../telemetry/metrics.ts';

/** Name of a gRPC status code, such as `OK` or `UNAVAILABLE`. */
export type RpcCode = keyof typeof status;

/**
 * Observes the rpcs that a service calls or answers. For the caller, a batch is one call; the service answers each of its calls.
 * Observers must not throw.
 */
export interface RpcObserver {
  /** Called at the start of each call. The returned function is called exactly once, at its end. */
  started(method: DescMethod): (code: RpcCode) => void;
  /** A caller without a valid service token, or one that the rpc does not list, was refused. Only on the side that answers. */
  refused?(method: DescMethod): void;
}

const CODES = new Map(
  Object.entries(status).flatMap(([name, code]) =>
    typeof code === 'number' ? [[code, name as RpcCode]] : [],
  ),
);

export function toRpcCode(code: number): RpcCode {
  return CODES.get(code) ?? 'UNKNOWN';
}

/** Full name of an rpc, as in the log and in the label `rpc`. */
export function toRpcName(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

/** Measures the rpcs that a service answers. */
export function measureServedRpcs(metrics: Metrics): RpcObserver {
  let inFlight = 0;
  metrics.readGauge({ name: 'phds_rpc_server_in_flight', help: 'Rpcs being answered now.' }, () => inFlight);
  const refused = metrics.counter({
    name: 'phds_rpc_caller_refused_total',
    help: 'Rpcs refused because the caller is not one that the rpc lists, or has no valid service token.',
    labels: ['rpc'],
  });
  const observe = durationsOf(metrics, 'phds_rpc_server_duration_seconds', 'Duration of answered rpcs.');
  return {
    started(method) {
      const startedAt = performance.now();
      inFlight += 1;
      return (code) => {
        inFlight -= 1;
        observe(method, code, startedAt);
      };
    },
    refused: (method) => refused.inc({ rpc: toRpcName(method) }),
  };
}

/** Measures the rpcs that a service calls. */
export function measureCalledRpcs(metrics: Metrics): RpcObserver {
  const observe = durationsOf(
    metrics,
    'phds_rpc_client_duration_seconds',
    'Duration of rpcs of other services, as the caller waits for them.',
  );
  return {
    started(method) {
      const startedAt = performance.now();
      return (code) => observe(method, code, startedAt);
    },
  };
}

type Observe = (method: DescMethod, code: RpcCode, startedAt: number) => void;

/** Keeps the child of each rpc and code, because looking it up by labels for each call costs more than the observation. */
function durationsOf(metrics: Metrics, name: string, help: string): Observe {
  const histogram = metrics.histogram({ name, help, labels: ['rpc', 'code'] });
  type Child = ReturnType<typeof histogram.labels>;
  const byMethod = new Map<DescMethod, Map<RpcCode, Child>>();
  return (method, code, startedAt) => {
    let byCode = byMethod.get(method);
    if (byCode === undefined) {
      byCode = new Map();
      byMethod.set(method, byCode);
    }
    let child = byCode.get(code);
    if (child === undefined) {
      child = histogram.labels(toRpcName(method), code);
      byCode.set(code, child);
    }
    child.observe((performance.now() - startedAt) / 1000);
  };
}
