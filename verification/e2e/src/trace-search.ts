import type { OtlpReceiver, ReceivedSpan } from '@phds/test-kit/otlp-receiver';

/** A database span, or an rpc, or a request of the public interface: `postgresql`, `redis`, `POST /oauth/token`, … */
function toStep({ attributes, name }: ReceivedSpan): string {
  return String(attributes['db.system.name'] ?? attributes['rpc.method'] ?? name);
}

/** The steps of each service in a trace, without repetitions. */
export function listSteps(spans: readonly ReceivedSpan[]): Record<string, string[]> {
  const services = Map.groupBy(spans, ({ service }) => service);
  return Object.fromEntries(
    [...services].map(([service, own]) => [service, [...new Set(own.map(toStep))].toSorted()]),
  );
}

/** The spans of the trace of a request; empty while its first span has not been exported. */
export function findTrace(receiver: OtlpReceiver, requestId: string): ReceivedSpan[] {
  const { spans } = receiver;
  const first = spans.find(({ attributes }) => attributes['phds.request_id'] === requestId);
  return spans.filter(({ traceId }) => traceId === first?.traceId);
}
