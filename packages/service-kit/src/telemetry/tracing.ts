import type { Attributes, ContextManager, Link } from '@opentelemetry/api';
import type { ReadableSpan, Sampler, SpanExporter } from '@opentelemetry/sdk-trace';
import { useTracer } from './spans.ts';

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

export interface TracingOptions {
  /** Base URL of an OTLP receiver; `/v1/traces` is appended. */
  readonly endpoint: string;
  readonly protocol: (typeof PROTOCOLS)[number];
  /** Header fields of each export. */
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum duration of an export, in milliseconds. */
  readonly timeoutMs: number;
  /** Time between exports, in milliseconds. */
  readonly delayMs: number;
  readonly sampler: (typeof SAMPLERS)[number];
  /** Fraction of the traces that are recorded, for the samplers with a ratio. */
  readonly ratio: number;
  /** Maximum duration of the last export, in milliseconds. Default 3000. */
  readonly lastExportMs?: number;
  /** Attributes of the process, such as `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  /** Keeps the current span in the context of the current work. */
  readonly contextManager: ContextManager;
  readonly log: TracingLog;
}

export interface TracingLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Waiting spans; more are dropped. About 2 kB each. */
const MAX_QUEUED = 4_096;
const MAX_BATCH = 512;
/** Long statements are cut; their spans have the name of the statement. */
const MAX_ATTRIBUTE_LENGTH = 1_000;
/** Spans of a batch have a link to each request. */
const MAX_LINKS = 128;
const LAST_EXPORT_MS = 3_000;

/**
 * Starts tracing in this process. The modules of the SDK are loaded only here. Disposal exports what is left. An unreachable receiver
 * affects nothing else: spans are dropped, and each outage is logged once.
 */
export async function startTracing(options: TracingOptions): Promise<AsyncDisposable> {
  const [{ context, trace }, sdk, { defaultResource, resourceFromAttributes }, databases] = await Promise.all(
    [
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/resources'),
      import('./instrumentations.ts'),
    ],
  );
  const exporter = exportSafely(await createExporter(options), createOutageLog(options));
  const provider = new sdk.TracerProvider({
    sampler: createSampler(sdk, options),
    resource: defaultResource().merge(resourceFromAttributes(options.resource)),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH, linkCountLimit: MAX_LINKS },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_QUEUED,
        maxExportBatchSize: MAX_BATCH,
        scheduledDelayMillis: options.delayMs,
        exportTimeoutMillis: options.timeoutMs,
      }),
    ],
  });
  context.setGlobalContextManager(options.contextManager);
  trace.setGlobalTracerProvider(provider);
  databases.instrumentDatabases();
  useTracer(provider.getTracer('phds'));
  return {
    async [Symbol.asyncDispose]() {
      useTracer(undefined);
      await within(provider.shutdown(), options.lastExportMs ?? LAST_EXPORT_MS);
      trace.disable();
      context.disable();
    },
  };
}

async function createExporter(options: TracingOptions): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    options.protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter({
    url: `${options.endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: { ...options.headers },
    timeoutMillis: options.timeoutMs,
  });
}

/** Each sampler is like its `parentbased_…`: traces of a gateway have no parent, and other services never start one. */
function createSampler(sdk: typeof import('@opentelemetry/sdk-trace'), options: TracingOptions): Sampler {
  const { sampler, ratio } = options;
  if (sampler.endsWith('always_on')) return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() });
  if (sampler.endsWith('always_off')) return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOffSampler() });
  return new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) });
}

function createOutageLog({ log }: TracingOptions): (error: Error | undefined) => void {
  let isOut = false;
  return (error) => {
    // The message only: the error has the receiver's answer.
    if (error !== undefined && !isOut)
      log.warn({ cause: error.message }, 'traces cannot be exported; dropping them');
    if (error === undefined && isOut) log.info({}, 'traces are exported again');
    isOut = error !== undefined;
  };
}

async function within(work: Promise<unknown>, limitMs: number): Promise<void> {
  const { promise: limit, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  await Promise.race([work.catch(() => undefined), limit]);
  clearTimeout(timer);
}

/**
 * The attributes that leave the process. Instrumentations and their updates may set others, with a value of a query, a key of Redis or
 * the message of a driver in them.
 */
const EXPORTED: ReadonlySet<string> = new Set([
  'db.namespace',
  'db.operation.name',
  'db.query.text',
  'db.system.name',
  'error.type',
  'exception.type',
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'phds.batch.size',
  'phds.request_id',
  'rpc.method',
  'rpc.service',
  'rpc.system',
  'server.address',
  'server.port',
]);

/** Called after each export. */
type OnExported = (error: Error | undefined) => void;

/** Exports spans without anything that is not known to be harmless: other attributes, texts of errors, and names of events. */
function exportSafely(exporter: SpanExporter, onExported: OnExported): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans.map(toSafeSpan), (result) => {
        onExported(result.code === 0 ? undefined : (result.error ?? new Error('the export failed')));
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** Inherits everything else from the span. */
function toSafeSpan(span: ReadableSpan): ReadableSpan {
  const events = span.events.map((event) => ({
    ...event,
    attributes: event.attributes && pickExported(event.attributes),
  }));
  const links = span.links.map(({ context }): Link => ({ context }));
  return Object.create(span, {
    attributes: { value: pickExported(span.attributes) },
    events: { value: events },
    links: { value: links },
    status: { value: { code: span.status.code } },
  });
}

function pickExported(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => EXPORTED.has(name)));
}
