import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { OtlpReceiver, type ReceivedSpan } from '@phds/test-kit/otlp-receiver';
import { z } from 'zod';
import { currentOrigin, withinOrigin } from '../src/deadline.ts';
import { AppError } from '../src/errors.ts';
import { readConfig } from '../src/settings/config.ts';
import { toTracingOptions, tracingSettings } from '../src/settings/tracing.ts';
import { OriginContextManager, withinOrigins } from '../src/telemetry/current-origin.ts';
import { currentTraceparent, endRequestSpan, inSpan, startRequestTrace } from '../src/telemetry/spans.ts';
import { startTracing, type TracingOptions } from '../src/telemetry/tracing.ts';

let receiver: OtlpReceiver;
let logged: string[];
let tracing: AsyncDisposable | undefined;

beforeEach(async () => {
  receiver = await OtlpReceiver.start();
  logged = [];
});
afterEach(async () => {
  await stop();
  await receiver[Symbol.asyncDispose]();
});

async function start(changes: Partial<TracingOptions> = {}): Promise<void> {
  const note = (_fields: object, message: string) => void logged.push(message);
  tracing = await startTracing({
    endpoint: receiver.endpoint,
    protocol: 'http/json',
    headers: { 'x-key': 'of the receiver' },
    timeoutMs: 200,
    delayMs: 5,
    sampler: 'parentbased_always_on',
    ratio: 1,
    resource: { 'service.name': 'gateway' },
    contextManager: new OriginContextManager(),
    log: { info: note, warn: note },
    ...changes,
  });
}

async function stop(): Promise<void> {
  await tracing?.[Symbol.asyncDispose]();
  tracing = undefined;
}

const NO_OPTIONS = () => ({});
const END = { method: 'GET', route: '/path/:id', status: 200, requestId: 'req_1' };

/** Runs the work of a request from outside. */
async function request<T>(work: () => Promise<T>, traceparent?: string): Promise<T> {
  const traced = startRequestTrace('GET', traceparent);
  try {
    return await withinOrigin({ requestIds: ['req_1'], trace: traced?.context }, work);
  } finally {
    if (traced?.span !== undefined) endRequestSpan(traced.span, END);
  }
}

const named = (name: string): ReceivedSpan | undefined => receiver.spans.find((span) => span.name === name);

describe('an export', () => {
  test('of what is left comes before the end, with the header fields of the settings', async () => {
    await start({ delayMs: 3_600_000 });
    await request(async () => undefined);
    await stop();
    expect(named('GET /path/:id')).toMatchObject({ service: 'gateway', parentSpanId: '' });
    expect(receiver.requests).toMatchObject([{ url: '/v1/traces', headers: { 'x-key': 'of the receiver' } }]);
  });

  test('is in protobuf if the settings say so', async () => {
    await start({ protocol: 'http/protobuf' });
    await request(async () => undefined);
    await stop();
    expect(receiver.requests).toMatchObject([{ headers: { 'content-type': 'application/x-protobuf' } }]);
  });

  test('contains neither texts of errors nor attributes that are not known to be harmless', async () => {
    await start();
    const work = () =>
      inSpan(
        'work',
        () => ({ attributes: { 'url.query': 'canary', 'db.query.text': 'SELECT 1' } }),
        () => Promise.reject(new TypeError('canary')),
      );
    await expect(request(work)).rejects.toThrow('canary');
    await stop();
    expect(named('work')).toMatchObject({
      attributes: { 'db.query.text': 'SELECT 1', 'error.type': 'TypeError' },
      status: 2,
    });
    expect(receiver.bodies.join()).not.toContain('canary');
  });
});

describe('an unreachable receiver', () => {
  test('affects no work, and is logged once, with its return', async () => {
    receiver.answer = (response) => void response.writeHead(503).end();
    await start();
    for (let round = 1; round <= 3; round += 1) {
      const exports = receiver.requests.length;
      expect(await request(async () => 'answer')).toBe('answer');
      await eventually(() => receiver.requests.length > exports);
    }
    await eventually(() => logged.length > 0);
    receiver.answer = (response) => void response.writeHead(200).end('{}');
    await eventually(async () => {
      await request(async () => undefined);
      return logged.length === 2;
    });
    expect(logged).toEqual(['traces cannot be exported; dropping them', 'traces are exported again']);
  });

  test('that never answers leaves a bounded number of spans waiting', async () => {
    let release = () => undefined as unknown;
    receiver.answer = (response) => {
      release = () => response.writeHead(200).end('{}');
    };
    await start({ timeoutMs: 60_000 });
    await request(async () => undefined);
    await eventually(() => receiver.requests.length === 1);
    for (let count = 0; count < 6_000; count += 1) await request(async () => undefined);
    receiver.answer = (response) => void response.writeHead(200).end('{}');
    release();
    await stop();
    expect(receiver.spans).toHaveLength(1 + 4_096);
  });

  test('does not delay the end of the process', async () => {
    const { promise: held, resolve: hold } = Promise.withResolvers<ServerResponse>();
    receiver.answer = hold;
    await start({ timeoutMs: 60_000, lastExportMs: 50 });
    await request(async () => undefined);
    await stop();
    const unanswered = await held;
    expect(unanswered.writableEnded).toBe(false);
    unanswered.writeHead(200).end('{}');
  });
});

