import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { notFound, unauthorized, unavailable } from '@phds/service-kit/errors';
import { newSecret } from '@phds/service-kit/secrets';
import { eventually } from '@phds/test-kit/conditions';
import { scrape } from '@phds/test-kit/scrape';
import type { Answers } from './fake-backends.ts';
import { bearer, documentOf, liveToken, shareTestGateway, throwing } from './test-gateway.ts';

const gateway = shareTestGateway();

describe('logged routes', () => {
  const live: Answers = { introspect: () => liveToken() };
  const away: Answers = {
    introspect: throwing(unavailable()),
  };
  const NOT_FOUND = { level: 'debug', msg: 'request refused', reason: 'not_found', route: '/api/*' };

  test('answered data is logged with the name of its endpoint, never with its path', async () => {
    gateway.backends.answer({ introspect: () => liveToken(), read: () => documentOf({ data: [] }) });
    gateway.log.length = 0;
    await gateway.fetchUnchecked('/api/v1/medications/whispered/adherence', { headers: bearer() });
    expect(gateway.log.join('')).toContain('"msg":"data"');
    expect(gateway.log.join('')).not.toContain('whispered');
  });

  test.each<[string, string, Answers, object]>([
    ['without an endpoint', '/api/v1/whispered', live, NOT_FOUND],
    ['without an endpoint or an answer', '/api/v1/whispered', away, { level: 'warn', route: '/api/*' }],
    [
      'of an endpoint',
      '/api/v1/medications/whispered/adherence',
      away,
      { level: 'warn', route: '/api/v1/medications/{id}/adherence' },
    ],
  ])(
    'a refused request under /api %s is logged with the name of its endpoint, never with its path',
    async (_, path, answers, line) => {
      gateway.backends.answer(answers);
      gateway.log.length = 0;
      await gateway.fetch(path, { headers: bearer() });
      expect(gateway.log.map((text) => JSON.parse(text))).toContainEqual(expect.objectContaining(line));
      expect(gateway.log.join('')).not.toContain('whispered');
    },
  );
});

describe('the security log', () => {
  const gateway = shareTestGateway({ TRUST_PROXY: '1' });
  beforeEach(() => {
    gateway.log.length = 0;
  });

  const lines = () => gateway.log.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'security');
  const FROM = { 'x-forwarded-for': '203.0.113.9' };
  const ADDRESS = '203.0.113.9';
  const REFUSED = { security: 'authentication-refused', level: 'warn', address: ADDRESS, outcome: 401 };

  test('a refused access token is in the security log with its cause, and without the token', async () => {
    const token = newSecret('access_token');
    await gateway.fetch('/api/v1/profile', { headers: { ...bearer(token), ...FROM } });
    expect(lines()).toMatchObject([{ ...REFUSED, cause: 'token is not known', route: '/api/v1/profile' }]);
    expect(lines()[0].requestId).toMatch(/^req_/);
    expect(gateway.log.join('')).not.toContain(token);
  });

  test.each([
    ['an IPv4 client of a port that also listens on IPv6', '::ffff:203.0.113.9'],
    ['a proxy that adds the port', '203.0.113.9:50001'],
  ])('the address of %s is written as it is elsewhere', async (_, from) => {
    await gateway.fetch('/api/v1/profile', { headers: { ...bearer(), 'x-forwarded-for': from } });
    expect(lines()).toMatchObject([REFUSED]);
  });

  test('a refused secret is in the security log with the client and the cause that only authorization knows', async () => {
    gateway.backends.answer({
      issueToken: throwing(unauthorized('wrong secret')),
    });
    const secret = newSecret('client_secret');
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'app_1',
      client_secret: secret,
    });
    const answer = await gateway.fetch('/oauth/token', { method: 'POST', body, headers: FROM });
    expect(await answer.text()).not.toContain('wrong secret');
    expect(lines()).toMatchObject([
      { ...REFUSED, client: 'app_1', cause: 'wrong secret', route: '/oauth/token' },
    ]);
    expect(gateway.log.join('')).not.toContain(secret);
  });

  test('a secret in the place of the client id is not logged', async () => {
    const secret = newSecret('client_secret');
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: secret,
      client_secret: secret,
    });
    gateway.backends.answer({
      issueToken: throwing(unauthorized('unknown client')),
    });
    await gateway.fetch('/oauth/token', { method: 'POST', body });
    expect(lines()).toMatchObject([{ client: null, cause: 'unknown client' }]);
    expect(gateway.log.join('')).not.toContain(secret);
  });

  test('the rotation of a secret is in the security log, whether it was made or refused', async () => {
    const session = await gateway.sessions.issueSession('ada');
    const headers = { authorization: `Bearer ${session}`, ...FROM };
    await gateway.fetchUnchecked('/developer/apps/app_1/rotate-secret', { method: 'POST', headers });
    await eventually(() =>
      expect(lines()).toMatchObject([
        {
          security: 'rotation',
          client: 'app_1',
          address: ADDRESS,
          route: '/developer/apps/:clientId/rotate-secret',
        },
      ]),
    );
  });

  test('many refusals fill neither the log nor hide an event of another kind', async () => {
    const started = performance.now();
    const refused = Array.from({ length: 100 }, () =>
      gateway.fetch('/api/v1/profile', { headers: bearer() }),
    );
    await Promise.all(refused);
    const count = async () => {
      const written = lines().filter(({ security }) => security === 'authentication-refused').length;
      const omitted = lines().reduce((sum, { omitted = 0 }) => sum + omitted, 0);
      return { written, all: written + omitted };
    };
    await eventually(async () => expect((await count()).all).toBe(100));
    // Ten in each second that began while the requests were answered.
    const seconds = Math.ceil((performance.now() - started) / 1_000) + 1;
    expect((await count()).written).toBeLessThanOrEqual(10 * seconds);
  });
});

describe('metrics of requests', () => {
  const DURATIONS = 'phds_http_request_duration_seconds_count';

  const read = () => scrape(`http://127.0.0.1:${gateway.service.probePort}`);

  async function countOf(endpoint: string, method: string, status: string): Promise<number> {
    return (await read()).sum(DURATIONS, { endpoint, method, status });
  }

  test.each<[path: string, init: RequestInit, endpoint: string, status: string]>([
    ['/api/v1/health-data/heart?pageSize=1', { headers: bearer() }, '/api/v1/health-data/:category', '200'],
    [
      '/api/v1/medications/med_1/adherence',
      { headers: bearer() },
      '/api/v1/medications/:id/adherence',
      '200',
    ],
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
});
