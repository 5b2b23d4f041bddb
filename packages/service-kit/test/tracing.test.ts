import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import {
  context,
  createTraceState,
  diag,
  propagation,
  ROOT_CONTEXT,
  type Span,
  trace,
} from '@opentelemetry/api';
import { eventually } from '@phds/test-kit/conditions';
import { OtlpReceiver } from '@phds/test-kit/otlp-receiver';
import { shared } from '@phds/test-kit/shared';
import {
  currentTraceparent,
  keepContext,
  type Origin,
  toLogFields,
  withinOrigin,
  withinOrigins,
  withinTrace,
} from '../src/current-work.ts';
import { createLogger } from '../src/telemetry/log.ts';

const receiver = shared.use(await OtlpReceiver.start());
const lines: string[] = [];
const log = createLogger({ service: 'gateway', destination: { write: (line) => void lines.push(line) } });
const SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '5',
};
const before = { ...process.env };
Object.assign(process.env, SETTINGS);
const { startTracing } = await import('../src/telemetry/tracing.ts');
const tracing = startTracing({ service: 'gateway', log, lastExportMs: 50 });

afterAll(() => {
  for (const name of Object.keys(SETTINGS)) delete process.env[name];
  Object.assign(process.env, before);
  for (const api of [trace, context, propagation, diag]) api.disable();
});
beforeEach(() => {
  receiver.bodies.length = 0;
});

/** Runs work as that of a request with its own trace. */
function request<T>(id: string, work: (origin: Origin, span: Span) => T): T {
  return trace.getTracer('test').startActiveSpan(id, { root: true }, (span) => {
    const origin = { requestIds: [id], trace: context.active() };
    try {
      return withinOrigin(origin, () => work(origin, span));
    } finally {
      span.end();
    }
  });
}

const named = (name: string) => receiver.spans.find((span) => span.name === name);

test('a call continues the trace of its caller without its `tracestate`, which is not exported either', async () => {
  const [traceId, spanId] = ['a'.repeat(32), 'b'.repeat(16)];
  const tracer = trace.getTracer('test');
  const carrier = { traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'vendor=canary' };
  const taken = propagation.extract(ROOT_CONTEXT, carrier);
  expect(trace.getSpanContext(taken)).toEqual({ traceId, spanId, traceFlags: 1, isRemote: true });
  const traceState = createTraceState('vendor=canary');
  const caller = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1, traceState });
  tracer
    .startSpan('continued', { links: [{ context: { traceId, spanId, traceFlags: 1, traceState } }] }, caller)
    .end();
  await eventually(() => named('continued') !== undefined);
  expect(named('continued')).toMatchObject({ traceId, parentSpanId: spanId });
  expect(receiver.bodies.join()).not.toContain('canary');
});

test('an export contains neither texts of errors nor attributes that are not known to be harmless', async () => {
  request('work', (_origin, span) => {
    span.setAttributes({ 'url.query': 'canary', 'db.query.text': 'SELECT 1' });
    span.recordException(new TypeError('canary'));
    span.addEvent('event', { 'db.statement': 'canary' });
    span.setStatus({ code: 2, message: 'canary' });
  });
  await eventually(() => named('work') !== undefined);
  expect(named('work')).toMatchObject({ service: 'gateway', attributes: { 'db.query.text': 'SELECT 1' } });
  expect(receiver.bodies.join()).not.toContain('canary');
});

test('work for several requests is in the trace of the first, with links of the others', async () => {
  const contexts = await request('first', (one) =>
    request('second', (other) =>
      withinOrigins([undefined, one, other], async () =>
        trace.getTracer('test').startActiveSpan('statement', (span) => {
          span.end();
          return toLogFields();
        }),
      ),
    ),
  );
  await eventually(() => named('second') !== undefined && named('statement') !== undefined);
  const { traceId, spanId } = named('first') ?? {};
  expect(named('statement')).toMatchObject({ traceId, parentSpanId: spanId });
  expect(named('second')?.links).toMatchObject([{ traceId, spanId }]);
  expect(contexts).toEqual({ requestIds: ['first', 'second'], traceId });
});

test('a call in a batch continues the trace of its caller, and a callback that of the work that bound it', () => {
  const traceIdOf = (span: Span | undefined) => span?.spanContext().traceId;
  request('request', (_origin, span) => {
    const traceparent = currentTraceparent();
    const bound = keepContext(() => traceIdOf(trace.getActiveSpan()));
    request('other', () => {
      expect(withinTrace(traceparent, () => traceIdOf(trace.getActiveSpan()))).toBe(traceIdOf(span));
      expect(bound()).toBe(traceIdOf(span));
      expect(withinTrace('', () => trace.getActiveSpan())).toBeUndefined();
    });
  });
});

test('an unreachable receiver affects no work and is logged, and does not delay the end of the process', async () => {
  receiver.answer = (response) => void response.writeHead(400).end();
  expect(request('refused', () => 'answer')).toBe('answer');
  await eventually(() => lines.some((line) => line.includes('OpenTelemetry reports a problem')));
  const { promise: held, resolve: hold } = Promise.withResolvers<ServerResponse>();
  receiver.answer = hold;
  request('unanswered', () => undefined);
  await tracing[Symbol.asyncDispose]();
  const unanswered = await held;
  expect(unanswered.writableEnded).toBe(false);
  unanswered.writeHead(200).end('{}');
});
