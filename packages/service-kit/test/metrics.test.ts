import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { eventually } from '@phds/test-kit/conditions';
import { Scrape, scrape } from '@phds/test-kit/scrape';
import { AppError } from '../src/errors.ts';
import { openRpcChannel } from '../src/rpc/client.ts';
import type { RpcServer } from '../src/rpc/server.ts';
import { measureCertificates } from '../src/rpc/tls.ts';
import { Metrics, measureCalledRpcs } from '../src/telemetry/metrics.ts';
import { connection, openBatched, type Respond, serve } from './read-service.ts';

test('two instances in one process count apart', async () => {
  const [one, two] = [new Metrics({ service: 'one' }), new Metrics({ service: 'two' })];
  const declaration = { name: 'phds_things_total', help: 'Things.', labels: ['kind'] } as const;
  one.counter(declaration).inc({ kind: 'a' });
  two.counter(declaration).inc({ kind: 'a' }, 2);
  const [first, second] = [new Scrape(await one.text()), new Scrape(await two.text())];
  expect([first.sum('phds_things_total'), second.sum('phds_things_total')]).toEqual([1, 2]);
  expect(first.valuesOf('phds_build_info', 'service')).toEqual(['one']);
});

/** Certificates that end at the given times. */
const CERTIFICATES = {
  '2026-12-26T23:59:28Z':
    'MIIBLDCB36ADAgECAhQIxIXqSR5pCHha9TEHMunyICC4rzAFBgMrZXAwDDEKMAgGA1UEAwwBeDAeFw0yNjExMjYyMzU5MjhaFw0yNjEyMjYyMzU5MjhaMAwxCjAIBgNVBAMMAXgwKjAFBgMrZXADIQD8/XF/7iiv5KcxqjbsL1DPzLWF5gV6oBM6cts3basucqNTMFEwHQYDVR0OBBYEFHkHxhlzkcKfEmnQ5ICZZOPDHLjZMB8GA1UdIwQYMBaAFHkHxhlzkcKfEmnQ5ICZZOPDHLjZMA8GA1UdEwEB/wQFMAMBAf8wBQYDK2VwA0EAX5TgUs/Nj5UKkO4wZV85o9LFDIAVFgMD0UW7dw303wkzpwe0yzzW7aASNCgeyqegL5+plsUkeGarAi4zb0qJAA==',
  '2027-03-06T23:59:28Z':
    'MIIBLDCB36ADAgECAhReom7pHog6+0GpkcDCnPzzKnh5hjAFBgMrZXAwDDEKMAgGA1UEAwwBeDAeFw0yNjExMjYyMzU5MjhaFw0yNzAzMDYyMzU5MjhaMAwxCjAIBgNVBAMMAXgwKjAFBgMrZXADIQDm7TJqoe0+AkTDW1V3tPG3zYj9qUyjhXMK6I0k+KSNgaNTMFEwHQYDVR0OBBYEFKsTUNWjamL3mvUoMELWrcha7Mz9MB8GA1UdIwQYMBaAFKsTUNWjamL3mvUoMELWrcha7Mz9MA8GA1UdEwEB/wQFMAMBAf8wBQYDK2VwA0EATnsPjXJu1YcInLNemy06SH56uP6ybQvHxHG4MFpVkx3CkilZMoHngNWPu6LW8s2qnAbMpjXEifJR3bgU4v+IDw==',
};
const toPem = (base64: string) => `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;

test('the end of the certificate in use is that of the first in its chain to end; a renewed one replaces it', async () => {
  const metrics = new Metrics({ service: 'one' });
  const ends = async () =>
    new Scrape(await metrics.text()).sum('phds_certificate_expiry_timestamp_seconds') * 1000;
  const [early, late] = Object.keys(CERTIFICATES).map((end) => Date.parse(end));
  const [first = '', second = ''] = Object.values(CERTIFICATES).map(toPem);
  const measureCertificate = measureCertificates(metrics);
  expect(await metrics.text()).not.toMatch(/^phds_certificate/m);
  const renew = measureCertificate('TLS_CERT', second + first);
  expect(await ends()).toBe(early);
  renew(second);
  expect(await ends()).toBe(late);
});

test('a read counter and a read gauge have the value of the moment of the scrape', async () => {
  const metrics = new Metrics({ service: 'one' });
  let value = 3;
  metrics.readCounter({ name: 'phds_read_total', help: 'Counted elsewhere.' }, () => value);
  metrics.readGauge({ name: 'phds_read', help: 'Known elsewhere.' }, async () => value);
  await metrics.text();
  value = 5;
  const scrape = new Scrape(await metrics.text());
  expect([scrape.sum('phds_read_total'), scrape.sum('phds_read')]).toEqual([5, 5]);
});

test('a background task has its counter before its first failure', async () => {
  const metrics = new Metrics({ service: 'one' });
  const failed = metrics.countFailures('sweeping');
  const read = async () => new Scrape(await metrics.text());
  expect((await read()).valuesOf('phds_background_failures_total', 'task')).toEqual(['sweeping']);
  failed();
  failed();
  expect((await read()).sum('phds_background_failures_total', { task: 'sweeping' })).toBe(2);
});

describe('rpcs', () => {
  const RPC = 'phds.healthdata.v1.HealthDataService/Read';
  const SERVED = 'phds_rpc_server_duration_seconds_count';
  const CALLED = 'phds_rpc_client_duration_seconds_count';

  let respond: Respond;
  let isReady = true;
  let server: RpcServer;
  let called: Metrics;
  let resources: DisposableStack;

  beforeAll(async () => {
    server = await serve((request, context) => respond(request, context), {
      probePort: 0,
      metrics: new Metrics({ service: 'health-data' }),
      health: async () => isReady,
    });
  });
  afterAll(async () => server[Symbol.asyncDispose]());
  beforeEach(() => {
    respond = async () => ({});
    called = new Metrics({ service: 'gateway' });
    resources = new DisposableStack();
  });
  afterEach(() => resources.dispose());

  const readServed = () => scrape(`http://127.0.0.1:${server.probePort}`);
  const readCalled = async () => new Scrape(await called.text());

  /** Opens a unary client, as the caller and with deadlines of the given length. */
  function open(caller = 'gateway', deadlineMs = 20_000) {
    const observer = measureCalledRpcs(called);
    const channel = openRpcChannel({ ...connection([server.rpcPort], caller), deadlineMs, observer });
    resources.use(channel);
    return channel.client(HealthDataService);
  }

  /** How many more calls the service has answered with each code. */
  async function servedSince(before: Scrape): Promise<Record<string, number>> {
    const now = await readServed();
    const codes = now.valuesOf(SERVED, 'code');
    const counts = codes.map((code) => [
      code,
      now.sum(SERVED, { rpc: RPC, code }) - before.sum(SERVED, { rpc: RPC, code }),
    ]);
    return Object.fromEntries(counts.filter(([, count]) => count !== 0));
  }

  test('a unary call is measured on both sides, with the code that it ended with', async () => {
    const before = await readServed();
    const client = open();
    await client.read({});
    respond = async () => {
      throw new AppError('not_found');
    };
    await expect(client.read({})).rejects.toThrow();
    const calls = await readCalled();
    expect(await servedSince(before)).toEqual({ OK: 1, NOT_FOUND: 1 });
    expect(['OK', 'NOT_FOUND'].map((code) => calls.sum(CALLED, { rpc: RPC, code }))).toEqual([1, 1]);
  });

  test('a batch is measured as one call by the caller, and as the calls of the unary rpc by the service', async () => {
    const before = await readServed();
    const client = resources.use(openBatched([server.rpcPort], { observer: measureCalledRpcs(called) }));
    respond = async ({ requestId }) => {
      if (requestId === 'wrong') throw new AppError('invalid_request');
      return {};
    };
    await client.readAll(['right', 'wrong', 'right']);
    const calls = await readCalled();
    expect(await servedSince(before)).toEqual({ OK: 2, INVALID_ARGUMENT: 1 });
    expect(calls.sum(CALLED, { rpc: `${RPC}s`, code: 'OK' })).toBe(1);
  });

  test('a caller that gives up is measured with its own code, and nothing stays in flight', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    respond = async () => {
      await held;
      return {};
    };
    const late = open().read({}, { timeoutMs: 200 });
    await expect(late).rejects.toMatchObject({ reason: 'unavailable' });
    expect((await readCalled()).sum(CALLED, { code: 'DEADLINE_EXCEEDED' })).toBe(1);
    await eventually(async () => (await readServed()).sum('phds_rpc_server_in_flight') >= 1);
    release();
    await eventually(async () => (await readServed()).sum('phds_rpc_server_in_flight') === 0);
  });

  test('a refused caller is counted for its rpc', async () => {
    const before = await readServed();
    await expect(open('importer').read({})).rejects.toMatchObject({ reason: 'caller_not_admitted' });
    const now = await readServed();
    const refused = (at: Scrape) => at.sum('phds_rpc_caller_refused_total', { rpc: RPC });
    expect(refused(now) - refused(before)).toBe(1);
    expect(await servedSince(before)).toEqual({ PERMISSION_DENIED: 1 });
  });

  test('phds_ready follows the readiness of the service', async () => {
    expect((await readServed()).sum('phds_ready')).toBe(1);
    isReady = false;
    await eventually(async () => (await readServed()).sum('phds_ready') === 0);
    isReady = true;
  });

  test('a service without metrics has no /metrics', async () => {
    await using bare = await serve(async () => ({}), { probePort: 0 });
    expect((await fetch(`http://127.0.0.1:${bare.probePort}/metrics`)).status).toBe(404);
  });
});
