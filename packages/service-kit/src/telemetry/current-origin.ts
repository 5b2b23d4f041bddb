import { type Context, context, propagation, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import { currentOrigin, type Origin, withinOrigin } from '../deadline.ts';

/** Calls for more requests, in batches, name the first of them. */
const MAX_CARRIED_IDS = 64;

/** The ids of the requests that the current work is done for, as calls carry them: separated by commas, empty for none. */
export function toCarriedIds(): string {
  const origin = currentOrigin();
  return origin === undefined ? '' : requestIdsOf(origin).slice(0, MAX_CARRIED_IDS).join(',');
}

/** The origin of a call by the ids that it carries. Its trace is the current one. */
export function toOrigin(carriedIds: string | null): Origin {
  return {
    requestIds: carriedIds === null || carriedIds === '' ? [] : () => parseRequestIds(carriedIds),
    trace: context.active(),
  };
}

function requestIdsOf({ requestIds }: Origin): readonly string[] {
  return typeof requestIds === 'function' ? requestIds() : requestIds;
}

const REQUEST_ID = /^[\w-]{1,64}$/;

/** Reads the ids that a caller sent, separated by commas, and drops what is none. */
function parseRequestIds(text: string): readonly string[] {
  return text.split(',').filter((id) => REQUEST_ID.test(id));
}

/** Names the requests of the current call, if only the called service finds them, in the call's message. */
export function nameRequests(requestIds: () => readonly string[]): void {
  const origin = currentOrigin();
  if (origin !== undefined) origin.requestIds = requestIds;
}

/** The `traceparent` of the current span, for a call in a batch; empty when traces are off. */
export function currentTraceparent(): string {
  const carrier = { traceparent: '' };
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** Runs the work of a call in a batch in the trace that the call carries. */
export function withinTrace<T>(traceparent: string, work: () => T): T {
  return context.with(propagation.extract(ROOT_CONTEXT, { traceparent }), work);
}

/** Runs work that is done at once for several origins. Logs name all their requests. */
export function withinOrigins<T>(
  origins: readonly (Origin | undefined)[],
  work: () => Promise<T>,
): Promise<T> {
  const [first, ...others] = origins.filter((origin) => origin !== undefined);
  if (first === undefined || others.length === 0) return withinOrigin(first, work);
  const all = [first, ...others];
  const requestIds = () => [...new Set(all.flatMap(requestIdsOf))];
  return withinOrigin({ requestIds, trace: toSharedTrace(all) }, work);
}

/** The trace of work for several origins: that of the first that is recorded. Spans of the others get a link to it. */
function toSharedTrace(origins: readonly Origin[]): Context | undefined {
  const traces = new Set(origins.map((origin) => origin.trace));
  const recorded = [...traces].filter((each) => findTraceId(each) !== undefined);
  const [first = origins[0]?.trace, ...others] = recorded;
  const shared = first && trace.getSpanContext(first);
  for (const other of others) if (other && shared) trace.getSpan(other)?.addLink({ context: shared });
  return first;
}

/** The id of a recorded trace. */
function findTraceId(traced: Context | undefined): string | undefined {
  const span = traced && trace.getSpanContext(traced);
  return span !== undefined && (span.traceFlags & TraceFlags.SAMPLED) !== 0 ? span.traceId : undefined;
}

/** Fields of the current work for each line of the log. */
export function toLogFields(): { requestId?: string; requestIds?: readonly string[]; traceId?: string } {
  const origin = currentOrigin();
  if (origin === undefined) return {};
  const [requestId, ...others] = requestIdsOf(origin);
  const traceId = findTraceId(origin.trace);
  return {
    ...(requestId !== undefined &&
      (others.length === 0 ? { requestId } : { requestIds: [requestId, ...others] })),
    ...(traceId !== undefined && { traceId }),
  };
}
