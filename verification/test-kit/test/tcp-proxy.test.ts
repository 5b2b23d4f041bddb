import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../src/conditions.ts';
import { createPublishedMessageFault } from '../src/published-message-fault.ts';
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
