import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { notFound } from '@phds/service-kit/errors';
import { eventually } from '@phds/test-kit/conditions';
import { scrape } from '@phds/test-kit/scrape';
import { bearer, documentOf, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

const DURATIONS = 'phds_http_request_duration_seconds_count';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const read = () => scrape(`http://127.0.0.1:${gateway.service.probePort}`);

async function countOf(endpoint: string, method: string, status: string): Promise<number> {
  return (await read()).sum(DURATIONS, { endpoint, method, status });
}

test.each<[path: string, init: RequestInit, endpoint: string, status: string]>([
  ['/api/v1/health-data/heart?pageSize=1', { headers: bearer() }, '/api/v1/health-data/:category', '200'],
  ['/api/v1/medications/med_1/adherence', { headers: bearer() }, '/api/v1/medications/:id/adherence', '200'],
  ['/api/v1/profile', {}, '/api/v1/profile', '401'],
  ['/api/v1/health-data/hear', { headers: bearer() }, 'other', '404'],
  ['/api/versions', {}, '/api/versions', '200'],
  ['/livez', {}, '/livez', '200'],
  // Refused before its route is looked up.
  ['/partner/consent/grants/grt_1', {}, 'other', '401'],
  ['/wp-admin/setup.php', {}, 'other', '404'],
  ['/oauth/scopes', {}, '/oauth/scopes', '200'],
  ['/approve/%zz', {}, 'other', '400'],
])(
  'GET %s is measured by its endpoint, never by its path (case %#)',
  async (path, init, endpoint, status) => {
    gateway.backends.answer({ introspect: () => liveToken(), read: () => documentOf({ data: {} }) });
    const before = await countOf(endpoint, 'GET', status);
    await gateway.fetchUnchecked(path, init).then((response) => response.arrayBuffer());
    await eventually(async () => (await countOf(endpoint, 'GET', status)) === before + 1);
  },
);

test('methods of no meaning here share one label', async () => {
  await gateway.fetchUnchecked('/livez', { method: 'PROPFIND' });
  await eventually(async () => (await countOf('/livez', 'other', '405')) === 1);
});

test('a request whose client hangs up is measured as aborted, and none stays in flight', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  gateway.backends.answer({
    introspect: async () => {
      await held;
      throw notFound();
    },
  });
  const socket = connect(gateway.port, '127.0.0.1');
  const head = `GET /api/v1/profile HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer()['authorization']}\r\n\r\n`;
  // The second and the third wait behind the first: their responses never get a connection.
  socket.write(head.repeat(3));
  await eventually(async () => (await read()).sum('phds_http_requests_in_flight') === 3);
  socket.destroy();
  await once(socket, 'close');
  await eventually(async () => (await read()).sum('phds_http_requests_in_flight') === 0);
  expect(await countOf('/api/v1/profile', 'GET', 'aborted')).toBe(3);
  release();
});

test('pipelined requests are each measured once', async () => {
  gateway.backends.answer({});
  const before = await countOf('/livez', 'GET', '200');
  const socket = connect(gateway.port, '127.0.0.1');
  socket.resume();
  const head = 'GET /livez HTTP/1.1\r\nHost: x\r\n';
  socket.write(`${head}\r\n${head}\r\n${head}Connection: close\r\n\r\n`);
  await once(socket, 'close');
  await eventually(async () => (await countOf('/livez', 'GET', '200')) >= before + 3);
  expect(await countOf('/livez', 'GET', '200')).toBe(before + 3);
  expect((await read()).sum('phds_http_requests_in_flight')).toBe(0);
});

test('the public port does not serve the metrics, and the probe port serves nothing else but the probes', async () => {
  expect((await gateway.fetchUnchecked('/metrics')).status).toBe(404);
  const status = async (path: string) =>
    (await fetch(`http://127.0.0.1:${gateway.service.probePort}${path}`)).status;
  gateway.backends.answer({});
  expect(await Promise.all(['/livez', '/metrics'].map(status))).toEqual([200, 200]);
  await eventually(async () => {
    // The answer of authorization is remembered for a second.
    gateway.clock.advance(1_000);
    expect(await status('/readyz')).toBe(200);
  });
  expect(await Promise.all(['/', '/oauth/scopes', '/api/v1/profile'].map(status))).toEqual([404, 404, 404]);
});
