import { z } from 'zod';
import { PROTOCOLS, SAMPLERS, type TracingOptions } from '../telemetry/tracing.ts';
import { durationMs, optionalText } from './config.ts';

/** `name=value` pairs, separated by commas, with percent escapes in the values, as OpenTelemetry defines them. */
function pairs() {
  return z
    .string()
    .refine((text) => parsePairs(text) !== null, 'must be name=value pairs, separated by commas')
    .transform((text) => parsePairs(text) ?? {})
    .default({});
}

function parsePairs(text: string): Readonly<Record<string, string>> | null {
  try {
    const found = text.split(',').map((pair) => {
      const [, name, value] = /^\s*([\w.!#$%&'*+^`|~-]+)\s*=(.*)$/.exec(pair) ?? [];
      if (name === undefined || value === undefined) throw new URIError('not a pair');
      return [name, decodeURIComponent(value.trim())];
    });
    return Object.fromEntries(found);
  } catch {
    return null;
  }
}

const PAIRS = '`name=value` pairs, separated by commas';

/** OpenTelemetry's own variables, as far as the services have them (docs/operations/observability.md). */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an http or https URL')
    .optional()
    .meta({ unit: 'URL', fallback: 'none: no traces' })
    .describe('OTLP receiver, over HTTP; `/v1/traces` is appended ([traces](observability.md#traces)).'),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(PROTOCOLS)
    .default('http/protobuf')
    .describe('Encoding of the exports.'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs()
    .meta({ unit: PAIRS, fallback: 'none', secret: true })
    .describe('Header fields of the exports, such as a key of the receiver.'),
  OTEL_EXPORTER_OTLP_TIMEOUT: durationMs(10_000).describe('Maximum duration of an export.'),
  OTEL_BSP_SCHEDULE_DELAY: durationMs(5_000).describe('Maximum time between exports.'),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS)
    .default('parentbased_always_on')
    .describe('Which traces are recorded. Only a gateway decides.'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .meta({ unit: 'fraction' })
    .describe('Fraction of the traces that are recorded, for the samplers with `traceidratio`.'),
  OTEL_SERVICE_NAME: optionalText({ unit: 'text', fallback: 'name of the service' }).describe(
    'Name of this service in traces.',
  ),
  OTEL_RESOURCE_ATTRIBUTES: pairs()
    .meta({ unit: PAIRS, fallback: 'none' })
    .describe('Further attributes of this process in traces.'),
} as const;

type TracingSettings = Readonly<z.infer<z.ZodObject<typeof tracingSettings>>>;

/** What `startTracing` needs from the settings; null if they turn traces off. */
export function toTracingOptions(
  config: TracingSettings,
  service: string,
): Omit<TracingOptions, 'contextManager' | 'log'> | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined) return null;
  return {
    endpoint,
    protocol: config.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS,
    timeoutMs: config.OTEL_EXPORTER_OTLP_TIMEOUT,
    delayMs: config.OTEL_BSP_SCHEDULE_DELAY,
    sampler: config.OTEL_TRACES_SAMPLER,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    resource: { ...config.OTEL_RESOURCE_ATTRIBUTES, 'service.name': config.OTEL_SERVICE_NAME ?? service },
  };
}
