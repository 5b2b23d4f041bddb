import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import express from 'express';
import { disconnectPipelining } from '../src/http/connection-limits.ts';
import { type ServerConfig, startHttpServer } from '../src/http/server.ts';
import { startTestGateway } from './test-gateway.ts';

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

test('what follows the ninth request is not even parsed', async () => {
  let parsed = 0;
  const server = createServer((request, response) => {
    parsed += 1;
    disconnectPipelining(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const greedy = openConnection((server.address() as AddressInfo).port);
  greedy.socket.write(REQUEST.repeat(1_000));
  await eventually(() => expect(greedy.isOver()).toBe(true));
  server.close();
  expect(parsed).toBe(9);
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
    MIN_READ_BYTES_PER_SECOND: 1_000_000_000,
    ...limits,
  };
  const app = express();
  app.get('/small', (_request, response) => void response.end('small'));
  app.use((_request, response) => void response.end(LARGE));
  return startHttpServer(app, config, new FakeClock(new Date()));
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
