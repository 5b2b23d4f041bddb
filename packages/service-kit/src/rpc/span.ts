import type { DescMethod } from '@bufbuild/protobuf';
import { SpanKind } from '@opentelemetry/api';
import { inSpan } from '../telemetry/spans.ts';
import { toRpcName } from './observer.ts';

/** Runs the work of a caller of an rpc in a span, if the current trace is recorded. */
export function inCallerSpan<T>(method: DescMethod, work: () => Promise<T>): Promise<T> {
  return inRpcSpan(SpanKind.CLIENT, method, work);
}

/** Runs the work of the called service in a span, if the current trace is recorded. */
export function inServerSpan<T>(method: DescMethod, work: () => Promise<T>): Promise<T> {
  return inRpcSpan(SpanKind.SERVER, method, work);
}

function inRpcSpan<T>(kind: SpanKind, method: DescMethod, work: () => Promise<T>): Promise<T> {
  return inSpan(toRpcName(method), () => ({ kind, attributes: toAttributes(method) }), work);
}

function toAttributes(method: DescMethod) {
  return { 'rpc.system': 'grpc', 'rpc.service': method.parent.typeName, 'rpc.method': method.name };
}
