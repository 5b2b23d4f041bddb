import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import {
  createPublicClient,
  isPublicAddress,
  type PublicClientOptions,
} from '../src/egress/public-client.ts';

/** Addresses of machines that no app may reach. */
const FORBIDDEN_ADDRESSES =
  `127.0.0.1 127.255.255.254 2130706433 0x7f000001 0177.0.0.1 127.1 0.0.0.0 0 10.0.0.1 10.255.255.255
  172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 100.100.100.200 192.0.0.1 192.0.2.1
  198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 [::1] [::] [::ffff:127.0.0.1]
  [::ffff:a9fe:a9fe] [::127.0.0.1] [fe80::1] [fec0::1] [fc00::1] [fd00:ec2::254] [ff02::1]
  [64:ff9b::a9fe:a9fe] [64:ff9b:1::a00:1] [2002:7f00:1::] [2001::1] [2001:db8::1] [100::1]`.split(/\s+/);

/** The same and names of such machines, and what the names resolve to. */
const FORBIDDEN: readonly (readonly [host: string, resolved?: readonly string[]])[] = [
  ...FORBIDDEN_ADDRESSES.map((host) => [host] as const),
  ['private.test', ['10.1.2.3']],
  ['metadata.test', ['169.254.169.254']],
  ['mapped.test', ['::ffff:127.0.0.1']],
  ['mixed.test', ['93.184.216.34', '127.0.0.1']],
  ['mixed6.test', ['2606:2800:220:1::1', 'fd00::1']],
  ['localhost'],
  ['api.localhost'],
];

const PUBLIC = '93.184.216.34 1.1.1.1 172.32.0.1 100.128.0.1 2606:4700:4700::1111 2a00:1450:4001::1'.split(
  ' ',
);

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
const post = (url: string, options: Partial<PublicClientOptions> = {}) =>
  createPublicClient({ resolve: async () => [], allowLoopback: false, ...options }).post(
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
  const { mayRequest } = createPublicClient({ allowLoopback: false });
  for (const host of FORBIDDEN_ADDRESSES)
    expect([host, mayRequest(`https://${host}/`)]).toEqual([host, false]);
  expect(mayRequest('https://93.184.216.34/')).toBe(true);
  expect(mayRequest('https://pulse.test/')).toBe(true);
  const local = createPublicClient({ allowLoopback: true });
  expect(local.mayRequest('http://127.0.0.1/')).toBe(true);
  expect(local.mayRequest('http://[::1]/')).toBe(true);
  expect(local.mayRequest('http://10.0.0.1/')).toBe(false);
  expect(mayRequest('http://pulse.test/')).toBe(false);
});

test('public addresses are allowed', () => {
  expect(PUBLIC.filter((address) => !isPublicAddress(address))).toEqual([]);
  expect(isPublicAddress('pulse.test')).toBe(false);
});

async function answering(reply: string) {
  const each = createServer((socket) => {
    socket.once('data', () => socket.write(reply));
    socket.on('error', () => undefined);
  });
  return { url: `http://127.0.0.1:${await listenOnLoopback(each)}/`, close: () => each.close() };
}

describe('of an answer', () => {
  const local = { allowLoopback: true };

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

describe('what a GET answers', () => {
  const get = (url: string, options: Partial<PublicClientOptions> = {}) =>
    createPublicClient({ allowLoopback: true, ...options }).get(
      { url, headers: {}, maxBytes: 10 },
      new AbortController().signal,
    );

  test('is read from the address that was checked, whatever the name resolves to afterwards', async () => {
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    const { url, close } = await answering(
      'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\n0123456789',
    );
    const resolve = async () => answers.shift() ?? [];
    const rebound = await get(url.replace('127.0.0.1', 'rebound.test'), { resolve });
    expect(rebound).toEqual({ status: 200, failure: null, contentType: 'text/plain', body: '0123456789' });
    expect(answers).toHaveLength(1);
    close();
  });

  test.each([
    ['longer than wanted', '200 OK\r\ncontent-length: 11\r\n\r\n01234567890', { failure: null, body: null }],
    ['that never ends', '200 OK\r\ncontent-length: 9\r\n\r\n0', { failure: 'timed_out', body: '' }],
    [
      'a redirect',
      '302 Found\r\nlocation: http://169.254.169.254/\r\n\r\n',
      { failure: 'redirected', body: '' },
    ],
    ['an error', '500 Error\r\ncontent-length: 1\r\n\r\nx', { failure: 'status', body: '' }],
  ])('is nothing of an answer %s', async (_what, reply, expected) => {
    const { url, close } = await answering(`HTTP/1.1 ${reply}`);
    expect(await get(url, { attemptMs: 200 })).toMatchObject(expected);
    close();
  });
});

test('a certificate that is not valid for the name receives nothing', async () => {
  const answer = await post(`https://localhost:${port}/`, { allowLoopback: true });
  expect(answer.status).toBeNull();
  expect(['tls_failed', 'connection_failed']).toContain(answer.failure);
});
