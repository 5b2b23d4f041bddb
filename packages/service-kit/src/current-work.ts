import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, context, propagation, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';

/** Work that can be aborted. */
export interface Ongoing {
  abort(): void;
}

/**
 * How long a caller waits for its answer. Stored as remaining time, not as a time of day, so that clocks of different machines need
 * not agree. Ends early when the caller gives up.
 */
export class Deadline {
  /** Monotonic milliseconds. */
  readonly #endsAt: number;
  #hasEnded = false;
  #ongoing: Set<Ongoing> | undefined;

  constructor(timeoutMs: number) {
    this.#endsAt = performance.now() + timeoutMs;
  }

  /** Milliseconds; 0 when the caller has stopped waiting. */
  remainingMs(): number {
    return this.#hasEnded ? 0 : Math.max(0, this.#endsAt - performance.now());
  }

  /** Aborts `ongoing` if the caller gives up before it is released. */
  hold(ongoing: Ongoing): void {
    this.#ongoing ??= new Set();
    this.#ongoing.add(ongoing);
  }

  release(ongoing: Ongoing): void {
    this.#ongoing?.delete(ongoing);
  }

  /** Marks the call as over: the caller has given up or has its answer. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const ongoing of this.#ongoing ?? []) ongoing.abort();
  }
}

/** What work is done for: the request or, for work that serves several at once, the requests. */
export interface Origin {
  /** Their ids, for the log; a function if they are worth computing only then. Set again by `nameRequests`. */
  requestIds: readonly string[] | (() => readonly string[]);
  /** Where the work belongs in a trace. */
  readonly trace: Context | undefined;
}

/** The context of the work in progress. */
interface Work {
  readonly deadline: Deadline | undefined;
  readonly origin: Origin | undefined;
}

const current = new AsyncLocalStorage<Work>();

/** Runs the work of a call from its origin. Its statements and outgoing calls are limited to the remaining time. */
export function withinCall<T>(deadline: Deadline, origin: Origin, work: () => T): T {
  return current.run({ deadline, origin }, work);
}

/** Limits statements and outgoing calls to the remaining time. */
export function withinDeadline<T>(deadline: Deadline, work: () => T): T {
  return current.run({ deadline, origin: currentOrigin() }, work);
}

/** Runs work without the current caller's deadline, such as a batch for several callers or work after the answer. */
export function withoutDeadline<T>(work: () => T): T {
  return current.run({ deadline: undefined, origin: currentOrigin() }, work);
}

/** Runs work for another origin, in its trace; undefined for none. */
export function withinOrigin<T>(origin: Origin | undefined, work: () => T): T {
  const inTrace = () => context.with(origin?.trace ?? ROOT_CONTEXT, work);
  return current.run({ deadline: currentDeadline(), origin }, inTrace);
}

/**
 * Runs work that several calls wait for. It ends when the last of them gives up, never with one alone, and has no deadline if one of
 * them has none.
 */
export async function withinLastDeadline<T>(
  deadlines: readonly (Deadline | undefined)[],
  work: () => Promise<T>,
): Promise<T> {
  const calls = new Set<Deadline>();
  for (const deadline of deadlines) {
    if (deadline === undefined) return withoutDeadline(work);
    calls.add(deadline);
  }
  const last = new Deadline(Math.max(...[...calls].map((deadline) => deadline.remainingMs())));
  let waiting = calls.size;
  const ongoing = {
    abort: () => {
      waiting -= 1;
      if (waiting === 0) last.end();
    },
  };
  for (const deadline of calls) deadline.hold(ongoing);
  try {
    return await withinDeadline(last, work);
  } finally {
    for (const deadline of calls) deadline.release(ongoing);
  }
}

/** The deadline of the current call; undefined outside a call. */
export function currentDeadline(): Deadline | undefined {
  return current.getStore()?.deadline;
}

/** The origin of the current work; undefined for background work. */
export function currentOrigin(): Origin | undefined {
  return current.getStore()?.origin;
}

/** Binds the current deadline, origin and span to a callback that other code will call. */
export function keepContext<Args extends unknown[], Result>(
  callback: (...args: Args) => Result,
): (...args: Args) => Result {
  const work = current.getStore();
  const bound = context.bind(context.active(), callback);
  if (work === undefined) return (...args) => current.exit(bound, ...args);
  return (...args) => current.run(work, bound, ...args);
}

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
