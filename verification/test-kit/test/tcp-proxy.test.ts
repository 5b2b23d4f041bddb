import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../src/conditions.ts';
import { createPublishedMessageFault } from '../src/published-message-fault.ts';
import { slice } from '../src/tcp-delivery.ts';
import { startTcpProxy, type TcpProxy } from '../src/tcp-proxy.ts';

let server: Server;
let served: Socket[];
let port: number;
let proxy: TcpProxy;

/** A client that collects what it receives, by chunk. */
class Client {
  readonly socket: Socket;
  readonly chunks: string[] = [];
  ended = false;
  error: NodeJS.ErrnoException | null = null;

  constructor(at: number) {
    this.socket = connect({ port: at, host: '127.0.0.1', noDelay: true });
    this.socket.on('data', (chunk) => this.chunks.push(chunk.toString()));
    this.socket.on('close', () => {
      this.ended = true;
    });
    this.socket.on('error', (error) => {
      this.error = error;
    });
  }

  get heard(): string {
    return this.chunks.join('');
  }

  async asks(text: string, answer: string): Promise<void> {
    this.socket.write(text);
    await eventually(() => this.heard.endsWith(answer));
  }
}

// Returns everything in capitals.
beforeEach(async () => {
  served = [];
  server = createServer((socket) => {
    served.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => void socket.write(chunk.toString().toUpperCase()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as { port: number });
  proxy = await startTcpProxy(`tcp://127.0.0.1:${port}`);
});
afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  for (const socket of served) socket.destroy();
  server.close();
});

test('by default it forwards everything in both directions, and the end', async () => {
  expect(proxy.url).toBe(`tcp://127.0.0.1:${proxy.port}`);
  const client = new Client(proxy.port);
  await client.asks('hello', 'HELLO');
  expect(proxy.connections).toBe(1);
  served[0]?.end('bye');
  await eventually(() => client.ended);
  expect(client.heard).toBe('HELLObye');
  await eventually(() => proxy.connections === 0);
});

test('delay: data arrives late and in order, also after the delay has ended', async () => {
  const client = new Client(proxy.port);
  await client.asks('a', 'A');
  proxy.set({ kind: 'delay', milliseconds: 150 });
  const started = performance.now();
  client.socket.write('b');
  await eventually(() => proxy.connections === 1 && client.socket.bytesWritten === 2);
  proxy.set({ kind: 'pass' });
  client.socket.write('c');
  await eventually(() => client.heard === 'ABC');
  proxy.set({ kind: 'delay', milliseconds: 100 });
  await client.asks('d', 'D');
  expect(client.heard).toBe('ABCD');
  // Once on each way.
  expect(performance.now() - started).toBeGreaterThan(190);
});

test('drop: a connection that lost a byte stays open and silent; new connections work again', async () => {
  const client = new Client(proxy.port);
  await client.asks('a', 'A');
  proxy.set({ kind: 'drop' });
  client.socket.write('lost');
  const other = new Client(proxy.port);
  other.socket.write('lost too');
  await eventually(() => served.length === 2);
  proxy.set({ kind: 'pass' });
  const third = new Client(proxy.port);
  await third.asks('b', 'B');
  client.socket.write('c');
  await third.asks('d', 'D');
  expect([client.heard, client.ended, other.heard, other.ended]).toEqual(['A', false, '', false]);
});

test('half-open: the server loses the connection and the client does not notice', async () => {
  const client = new Client(proxy.port);
  await client.asks('a', 'A');
  const closed = once(served[0] as Socket, 'close');
  proxy.set({ kind: 'half-open' });
  await closed;
  proxy.set({ kind: 'pass' });
  client.socket.write('b');
  await new Client(proxy.port).asks('c', 'C');
  expect([client.heard, client.ended]).toEqual(['A', false]);
});

