import { setTimeout as sleep } from 'node:timers/promises';
import * as grpc from '@grpc/grpc-js';
import {
  type Attributes,
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  diag,
  type SpanContext,
  type TextMapGetter,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { GrpcInstrumentation } from '@opentelemetry/instrumentation-grpc';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Logger } from './log.ts';
import { sampledLogOf } from './log.ts';

/*
 * Traces by OpenTelemetry's SDK and its instrumentations of gRPC, pg (also below Prisma) and ioredis. The SDK reads `OTEL_*` itself. This
 * module is loaded only if traces are on. Here is what the SDK cannot know: which attributes may leave the process. The gateway makes the
 * spans of its requests itself (http/exchange.ts): the instrumentation of http continues the traces of strangers. That of gRPC does so
 * too, before a caller is admitted: the network and mutual TLS decide who reaches the rpc ports.
 *
 * The instrumentations replace methods of classes. They are given the classes here, because their own way, hooks for module loading,
 * has to be set before the first import (`node --import`).
 *
 * It does not trace requests of ours to other hosts, such as webhooks, and puts no header field into them.
 */

/** Long statements are cut; their spans have the name of the statement. */
const MAX_ATTRIBUTE_LENGTH = 1_000;
const LAST_EXPORT_MS = 3_000;

interface TracingOptions {
  /** Name in traces, unless `OTEL_SERVICE_NAME` says another. */
  readonly service: string;
  readonly log: Logger;
  /** Maximum duration of the last export, in milliseconds. Default 3000. */
  readonly lastExportMs?: number;
}

/** Starts tracing in this process. Disposal exports what is left. */
export function startTracing({ service, log, lastExportMs }: TracingOptions): AsyncDisposable {
  const warn = (message: string) =>
    sampledLogOf(log)('warn', 'tracing', { cause: message }, 'OpenTelemetry reports a problem');
  const silent = () => undefined;
  const diagnostics = { error: warn, warn, info: silent, debug: silent, verbose: silent };
  diag.setLogger(diagnostics, DiagLogLevel.WARN);
  // The message only: the error has the receiver's answer.
  setGlobalErrorHandler((error) => warn(typeof error === 'string' ? error : String(error.message)));
  const isJson = process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] === 'http/json';
  const sdk = new NodeSDK({
    resource: resourceFromAttributes({ 'service.name': service }),
    // The default detectors would add the command line and the host.
    resourceDetectors: [envDetector],
    textMapPropagator: new TraceparentPropagator(),
    traceExporter: exportSafely(isJson ? new JsonExporter() : new ProtobufExporter()),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH },
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  instrument();
  return {
    async [Symbol.asyncDispose]() {
      const limit = sleep(lastExportMs ?? LAST_EXPORT_MS, undefined, { ref: false });
      await Promise.race([sdk.shutdown().catch(warn), limit]);
    },
  };
}

/** Takes nothing but `traceparent` from a call. */
class TraceparentPropagator extends W3CTraceContextPropagator {
  override extract(context: Context, carrier: unknown, getter: TextMapGetter): Context {
    return super.extract(context, { traceparent: getter.get(carrier, 'traceparent') }, defaultTextMapGetter);
  }
}

function instrument(): void {
  // Checks of grpc.health.v1.
  const calls = new GrpcInstrumentation({ enabled: false, ignoreGrpcMethods: ['Check', 'Watch'] });
  // A copy, because the exports themselves cannot be replaced.
  patch(calls, '@grpc/grpc-js', { ...grpc });
  // How long work waits for a connection is a metric. A span for each would double their number.
  const statements = new PgInstrumentation({
    enabled: false,
    requireParentSpan: true,
    ignoreConnectSpans: true,
  });
  patch(statements, 'pg', pg);
  // Keys contain ids.
  const dbStatementSerializer = (command: string) => command;
  const commands = new IORedisInstrumentation({
    enabled: false,
    requireParentSpan: true,
    dbStatementSerializer,
  });
  patch(commands, 'ioredis', Redis);
}

interface Instrumentation {
  getModuleDefinitions(): readonly {
    readonly name: string;
    readonly patch?: ((module: unknown) => unknown) | undefined;
  }[];
}

function patch(instrumentation: Instrumentation, name: string, module: unknown): void {
  const definition = instrumentation.getModuleDefinitions().find((each) => each.name === name);
  if (definition?.patch === undefined) throw new Error(`no instrumentation of ${name}`);
  definition.patch(module);
}

/**
 * The attributes that leave the process. Instrumentations and their updates may set others, with a path, a value of a query, an address
 * of a client, a key of Redis or the message of a driver in them.
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
  'phds.request_id',
  'rpc.grpc.status_code',
  'rpc.method',
  'rpc.service',
  'rpc.system',
]);

/** Exports spans without anything that is not known to be harmless: other attributes, texts of errors, and `tracestate`. */
function exportSafely(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) => exporter.export(spans.map(toSafeSpan), done),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** Inherits everything else from the span. */
function toSafeSpan(span: ReadableSpan): ReadableSpan {
  const events = span.events.map(({ attributes = {}, ...event }) => ({
    ...event,
    attributes: pickExported(attributes),
  }));
  const links = span.links.map(({ context }) => ({ context: withoutState(context) }));
  return Object.create(span, {
    spanContext: { value: () => withoutState(span.spanContext()) },
    attributes: { value: pickExported(span.attributes) },
    events: { value: events },
    links: { value: links },
    status: { value: { code: span.status.code } },
  });
}

const withoutState = ({ traceState: _, ...context }: SpanContext): SpanContext => context;

function pickExported(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => EXPORTED.has(name)));
}
