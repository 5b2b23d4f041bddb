import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithCertificates } from '@phds/test-kit/certificates';
import { eventually } from '@phds/test-kit/conditions';
import { createTestRedis, describeWithRedis, type TestRedis } from '@phds/test-kit/redis';
import { startTcpProxy } from '@phds/test-kit/tcp-proxy';
import {
  describeWithRedisProgram,
  startTlsRedis,
  type TlsFilesOnDisk,
  type TlsRedis,
  writeTlsFiles,
} from '@phds/test-kit/tls-servers';
import { createAuthority } from '../src/keys/authority.ts';
import { openRedis, type RedisConnectionOptions, subscribeRedis } from '../src/redis.ts';

const silent = { info: () => undefined, warn: () => undefined };
// A busy machine may delay an answer by seconds.
const PATIENT = { commandTimeoutMs: 30_000 };

describeWithRedis('Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterAll(async () => {
    await redis[Symbol.asyncDispose]();
  });

  test('commands reject immediately while Redis is unavailable, and work again when it is back; the log has start and end once', async () => {
    const lines: string[] = [];
    const record = (_fields: unknown, text?: string) => void lines.push(text ?? String(_fields));
    await using connection = openRedis(redis.url, { info: record, warn: record }, PATIENT);
    await connection.tried;
    await connection.client.set('key', 'value');
    await redis.stop();
    await expect(connection.client.get('key')).rejects.toThrow();
    await eventually(() => !connection.isReady() && lines.length > 0);
    await expect(connection.client.get('key')).rejects.toThrow();
    await redis.start();
    await eventually(() => connection.client.set('key', 'again'));
    await eventually(() => lines.length > 1);
    expect(lines).toEqual(['Redis is unavailable; continuing without it', 'Redis is back']);
  });

  test('a command without an answer fails within its time limit', async () => {
    await using proxy = await startTcpProxy(redis.url);
    await using connection = openRedis(proxy.url, silent, { commandTimeoutMs: 50 });
    await eventually(() => connection.isReady());
    proxy.set({ kind: 'hold' });
    await expect(connection.client.get('key')).rejects.toThrow(/timed out/i);
    proxy.set({ kind: 'pass' });
  });

  test('a subscription recovers by itself, reports it, and delivers bytes unchanged', async () => {
    const received: Buffer[] = [];
    let subscribed = 0;
    const onMessage = (_channel: string, payload: Buffer) => void received.push(payload);
    const onSubscribed = () => {
      subscribed += 1;
    };
    await using _subscription = subscribeRedis(
      redis.url,
      { channels: ['events'], onMessage, onSubscribed },
      silent,
    );
    await using connection = openRedis(redis.url, silent, PATIENT);
    await eventually(() => subscribed === 1 && connection.isReady());
    await connection.client.publish('events', Buffer.from([1, 255]));
    await eventually(() => received.length === 1);
    await redis.stop();
    await redis.start();
    await eventually(() => subscribed === 2);
    await eventually(() => connection.client.publish('events', Buffer.from([2, 254])));
    await eventually(() => received.length === 2);
    expect(received).toEqual([Buffer.from([1, 255]), Buffer.from([2, 254])]);
  });

  test('opening an unreachable Redis neither throws nor ends the process', async () => {
    await redis.stop();
    await using connection = openRedis(redis.url, silent, PATIENT);
    await connection.tried;
    await expect(connection.client.ping()).rejects.toThrow();
    await redis.start();
    await eventually(() => connection.isReady());
  });
});

