import type { ContextManager } from '@opentelemetry/api';
import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace';
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
  const [{ context, trace }, sdk, { defaultResource, resourceFromAttributes }, { exportSafely }, databases] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/resources'),
      import('./safe-exporter.ts'),
      import('./instrumentations.ts'),
    ]);
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
