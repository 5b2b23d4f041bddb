import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { readConfig } from '../src/settings/config.ts';
import { toTracingOptions, tracingSettings } from '../src/settings/tracing.ts';

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