/** A server that refuses to write on its first connection, as a node does that is no longer the primary. */
async function startDemotedRedis() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const answers: Readonly<Record<string, string>> = {
      hello: '%1\r\n+server\r\n+redis\r\n',
      client: '+OK\r\n',
      info: '$9\r\nloading:0\r\n',
      incr: '-ERR not now\r\n',
      set: connections === 1 ? '-READONLY of a replica\r\n' : '+OK\r\n',
    };
    socket.on('data', (data) => {
      for (const [command] of String(data).matchAll(/(?<=\r\n)(hello|client|info|incr|set)(?=\r\n)/g))
        socket.write(answers[command] ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `redis://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() };
}

test('a read-only node is left, and counts as an outage until a command succeeds', async () => {
  const lines: string[] = [];
  const record = (fields: object | string, text?: string) => void lines.push(text ?? String(fields));
  await using redis = await startDemotedRedis();
  await using connection = openRedis(redis.url, { info: record, warn: record }, PATIENT);
  await eventually(() => connection.isReady());
  await expect(connection.client.set('key', '')).rejects.toThrow('READONLY');
  expect(connection.isUp()).toBe(false);
  await eventually(() => connection.client.set('key', ''));
  await eventually(async () => (await connection.client.set('key', '')) && connection.isUp());
  expect(lines).toEqual(['Redis is unavailable; continuing without it', 'Redis is back']);
});

test('a refused command counts as an outage and keeps no further command from being sent', async () => {
  await using redis = await startDemotedRedis();
  await using connection = openRedis(redis.url, silent, PATIENT);
  await eventually(() => connection.isReady());
  await expect(connection.client.incr('key')).rejects.toThrow('not now');
  expect([connection.isUp(), connection.isReady()]).toEqual([false, true]);
});

describeWithRedisProgram('Redis with TLS', () => {
  describeWithCertificates('that asks its clients for a certificate', () => {
    const authority = createAuthority();
    const client = authority.issue('DNS:client');
    let files: TlsFilesOnDisk;
    let redis: TlsRedis;

    beforeAll(async () => {
      files = await writeTlsFiles(authority, authority.issue('DNS:localhost'));
      redis = await startTlsRedis(files);
    });
    afterAll(async () => {
      await redis?.[Symbol.asyncDispose]();
      await files?.[Symbol.asyncDispose]();
    });

    /** What the first attempt to connect leads to: `ready`, or the error. */
    async function firstOutcome(url: string, tls: RedisConnectionOptions['tls']): Promise<string> {
      const { promise, resolve } = Promise.withResolvers<string>();
      const warn = ({ err }: { err: Error & { code?: string } }) => resolve(err.code ?? err.message);
      const log = { info: () => undefined, warn: warn as never };
      await using connection = openRedis(url, log, { ...PATIENT, ...(tls === undefined ? {} : { tls }) });
      connection.client.once('ready', () => resolve('ready')).once('close', () => resolve('closed'));
      return await promise;
    }

    const secure = () => `rediss://localhost:${redis.port}`;

    test('carries commands and messages of a client that trusts the authority and has a certificate', async () => {
      const tls = { ca: authority.ca, ...client };
      const received: string[] = [];
      let isSubscribed = false;
      const subscription = {
        channels: ['channel'],
        onMessage: (_: string, payload: Buffer) => void received.push(payload.toString()),
        onSubscribed: () => {
          isSubscribed = true;
        },
      };
      await using connection = openRedis(secure(), silent, { ...PATIENT, tls });
      await using _subscription = subscribeRedis(secure(), subscription, silent, { tls });
      await eventually(() => connection.isReady() && isSubscribed);
      await connection.client.publish('channel', 'message');
      await eventually(() => received.length > 0);
      expect(received).toEqual(['message']);
    });

    test.each([
      ['without the authority', 'SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY', () => ({ ...client })],
      [
        'with another authority',
        'UNABLE_TO_VERIFY|SELF_SIGNED|CERT',
        () => ({ ca: createAuthority().ca, ...client }),
      ],
      [
        'without a certificate of its own',
        'ALERT|certificate|ECONNRESET|EPIPE|closed',
        () => ({ ca: authority.ca }),
      ],
    ])('is not used by a client %s', async (_, outcome, tls) => {
      expect(await firstOutcome(secure(), tls())).toMatch(new RegExp(outcome, 'i'));
    });

    test('follows a renewed certificate of the server without a restart', async () => {
      const tls = { ca: authority.ca, ...client };
      await using admin = openRedis(secure(), silent, { ...PATIENT, tls });
      await eventually(() => admin.isReady());
      const renew = async (name: string) => {
        await files.replace(authority.issue(name));
        await admin.client.config('SET', 'tls-cert-file', files.cert, 'tls-key-file', files.key);
      };
      await renew('DNS:redis.example');
      expect(await firstOutcome(secure(), tls)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
      await renew('DNS:localhost');
      expect(await firstOutcome(secure(), tls)).toBe('ready');
    });

    test('refuses a client without TLS', async () => {
      expect(await firstOutcome(`redis://localhost:${redis.port}`, undefined)).not.toBe('ready');
    });
  });
});
