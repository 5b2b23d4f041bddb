import { type Context, type ContextManager, ROOT_CONTEXT } from '@opentelemetry/api';
import { currentOrigin, keepContext, type Origin, withinOrigin } from '../deadline.ts';
import { continueTrace, currentTraceparent, findTraceId, inSharedSpan } from './spans.ts';

/** What a call carries to the called service: metadata of a unary call, fields of a call in a batch. Empty for none. */
export interface CarriedOrigin {
  /** Ids of the requests, separated by commas. */
  readonly requestId: string;
  readonly traceparent: string;
}

/** Calls for more requests, in batches, name the first of them. */
const MAX_CARRIED_IDS = 64;

/** What the current work sends with its calls. */
export function toCarriedOrigin(): CarriedOrigin {
  const origin = currentOrigin();
  const requestId = origin === undefined ? '' : requestIdsOf(origin).slice(0, MAX_CARRIED_IDS).join(',');
  return { requestId, traceparent: currentTraceparent() };
}

/** The origin of a call by what it carries. */
export function fromCarriedOrigin(requestId: string | null, traceparent: string | null): Origin {
  return {
    requestIds: requestId === null || requestId === '' ? [] : () => parseRequestIds(requestId),
    trace: continueTrace(traceparent),
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

/** Runs work that is done at once for several origins. Logs name all their requests, and a span has links with all their traces. */
export function withinOrigins<T>(
  origins: readonly (Origin | undefined)[],
  work: () => Promise<T>,
): Promise<T> {
  const [first, ...others] = origins.filter((origin) => origin !== undefined);
  if (first === undefined || others.length === 0) return withinOrigin(first, work);
  const all = [first, ...others];
  const shared = { requestIds: () => [...new Set(all.flatMap(requestIdsOf))], trace: undefined };
  const traces = all.map((origin) => origin.trace);
  return withinOrigin(shared, () => inSharedSpan(traces, work));
}

/** Fields of the current work for each line of the log. */
export function toLogFields(): { requestId?: string; requestIds?: readonly string[]; traceId?: string } {
  const origin = currentOrigin();
  if (origin === undefined) return {};
  const [requestId, ...others] = requestIdsOf(origin);
  const traceId = origin.trace === undefined ? undefined : findTraceId(origin.trace);
  return {
    ...(requestId !== undefined &&
      (others.length === 0 ? { requestId } : { requestIds: [requestId, ...others] })),
    ...(traceId !== undefined && { traceId }),
  };
}

/** Keeps OpenTelemetry's context in the origin of the current work, instead of a second store. */
export class OriginContextManager implements ContextManager {
  active(): Context {
    return currentOrigin()?.trace ?? ROOT_CONTEXT;
  }

  with<Args extends unknown[], Work extends (...args: Args) => ReturnType<Work>>(
    context: Context,
    work: Work,
    thisArg?: ThisParameterType<Work>,
    ...args: Args
  ): ReturnType<Work> {
    const requestIds = currentOrigin()?.requestIds ?? [];
    return withinOrigin({ requestIds, trace: context }, () => work.call(thisArg, ...args));
  }

  bind<Target>(context: Context, target: Target): Target {
    if (typeof target !== 'function') return target;
    // Whoever calls it, for example another request's connection, it belongs to the work that binds it.
    return this.with(context, () => keepContext(target as unknown as () => unknown)) as Target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}
