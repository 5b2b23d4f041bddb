import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import { readEnvironment } from '../src/config.ts';
import {
  createHttpsPoster,
  isPublicAddress,
  type PosterOptions,
  resolveByDns,
} from '../src/webhooks/clients/https-poster.ts';
import { parseEndpointUrl } from '../src/webhooks/domain/endpoint.ts';

/** Addresses and names of machines that no app may reach, and what the names resolve to. */
const FORBIDDEN: readonly (readonly [host: string, resolved?: readonly string[]])[] = [
  ['127.0.0.1'],
  ['127.255.255.254'],
  ['2130706433'],
  ['0x7f000001'],
  ['0177.0.0.1'],
  ['127.1'],
  ['0.0.0.0'],
  ['0'],
  ['10.0.0.1'],
  ['10.255.255.255'],
  ['172.16.0.1'],
  ['172.31.255.255'],
  ['192.168.1.1'],
  ['169.254.169.254'],
  ['100.64.0.1'],
  ['100.100.100.200'],
  ['192.0.0.1'],
  ['192.0.2.1'],
  ['198.18.0.1'],
  ['198.51.100.1'],
  ['203.0.113.1'],
  ['224.0.0.1'],
  ['240.0.0.1'],
  ['255.255.255.255'],
  ['[::1]'],
  ['[::]'],
  ['[::ffff:127.0.0.1]'],
  ['[::ffff:a9fe:a9fe]'],
  ['[::127.0.0.1]'],
  ['[fe80::1]'],
  ['[fec0::1]'],
  ['[fc00::1]'],
  ['[fd00:ec2::254]'],
  ['[ff02::1]'],
  ['[64:ff9b::a9fe:a9fe]'],
  ['[64:ff9b:1::a00:1]'],
  ['[2002:7f00:1::]'],
  ['[2001::1]'],
  ['[2001:db8::1]'],
  ['[100::1]'],
  ['private.test', ['10.1.2.3']],
  ['metadata.test', ['169.254.169.254']],
  ['mapped.test', ['::ffff:127.0.0.1']],
  ['mixed.test', ['93.184.216.34', '127.0.0.1']],
  ['mixed6.test', ['2606:2800:220:1::1', 'fd00::1']],
  ['localhost'],
  ['api.localhost'],
];

const PUBLIC = [
  '93.184.216.34',
  '1.1.1.1',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
];

let server: Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  // Takes the place of whatever listens at a forbidden address.
  server = createServer((socket) => {
    connections += 1;
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  port = await listenOnLoopback(server);
});
afterAll(() => {
  server.close();
});

const request = (url: string) => ({ url, headers: {}, body: '{}' });
const post = (url: string, options: Partial<PosterOptions> = {}) =>
  createHttpsPoster({ resolve: async () => [], allowLoopback: false, ...options }).post(
    request(url),
    new AbortController().signal,
  );

describe('nothing is sent', () => {
  test.each(FORBIDDEN)('to %s', async (host, resolved = ['127.0.0.1']) => {
    const asked: string[] = [];
    const resolve = async (name: string) => {
      asked.push(name);
      return resolved;
    };
    const answer = await post(`https://${host}:${port}/`, { resolve });
    expect(answer).toEqual({ status: null, failure: 'address_not_allowed' });
    expect(connections).toBe(0);
  });

  test('to a name that resolves to nothing', async () => {
    expect(await post('https://nowhere.test/')).toEqual({ status: null, failure: 'name_not_resolved' });
    const refused = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await post('https://nowhere.test/', { resolve: refused })).toMatchObject({
      failure: 'name_not_resolved',
    });
  });

  test('in plain http to another machine, even in the local stack', async () => {
    const local = { allowLoopback: true, resolve: async () => ['93.184.216.34'] };
    expect(await post('http://elsewhere.test/', local)).toMatchObject({ failure: 'address_not_allowed' });
  });

  test('to a name that never resolves, for longer than an attempt may take', async () => {
    const silent = () => new Promise<string[]>(() => undefined);
    expect(await post('https://silent.test/', { resolve: silent, attemptMs: 20 })).toEqual({
      status: null,
      failure: 'timed_out',
    });
  });
});

