import type { DescMethod } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';

/** Name of a gRPC status code, such as `OK` or `UNAVAILABLE`. */
export type RpcCode = keyof typeof status;

/**
 * Observes the calls of unary rpcs that a service makes or answers. Calls that a stream carries count as calls of the unary rpc, on both
 * sides. Observers must not throw.
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