test('reset: open connections break with an error, new ones at their first byte', async () => {
  const client = new Client(proxy.port);
  await client.asks('a', 'A');
  proxy.set({ kind: 'reset' });
  await eventually(() => client.error?.code === 'ECONNRESET');
  const next = new Client(proxy.port);
  next.socket.write('b');
  await eventually(() => next.error?.code === 'ECONNRESET');
  proxy.set({ kind: 'pass' });
  await new Client(proxy.port).asks('c', 'C');
});

test('slice: data arrives complete, in tiny pieces', async () => {
  proxy.set({ kind: 'slice', bytes: 3 });
  const client = new Client(proxy.port);
  await client.asks('twelve bytes', 'TWELVE BYTES');
  const long = Buffer.from('x'.repeat(5_000));
  const pieces = slice(long, 3);
  expect(pieces.slice(0, 64).every((piece) => piece.length === 3)).toBe(true);
  expect(Buffer.concat(pieces).equals(long)).toBe(true);
});

test('hold: nothing arrives and nothing closes; afterwards everything held back arrives', async () => {
  const client = new Client(proxy.port);
  await client.asks('a', 'A');
  proxy.set({ kind: 'hold' });
  client.socket.write('b');
  const other = new Client(proxy.port);
  other.socket.write('c');
  await eventually(() => served.length === 2 && other.socket.bytesWritten === 1);
  expect([client.heard, client.ended, other.heard, other.ended]).toEqual(['A', false, '', false]);
  proxy.set({ kind: 'pass' });
  await eventually(() => client.heard === 'AB' && other.heard === 'C');
});

test('cut: connections close and new ones are refused until it is restored on the same port', async () => {
  const client = new Client(proxy.port);
  await client.asks('a', 'A');
  await proxy.cut();
  await eventually(() => client.ended);
  const refused = new Client(proxy.port);
  await eventually(() => refused.error?.code === 'ECONNREFUSED');
  await proxy.restore();
  await new Client(proxy.port).asks('b', 'B');
});

test('redirect: new connections lead to the other server, and open ones stay', async () => {
  await using other = await startTcpProxy(`tcp://127.0.0.1:${port}`);
  const client = new Client(proxy.port);
  await client.asks('a', 'A');
  proxy.redirect(other.port);
  await new Client(proxy.port).asks('b', 'B');
  await client.asks('c', 'C');
  expect([proxy.connections, other.connections]).toEqual([2, 1]);
});

test('a URL without a port uses the default port of its protocol, and is refused if there is none', async () => {
  await using redis = await startTcpProxy('redis://127.0.0.1/3');
  expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}/3`);
  await expect(startTcpProxy('tcp://127.0.0.1')).rejects.toThrow('no port in tcp://127.0.0.1');
});

describe('messages published by Redis', () => {
  const subscribed = '*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n';
  const message = '*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$1\r\nx\r\n';
  const heard = (edit: (chunk: Buffer) => readonly Buffer[], text: string) =>
    Buffer.concat([...edit(Buffer.from(text))]).toString();

  test('are dropped on connections that subscribed, and nothing else is', () => {
    const fault = createPublishedMessageFault();
    fault.mode = 'swallow';
    const [subscriber, asker] = [fault.edit(), fault.edit()];
    expect(heard(subscriber, subscribed)).toBe(subscribed);
    expect(heard(subscriber, message + message)).toBe('');
    expect(heard(asker, '+OK\r\n')).toBe('+OK\r\n');
    expect(fault.touched).toBe(2);
    fault.mode = 'pass';
    expect(heard(subscriber, message)).toBe(message);
  });

  test('are duplicated as a whole, never partially', () => {
    const fault = createPublishedMessageFault();
    const subscriber = fault.edit();
    heard(subscriber, subscribed);
    fault.mode = 'duplicate';
    expect(heard(subscriber, message)).toBe(message + message);
    expect(heard(subscriber, message.slice(0, -1))).toBe(message.slice(0, -1));
  });
});
