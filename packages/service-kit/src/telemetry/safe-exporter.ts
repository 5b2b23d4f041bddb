import type { Attributes, Link } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';

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
export type OnExported = (error: Error | undefined) => void;

/** Exports spans without anything that is not known to be harmless: other attributes, texts of errors, and names of events. */
export function exportSafely(exporter: SpanExporter, onExported: OnExported): SpanExporter {
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