test('the forbidden addresses are refused when a URL is set, unless the local stack allows loopback', () => {
  const { mayRequest } = createHttpsPoster({ resolve: resolveByDns, allowLoopback: false });
  const literal = FORBIDDEN.filter(([host]) => !/\.test$|localhost$/.test(host));
  expect(literal.length).toBeGreaterThanOrEqual(40);
  for (const [host] of literal) expect([host, mayRequest(`https://${host}/`)]).toEqual([host, false]);
  expect(mayRequest('https://93.184.216.34/')).toBe(true);
  expect(mayRequest('https://pulse.test/')).toBe(true);
  const local = createHttpsPoster({ resolve: resolveByDns, allowLoopback: true });
  expect(local.mayRequest('http://127.0.0.1/')).toBe(true);
  expect(local.mayRequest('http://[::1]/')).toBe(true);
  expect(local.mayRequest('http://10.0.0.1/')).toBe(false);
});

test('public addresses are allowed', () => {
  expect(PUBLIC.filter((address) => !isPublicAddress(address))).toEqual([]);
  expect(isPublicAddress('pulse.test')).toBe(false);
});

test.each([
  ['ftp://pulse.test/', 'https://'],
  ['http://pulse.test/', 'https://'],
  ['https://user:password@pulse.test/', 'user name'],
  ['https://pulse.test/#part', 'fragment'],
  ['pulse.test', 'must be a URL'],
  [`https://pulse.test/${'a'.repeat(2_100)}`, 'must be a URL'],
])('the URL %.40s is refused', (url, message) => {
  expect(() => parseEndpointUrl(url, { allowLoopback: false })).toThrow(message);
});

describe('of an answer', () => {
  const local = { allowLoopback: true };

  async function answering(reply: string) {
    const each = createServer((socket) => {
      socket.once('data', () => socket.write(reply));
      socket.on('error', () => undefined);
    });
    return { url: `http://127.0.0.1:${await listenOnLoopback(each)}/`, close: () => each.close() };
  }

  test('a redirect is not followed', async () => {
    const target = `http://127.0.0.1:${port}/`;
    const { url, close } = await answering(
      `HTTP/1.1 307 Moved\r\nlocation: ${target}\r\ncontent-length: 0\r\n\r\n`,
    );
    expect(await post(url, local)).toEqual({ status: 307, failure: 'redirected' });
    expect(connections).toBe(0);
    close();
  });

  test('only the status counts, however long it is', async () => {
    const { url, close } = await answering(
      `HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n${'x'.repeat(5_000)}`,
    );
    expect(await post(url, local)).toEqual({ status: 200, failure: null });
    close();
  });

  test('nothing is an answer that does not come in time', async () => {
    const { url, close } = await answering('');
    expect(await post(url, { ...local, attemptMs: 50 })).toEqual({ status: null, failure: 'timed_out' });
    close();
  });
});

test('a certificate that is not valid for the name receives nothing', async () => {
  const answer = await post(`https://localhost:${port}/`, { allowLoopback: true });
  expect(answer.status).toBeNull();
  expect(['tls_failed', 'connection_failed']).toContain(answer.failure);
});

const keys = createServiceKeys(['gateway', 'authorization', 'health-data', 'consent']);

/** The settings that have no default. */
const REQUIRED = {
  SERVICE_PRIVATE_KEY: keys.pem('consent'),
  SERVICE_PUBLIC_KEYS: keys.jwks,
  SESSION_AUDIENCE: 'phds',
  SESSION_JWKS: keys.jwks,
  DATABASE_URL: 'postgresql://consent@localhost/phds',
  RECEIPT_PRIVATE_KEY: keys.pem('consent'),
  WEBHOOK_KEY: Buffer.alloc(32).toString('base64'),
};
const read = (env: Record<string, string>) => () =>
  readEnvironment({ ...REQUIRED, WEBHOOK_ALLOW_LOOPBACK: 'true', ...env });

test.each([
  [{ SESSION_ISSUER: 'https://id.example.org' }],
  [{ SESSION_ISSUER: 'http://localhost:9000', HOST: '0.0.0.0' }],
])('webhooks to this machine are refused at the start in production: %j', (env) => {
  expect(read(env)).toThrow('WEBHOOK_ALLOW_LOOPBACK: must be false');
});

test('webhooks to this machine are allowed in a local stack', () => {
  expect(read({ SESSION_ISSUER: 'http://127.0.0.1:9000' })).not.toThrow();
});

test.each(['proxy.test:3128', 'socks5://proxy.test:1080', 'http://user:hidden@proxy.test/path'])(
  'the proxy %s is refused at the start, without a password in the message',
  (WEBHOOK_PROXY) => {
    const start = read({ WEBHOOK_PROXY, SESSION_ISSUER: 'http://127.0.0.1:9000' });
    expect(start).toThrow('WEBHOOK_PROXY: must be http:// or https://');
    expect(start).not.toThrow('hidden');
  },
);
