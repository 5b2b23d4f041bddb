import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { describeWithCertificates } from '@phds/test-kit/certificates';
import { ConnectProxy } from '@phds/test-kit/connect-proxy';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { createPublicClient } from '../src/egress/public-client.ts';
import { createAuthority } from '../src/keys/authority.ts';

const ADDRESSES = ['2606:4700:4700::1111', '93.184.216.34'];
const PASSWORD = 'p@ss word';
const BASIC = `Basic ${Buffer.from(`user:${PASSWORD}`).toString('base64')}`;

describeWithCertificates('requests through a proxy', () => {
  const authority = createAuthority();
  const known = getCACertificates('default');
  const received: (readonly [name: unknown, host: string | undefined, body: string])[] = [];
  const failures: unknown[] = [];
  let receiver: Server;
  let proxy: ConnectProxy;

  beforeAll(async () => {
    setDefaultCACertificates([...known, authority.ca]);
    receiver = createServer(authority.issue('DNS:pulse.test'), async (request, response) => {
      const { servername } = request.socket as TLSSocket;
      received.push([servername, request.headers.host, await text(request)]);
      response.writeHead(204).end();
    });
    proxy = await ConnectProxy.start(await listenOnLoopback(receiver));
  });
  afterAll(async () => {
    setDefaultCACertificates(known);
    await proxy[Symbol.asyncDispose]();
    receiver.close();
  });
  beforeEach(() => {
    for (const list of [received, failures, proxy.asked]) list.length = 0;
    proxy.answer = () => 200;
  });

  function post(
    url: string,
    {
      addresses = ADDRESSES,
      at = proxy.address,
      scheme = 'http',
      attemptMs = 10_000,
    }: { addresses?: string[]; at?: string; scheme?: string; attemptMs?: number } = {},
  ) {
    return createPublicClient({
      resolve: async () => addresses,
      allowLoopback: false,
      attemptMs,
      proxy: {
        url: new URL(`${scheme}://user:${encodeURIComponent(PASSWORD)}@${at}`),
        onFailure: (error) => void failures.push(error),
      },
    }).post({ url, headers: {}, body: '{}' }, new AbortController().signal);
  }

  test('the proxy connects to the checked address, and the certificate is checked for the name', async () => {
    expect(await post('https://pulse.test/events')).toEqual({ status: 204, failure: null });
    expect(proxy.asked).toEqual([{ authority: `[${ADDRESSES[0]}]:443`, credentials: BASIC }]);
    expect(received).toEqual([['pulse.test', 'pulse.test', '{}']]);
    expect(await post('https://other.test/')).toEqual({ status: null, failure: 'tls_failed' });
    expect(received).toHaveLength(1);
    expect(failures).toEqual([]);
  });

  test.each([[['10.1.2.3']], [['93.184.216.34', '127.0.0.1']], [['::ffff:169.254.169.254']]])(
    'the proxy is asked for nothing when the name resolves to %j',
    async (addresses) => {
      const refused = { status: null, failure: 'address_not_allowed' };
      expect(await post('https://pulse.test/', { addresses })).toEqual(refused);
      expect(proxy.asked).toEqual([]);
    },
  );

  test('another address is tried when the proxy does not reach the first', async () => {
    proxy.answer = (asked) => (asked.startsWith('[') ? 502 : 200);
    expect(await post('https://pulse.test:8443/')).toEqual({ status: 204, failure: null });
    expect(proxy.asked.map((each) => each.authority)).toEqual([
      `[${ADDRESSES[0]}]:8443`,
      `${ADDRESSES[1]}:8443`,
    ]);
  });

  test('a proxy that connects to no address, or does not answer, fails the attempt', async () => {
    proxy.answer = () => 403;
    expect(await post('https://pulse.test/')).toEqual({ status: null, failure: 'connection_failed' });
    await using silent = createTcpServer((socket) => socket.destroy());
    await using closing = await ConnectProxy.start(await listenOnLoopback(silent));
    expect(await post('https://pulse.test/', { at: closing.address })).toMatchObject({ status: null });
    proxy.answer = () => null;
    expect(await post('https://pulse.test/', { attemptMs: 100 })).toEqual({
      status: null,
      failure: 'timed_out',
    });
    expect([received, failures]).toEqual([[], []]);
  });

  test('a proxy that serves nobody is reported once for each attempt, without the credentials', async () => {
    proxy.answer = () => 407;
    expect(await post('https://pulse.test/')).toEqual({ status: null, failure: 'connection_failed' });
    const closed = await ConnectProxy.start(0);
    await closed[Symbol.asyncDispose]();
    expect(await post('https://pulse.test/', { at: closed.address })).toMatchObject({
      failure: 'connection_failed',
    });
    await using strange = createTcpServer((socket) => socket.resume().end('SSH-2.0-strange\r\n\r\n'));
    await using silent = createTcpServer((socket) => socket.destroy());
    for (const server of [strange, silent]) {
      await post('https://pulse.test/', { at: `127.0.0.1:${await listenOnLoopback(server)}` });
    }
    const { port } = receiver.address() as AddressInfo;
    await post('https://pulse.test/', { scheme: 'https', at: `127.0.0.1:${port}` });
    expect(failures).toEqual([
      expect.objectContaining({ code: 'ERR_PROXY_TUNNEL', statusCode: 407 }),
      expect.objectContaining({ code: 'ECONNREFUSED' }),
      expect.objectContaining({ code: 'ERR_PROXY_TUNNEL', statusCode: Number.NaN }),
      expect.objectContaining({ code: 'ERR_PROXY_TUNNEL' }),
      expect.objectContaining({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
    ]);
    const told = failures.map((error) => JSON.stringify(error, Object.getOwnPropertyNames(error))).join();
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), BASIC]) expect(told).not.toContain(secret);
  });
});
