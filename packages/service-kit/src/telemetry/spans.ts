import {
  type Context,
  context,
  createContextKey,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/*
 * Only a gateway starts traces, and decides which are recorded. Everything else continues the trace of its caller. Work of a trace that
 * is not recorded creates no spans and only passes the `traceparent` on, so it costs next to nothing.
 */

/** In contexts of a trace that is not recorded: its `traceparent`. */
const UNRECORDED = createContextKey('traceparent of a trace that is not recorded');

/** Undefined while traces are off. */
let tracer: Tracer | undefined;

/** Sets what creates the spans; undefined turns traces off. */
export function useTracer(used: Tracer | undefined): void {
  tracer = used;
}

/** The trace of a request from outside. */
export interface RequestTrace {
  readonly context: Context;
  /** Absent if the trace is not recorded. The caller ends it. */
  readonly span: Span | undefined;
}

/**
 * Starts the trace of a request from outside; undefined when traces are off. The sender's own trace is neither continued nor does it
 * decide what is recorded: the span has a link to it, if `traceparent` is valid.
 */
export function startRequestTrace(name: string, traceparent: string | undefined): RequestTrace | undefined {
  if (tracer === undefined) return undefined;
  const sender = parseTraceparent(traceparent);
  const links = sender === undefined ? [] : [{ context: sender }];
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, root: true, links }, ROOT_CONTEXT);
  if (span.isRecording()) return { context: trace.setSpan(ROOT_CONTEXT, span), span };
  const unrecorded = ROOT_CONTEXT.setValue(UNRECORDED, toTraceparent(span.spanContext()));
  return { context: unrecorded, span: undefined };
}

/** Ends the span of a request from outside. The route is its pattern, never the path, which may contain ids and codes. */
export function endRequestSpan(
  span: Span,
  request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly requestId: string;
  },
): void {
  const { method, route, status, requestId } = request;
  span.updateName(`${method} ${route}`.trimEnd());
  span.setAttributes({
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    'phds.request_id': requestId,
  });
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** The trace that a call of one of our services continues; undefined when traces are off or the caller sent none. */
export function continueTrace(traceparent: string | null): Context | undefined {
  if (tracer === undefined || traceparent === null) return undefined;
  const caller = parseTraceparent(traceparent);
  if (caller === undefined) return undefined;
  if (isSampled(caller)) return trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true });
  return ROOT_CONTEXT.setValue(UNRECORDED, traceparent);
}

/** The `traceparent` for calls of other services that belong to the current trace; empty when there is none. */
export function currentTraceparent(): string {
  if (tracer === undefined) return '';
  const active = context.active();
  const span = trace.getSpan(active);
  return span === undefined
    ? ((active.getValue(UNRECORDED) as string) ?? '')
    : toTraceparent(span.spanContext());
}

/** The id of a recorded trace, for logs. */
export function findTraceId(traced: Context): string | undefined {
  return trace.getSpanContext(traced)?.traceId;
}

/** Runs work in a span of the current trace, if that is recorded; else without one. */
export function inSpan<T>(name: string, toOptions: () => SpanOptions, work: () => Promise<T>): Promise<T> {
  if (tracer === undefined) return work();
  const active = context.active();
  if (trace.getSpan(active) === undefined) return work();
  return runIn(tracer.startSpan(name, toOptions(), active), work);
}

/**
 * Runs work that is done at once for callers of several traces. Its span belongs to the trace of the first that is recorded. It has links
 * to the spans of the others, and they have links to it.
 */
export function inSharedSpan<T>(
  callers: readonly (Context | undefined)[],
  work: () => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return work();
  const [first, ...others] = listSpans(callers);
  if (first === undefined) return work();
  const links = others.map((span) => ({ context: span.spanContext() }));
  const attributes = { 'phds.batch.size': callers.length };
  const shared = tracer.startSpan('batch', { links, attributes }, trace.setSpan(ROOT_CONTEXT, first));
  for (const span of others) span.addLink({ context: shared.spanContext() });
  return runIn(shared, work);
}

/** The different spans of the contexts. */
function listSpans(contexts: readonly (Context | undefined)[]): Span[] {
  const spans = new Map<string, Span>();
  for (const each of contexts) {
    const span = each === undefined ? undefined : trace.getSpan(each);
    if (span !== undefined) spans.set(span.spanContext().spanId, span);
  }
  return [...spans.values()];
}

async function runIn<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(context.active(), span), work);
  } catch (error) {
    setFailure(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Reasons of errors that an operator has to check. All others are refusals, which the caller causes. */
const FAULTS: ReadonlySet<string> = new Set(['internal', 'unavailable', 'access_not_recorded']);

function setFailure(span: Span, error: unknown): void {
  const { reason } = error as { readonly reason?: unknown };
  const type = typeof reason === 'string' ? reason : undefined;
  span.setAttribute('error.type', type ?? (error instanceof Error ? error.name : typeof error));
  if (type === undefined || FAULTS.has(type)) span.setStatus({ code: SpanStatusCode.ERROR });
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** A W3C `traceparent` of version 00; undefined if it is absent or not valid. */
function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(text ?? '') ?? [];
  const parsed = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED };
  return isSpanContextValid(parsed) ? parsed : undefined;
}

function toTraceparent(spanContext: SpanContext): string {
  const { traceId, spanId } = spanContext;
  return `00-${traceId}-${spanId}-0${isSampled(spanContext) ? 1 : 0}`;
}

function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}
