import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import express from 'express';
import { answerMalformedRequests, type ServerConfig, startHttpServer } from '../src/http/server.ts';
import {
  bearer,
  documentOf,
  liveToken,
  shareTestGateway,
  startTestGateway,
  type TestGateway,
} from './test-gateway.ts';

describe('transport', () => {
  const gateway = shareTestGateway({ PUBLIC_URL: 'https://health.test' });
  beforeEach(() => {
    gateway.backends.answer({ introspect: () => liveToken(), read: () => documentOf({ data: {} }) });
  });

  // The server may close a connection while the client is still sending.
  const ignore = () => undefined;

  /** Returns everything received until the connection closes. */
  async function exchange(text: string, port = gateway.port): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', ignore);
    socket.on('close', () => resolve());
    socket.write(text);
    await promise;
    return Buffer.concat(chunks).toString('latin1');
  }

  const HSTS = 'max-age=31536000';

  test('a whole URL as target is answered like its path', async () => {
    const head = Object.entries(bearer()).map(([name, value]) => `${name}: ${value}\r\n`);
    for (const [target, status] of [
      ['http://health.test/api/v1/profile', 200],
      ['HTTPS://health.test:443/api/v1/nothing?a=b', 404],
      ['http://health.test/livez', 200],
      ['http://health.test?a=b', 200],
    ]) {
      const answer = await exchange(`GET ${target} HTTP/1.1\r\nHost: x\r\n${head}Connection: close\r\n\r\n`);
      expect([target, answer.slice(9, 12)]).toEqual([target, String(status)]);
    }
  });

  describe('Strict-Transport-Security', () => {
    test.each<[string, RequestInit, number]>([
      ['/livez', {}, 200],
      ['/oauth/scopes', { method: 'OPTIONS' }, 204],
      ['/api/v1/profile', {}, 401],
      ['/oauth/token', { method: 'POST', body: new URLSearchParams({ client_id: 'x' }) }, 200],
      ['/nothing', {}, 404],
    ])('is on the response of %s (case %#)', async (path, init, status) => {
      const response = await gateway.fetch(path, init);
      expect([response.status, response.headers.get('strict-transport-security')]).toEqual([status, HSTS]);
    });

    test('is absent when the public address is plain http', async () => {
      await using plain = await startTestGateway();
      for (const path of ['/livez', '/api/v1/profile']) {
        expect((await plain.fetch(path)).headers.get('strict-transport-security')).toBeNull();
      }
    });
  });

  test('a 204 has no Content-Length', async () => {
    const answer = await exchange('OPTIONS /oauth/scopes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 204 /);
    expect(answer).not.toMatch(/content-length/i);
  });

  describe('a request that the HTTP parser rejects gets a body with a code', () => {
    test.each([
      ['header fields beyond the cap', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
      ['what is no HTTP', 'hello\r\n\r\n', 400],
      ['a bad field name', 'GET / HTTP/1.1\r\nHo st: x\r\n\r\n', 400],
      [
        'two lengths',
        'POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
        400,
      ],
      ['no Host', 'GET /livez HTTP/1.1\r\n\r\n', 400],
      [
        'an expectation',
        'POST /oauth/token HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
        417,
      ],
    ])('%s', async (_, text, status) => {
      const [head = '', body = ''] = (await exchange(text)).split('\r\n\r\n');
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(head).toContain(`Strict-Transport-Security: ${HSTS}`);
      expect(head).toContain('Content-Type: application/problem+json');
      expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}`);
      expect(JSON.parse(body)).toEqual({
        type: '/problems/invalid-request',
        title: expect.any(String),
        status,
        code: 'INVALID_REQUEST',
        detail: expect.any(String),
        requestId: expect.stringMatching(/^req_/),
        errors: [],
      });
    });

    test('a request that does not arrive in time is answered with 408', async () => {
      const server = createServer({
        headersTimeout: 50,
        requestTimeout: 50,
        connectionsCheckingInterval: 10,
      });
      answerMalformedRequests(server, {}, gateway.clock);
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const answer = await exchange('GET / HTTP/1.1\r\nHost: x\r\n', (server.address() as AddressInfo).port);
      expect(answer).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n[\s\S]*"code":"INVALID_REQUEST"/);
      server.close();
    });

    test('a client that never stops sending is disconnected', async () => {
      const socket = connect(gateway.port, '127.0.0.1').on('error', ignore);
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      await eventually(() => {
        if (!socket.destroyed) socket.write('x'.repeat(1_000));
        return socket.destroyed;
      });
      expect(received).toContain('INVALID_REQUEST');
    });

    test('a malformed request does not corrupt the response before it', async () => {
      const answers = await exchange('GET /livez HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n');
      expect(answers).toMatch(/^HTTP\/1.1 200 OK\r\n[^{}]*\r\n\r\nok\n$/);
    });
  });
});

describe('slow clients', () => {
  const REQUEST = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
  /** More than the system's buffers hold. */
  const LARGE = Buffer.alloc(64 * 1024 * 1024);

  test('nine requests on a connection without an answer end it, eight are answered', async () => {
    await using gateway = await startTestGateway();
    const polite = openConnection(gateway.port);
    for (const answers of [8, 16]) {
      polite.socket.write(REQUEST.repeat(8));
      await eventually(() => expect(polite.received().split('HTTP/1.1 200')).toHaveLength(answers + 1));
    }
    polite.socket.destroy();
    const greedy = openConnection(gateway.port);
    greedy.socket.write(REQUEST.repeat(9));
    await eventually(() => expect(greedy.isOver()).toBe(true));
  });

  test.each([
    ['nothing', 0],
    ['a few bytes at a time', 64],
  ])('a client that reads %s of its answer is disconnected', async (_how, bytes) => {
    await using server = await startServer({});
    const client = connect(server.port, '127.0.0.1').pause();
    let isOver = false;
    client.on('error', () => {
      isOver = true;
    });
    client.write(REQUEST);
    await eventually(() => {
      // Paused, so that only what is asked for is taken from the system.
      client.read(bytes);
      // The system tells a client of the end of its connection when it writes.
      client.write('\r\n');
      expect(isOver).toBe(true);
    });
  });

  test('a connection without a request is kept as long as the setting says', async () => {
    await using gateway = await startTestGateway({ KEEP_ALIVE_SECONDS: '620' });
    expect((await gateway.fetch('/livez')).headers.get('keep-alive')).toBe('timeout=620');
    await using usual = await startTestGateway();
    expect((await usual.fetch('/livez')).headers.get('keep-alive')).toBe('timeout=75');
  });

  test.each(['::', '[::]'])('a gateway with HOST %s is reached over IPv4, also for probes', async (host) => {
    await using gateway = await startTestGateway({ HOST: host });
    for (const port of [gateway.port, gateway.service.probePort]) {
      expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
    }
  });

  test('connections above the limit are closed', async () => {
    await using server = await startServer({ MAX_CONNECTIONS: 1 });
    const first = openConnection(server.port);
    first.socket.write('GET /small HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => expect(first.received()).toContain('small'));
    const second = openConnection(server.port);
    await eventually(() => expect(second.isOver()).toBe(true));
    expect(first.isOver()).toBe(false);
    first.socket.destroy();
  });

  function startServer(limits: Partial<ServerConfig>) {
    const config = {
      HOST: '127.0.0.1',
      PORT: 0,
      PUBLIC_URL: 'http://localhost',
      MAX_HEADER_BYTES: 16_384,
      MAX_CONNECTIONS: 10,
      STALLED_CONNECTION_MS: 200,
      KEEP_ALIVE_SECONDS: 75,
      MIN_READ_BYTES_PER_SECOND: 1_000_000_000,
      ...limits,
    };
    const app = express();
    app.get('/small', (_request, response) => void response.end('small'));
    app.use((_request, response) => void response.end(LARGE));
    const reloads = { watch: () => undefined, measureCertificate: () => () => undefined };
    return startHttpServer(app, config, { clock: new FakeClock(new Date()), reloads });
  }

  function openConnection(port: number) {
    const socket: Socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    let isOver = false;
    socket
      .on('data', (chunk) => chunks.push(chunk))
      .on('error', () => undefined)
      .on('close', () => {
        isOver = true;
      });
    return { socket, received: () => Buffer.concat(chunks).toString('latin1'), isOver: () => isOver };
  }
});

describe('leaving', () => {
  /** Sends a request over the agent's connection, and returns status and `Connection` of the response. */
  async function ask(gateway: TestGateway, agent: Agent, path: string) {
    const sent = request({ host: '127.0.0.1', port: gateway.port, path, agent }).end();
    const [response] = await once(sent, 'response');
    await once(response.resume(), 'end');
    return [response.statusCode, response.headers.connection];
  }

  test('a gateway that leaves is not ready, answers requests, and asks clients to connect elsewhere', async () => {
    await using gateway = await startTestGateway();
    gateway.backends.answer({ introspect: () => ({}) });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await ask(gateway, agent, '/readyz')).toEqual([200, 'keep-alive']);
    gateway.service.leave();
    expect(await ask(gateway, agent, '/readyz')).toEqual([503, 'close']);
    expect(await ask(gateway, agent, '/livez')).toEqual([200, 'close']);
    expect(await ask(gateway, agent, '/openapi.json')).toEqual([200, 'close']);
    agent.destroy();
  });
});