describe('the trace of a request', () => {
  test('is recorded as the own sampler decides, whatever the sender says', async () => {
    await start({ sampler: 'parentbased_traceidratio', ratio: 0 });
    const sent = await request(
      async () => [currentTraceparent(), await inSpan('work', NO_OPTIONS, async () => currentTraceparent())],
      `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    );
    await stop();
    expect(sent[0]).toMatch(/^00-(?!a{32})[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(sent[1]).toBe(sent[0]);
    expect(receiver.requests).toEqual([]);
  });

  test.each([
    '',
    'garbage',
    `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
    `01-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  ])('ignores the traceparent %j', async (traceparent) => {
    await start();
    await request(async () => undefined, traceparent);
    await stop();
    expect(receiver.spans).toMatchObject([{ links: [], parentSpanId: '' }]);
  });

  test.each([
    ['unavailable', 2],
    ['insufficient_scope', 0],
  ] as const)('marks %s as status %i', async (reason, status) => {
    await start();
    const refused = request(() => inSpan('work', NO_OPTIONS, () => Promise.reject(new AppError(reason))));
    await expect(refused).rejects.toThrow();
    await stop();
    expect(named('work')).toMatchObject({ status, attributes: { 'error.type': reason } });
  });
});

test('work for several requests has one span, linked with each of them in both directions', async () => {
  await start();
  const origins: ReturnType<typeof currentOrigin>[] = [];
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const one = (name: string) =>
    request(() =>
      inSpan(name, NO_OPTIONS, async () => {
        origins.push(currentOrigin());
        await all;
      }),
    );
  const callers = [one('first'), one('second'), one('third')];
  await eventually(() => origins.length === 3);
  await withinOrigins(origins, async () => resolve());
  await Promise.all(callers);
  await stop();
  const [first, second, third, batch] = ['first', 'second', 'third', 'batch'].map(named);
  const spanOf = (span: ReceivedSpan | undefined) => ({ traceId: span?.traceId, spanId: span?.spanId });
  expect(batch).toMatchObject({
    traceId: first?.traceId,
    parentSpanId: first?.spanId,
    links: [spanOf(second), spanOf(third)],
    attributes: { 'phds.batch.size': 3 },
  });
  expect([second?.links, third?.links]).toMatchObject([[spanOf(batch)], [spanOf(batch)]]);
});

describe('the settings', () => {
  const read = (env: NodeJS.ProcessEnv) =>
    toTracingOptions(readConfig(z.object(tracingSettings), env), 'gateway');
  const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

  test('traces are off without an endpoint', () => {
    expect(read({ OTEL_TRACES_SAMPLER: 'always_on', OTEL_SERVICE_NAME: 'name' })).toBeNull();
  });

  test('an endpoint alone records all traces, under the name of the service', () => {
    expect(read(ENDPOINT)).toEqual({
      endpoint: 'http://collector:4318',
      protocol: 'http/protobuf',
      headers: {},
      timeoutMs: 10_000,
      delayMs: 5_000,
      sampler: 'parentbased_always_on',
      ratio: 1,
      resource: { 'service.name': 'gateway' },
    });
  });

  test('reads pairs with percent escapes, and the name of the service before further attributes', () => {
    const options = read({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc=, x-tenant = one',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
      OTEL_SERVICE_NAME: 'gateway-a',
    });
    expect(options).toMatchObject({
      headers: { authorization: 'Basic abc=', 'x-tenant': 'one' },
      resource: { 'deployment.environment.name': 'test', 'service.name': 'gateway-a' },
    });
  });

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret-without-name'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'name=%zz'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '0'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'without-equals-sign'],
  ])('%s=%s is refused by name, without its value', (name, value) => {
    expect(() => read({ ...ENDPOINT, [name]: value })).toThrow(name);
    expect(() => read({ ...ENDPOINT, [name]: value })).not.toThrow(value);
  });
});
