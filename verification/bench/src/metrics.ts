import { generateKeyPairSync } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { createLogger } from '@phds/service-kit/log';
import { openCallStreams } from '@phds/service-kit/rpc-call-streams';
import { measureCalledRpcs, measureServedRpcs } from '@phds/service-kit/rpc-metrics';
import { startRpcServer } from '@phds/service-kit/rpc-server';
import { implement } from '@phds/service-kit/rpc-service';
import { createServiceTokenSource, createServiceTokenVerifier } from '@phds/service-kit/service-token';
import { Metrics, SIZE_BUCKETS } from '@phds/telemetry/metrics';
import { measureRequests } from '../../../services/gateway/src/http/request-metrics.ts';
import type { Options } from './options.ts';

const CALLS_AT_ONCE = 16;
const OBSERVATIONS = 200_000;
const { read, reads } = HealthDataService.method;

/** Measures what the metrics cost: each instrument of a data request alone, and calls over a stream with and without them. */
export async function benchMetrics({ seconds, rounds }: Options): Promise<string> {
  const instruments = measureInstruments();
  await using without = await openHop(null);
  await using withMetrics = await openHop(new Metrics({ service: 'bench' }));
  const [plain, measured]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    const pair = [await cpuOfCalls(without, seconds), await cpuOfCalls(withMetrics, seconds)] as const;
    // The first round compiles.
    if (round === 0) continue;
    plain.push(pair[0]);
    measured.push(pair[1]);
  }
  const total = Object.values(instruments).reduce((sum, each) => sum + each, 0);
  const ratios = plain.map((each, index) => ((measured[index] ?? 0) / each).toFixed(3));
  return [
    '| instrument | CPU µs |',
    '|---|---|',
    ...Object.entries(instruments).map(([name, microseconds]) => `| ${name} | ${microseconds.toFixed(2)} |`),
    `| all of a request whose batches hold no other | ${total.toFixed(2)} |`,
    '',
    `CPU of a call over a stream, caller and service: ${median(plain).toFixed(1)} µs without metrics, ${median(measured).toFixed(1)} µs with.`,
    `Ratio by round: ${ratios.join(', ')}.`,
  ].join('\n');
}

/** CPU time of each instrument, in microseconds. */
function measureInstruments(): Record<string, number> {
  const metrics = new Metrics({ service: 'bench' });
  const measureRequest = measureRequests(metrics);
  const [called, served] = [measureCalledRpcs(metrics), measureServedRpcs(metrics)];
  const sizes = metrics.histogram({ name: 'phds_sizes', help: 'Sizes.' }, SIZE_BUCKETS);
  const steps = metrics.histogram({ name: 'phds_steps', help: 'Steps.', labels: ['step'] }).labels('insert');
  const request = { method: 'GET' } as IncomingMessage;
  const response = Object.assign(new EventEmitter(), { socket: {}, writableFinished: true, statusCode: 200 });
  return {
    'request of the gateway': cpuOf(() => {
      measureRequest(request, response as unknown as ServerResponse, () => '/api/v1/health-data/:category');
      response.emit('close');
    }),
    'two called rpcs': 2 * cpuOf(() => called.started(read)('OK')),
    'two answered rpcs': 2 * cpuOf(() => served.started(read)('OK')),
    'two sizes of batches': 2 * cpuOf(() => sizes.observe(7)),
    'two durations of batches': 2 * cpuOf(() => steps.observe(0.004)),
  };
}

function cpuOf(work: () => void): number {
  for (let i = 0; i < OBSERVATIONS; i += 1) work();
  const before = process.cpuUsage();
  for (let i = 0; i < OBSERVATIONS; i += 1) work();
  return sinceCpu(before) / OBSERVATIONS;
}

interface Hop extends AsyncDisposable {
  readonly streams: ReturnType<typeof openCallStreams<(typeof read)['input'], (typeof read)['output']>>;
}

/** A service and its caller in this process, connected by a stream. */
async function openHop(metrics: Metrics | null): Promise<Hop> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'gateway', alg: 'EdDSA' };
  const body = new Uint8Array(2_000);
  const server = await startRpcServer({
    services: [
      implement(
        HealthDataService,
        { read: async () => ({ body, etag: '"e"', total: 20 }) },
        { read: ['gateway'] },
        { reads: 'read' },
      ),
    ],
    verifyCaller: createServiceTokenVerifier({
      service: 'health-data',
      publicKeys: JSON.stringify({ keys: [jwk] }),
    }),
    log: createLogger({ service: 'bench', level: 'silent' }),
    host: '127.0.0.1',
    rpcPort: 0,
    probePort: null,
    connectPort: null,
    health: async () => true,
    ...(metrics && { metrics }),
  });
  const streams = openCallStreams({
    address: `127.0.0.1:${server.rpcPort}`,
    audience: 'health-data',
    tokens: createServiceTokenSource({
      service: 'gateway',
      privateKeyPem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    }),
    method: reads,
    carried: read,
    onFailure: (error) => {
      throw error;
    },
    ...(metrics && { observer: measureCalledRpcs(metrics) }),
  });
  while (streams.open.length === 0) await turn();
  return {
    streams,
    async [Symbol.asyncDispose]() {
      streams[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** CPU time of one call, in microseconds. */
async function cpuOfCalls({ streams }: Hop, seconds: number): Promise<number> {
  const before = process.cpuUsage();
  const endsAt = performance.now() + seconds * 1000;
  let calls = 0;
  while (performance.now() < endsAt) {
    await callAll(streams);
    calls += CALLS_AT_ONCE;
  }
  return sinceCpu(before) / calls;
}

async function callAll(streams: Hop['streams']): Promise<void> {
  const calls = Array.from({ length: CALLS_AT_ONCE }, () => Promise.withResolvers<unknown>());
  const [stream] = streams.open;
  if (stream === undefined) return void (await turn());
  stream.send(
    calls.map(({ resolve, reject }, index) => ({
      request: { requestId: `req_${index}`, category: 'heart' },
      timeoutMs: 20_000,
      resolve,
      reject,
    })),
  );
  await Promise.all(calls.map(({ promise }) => promise));
}

function sinceCpu(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
