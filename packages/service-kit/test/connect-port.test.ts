import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createClient } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterAll, describe, expect, test } from '@jest/globals';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { describeWithCertificates } from '@phds/test-kit/certificates';
import { notFound } from '../src/errors.ts';
import { createAuthority } from '../src/keys/authority.ts';
import type { RpcContext } from '../src/rpc/context.ts';
import { connection, serve } from './read-service.ts';

// A certificate for 127.0.0.1 and its authority, valid from 2000 to 2099, used only by tests.
const readPem = (name: string) => readFileSync(new URL(`fixtures/tls/${name}`, import.meta.url), 'utf8');
const tls = { ca: readPem('ca.pem'), cert: readPem('service.pem'), key: readPem('service.key') };

const PATH = '/phds.healthdata.v1.HealthDataService/Read';
let seen: RpcContext | undefined;
const respond = async (_: unknown, context: RpcContext) => {
  seen = context;
  if (context.findMetadata('x-request-id') === 'unknown') throw notFound('No such data.');
  return { etag: 'fresh' };
};
const server = await serve(respond, { connectPort: 0 });
afterAll(async () => server[Symbol.asyncDispose]());

const bearer = async (caller = 'gateway') => `Bearer ${await connection([], caller).tokens('health-data')}`;

/** Calls Read with JSON, as curl does. */
async function post(body: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`http://127.0.0.1:${server.connectPort}${PATH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: await bearer(), ...headers },
    body,
  });
  return { status: answer.status, body: await answer.json() };
}

describe('JSON over HTTP', () => {
  test('is answered, with the metadata, the peer and the time of the call', async () => {
    const headers = { 'x-request-id': 'req_1', 'connect-timeout-ms': '5000' };
    expect(await post('{"endpoint":"ENDPOINT_HEALTH_DATA"}', headers)).toEqual({
      status: 200,
      body: { etag: 'fresh' },
    });
    expect(seen).toMatchObject({ caller: 'gateway', peer: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
    expect(seen?.findMetadata('x-request-id')).toBe('req_1');
    expect(seen?.deadline.remainingMs()).toBeLessThanOrEqual(5_000);
  });

  test('has the reason of an error in its details', async () => {
    expect(await post('{}', { 'x-request-id': 'unknown' })).toMatchObject({
      status: 404,
      body: {
        code: 'not_found',
        message: 'No such data.',
        details: [{ type: 'phds.common.v1.ErrorDetail', debug: { reason: 'REASON_NOT_FOUND' } }],
      },
    });
  });

  test.each([
    ['text that is no JSON', '{', {}, 'invalid_argument'],
    ['more than 4 MiB', JSON.stringify({ filter: 'x'.repeat(4_200_000) }), {}, 'resource_exhausted'],
    ['a compressed message', '{}', { 'content-encoding': 'gzip' }, 'unimplemented'],
    ['a longer deadline than a call may have', '{}', { 'connect-timeout-ms': '30001' }, 'invalid_argument'],
  ])('%s is refused', async (_, body, headers, code) => {
    expect((await post(body, headers)).body).toMatchObject({ code });
  });
});

test.each([
  ['text that is no JSON', '{', {}],
  ['a compressed message', '{}', { 'content-encoding': 'gzip' }],
  ['a longer deadline than a call may have', '{}', { 'connect-timeout-ms': '30001' }],
])('a stranger is refused before %s is looked at', async (_, body, headers) => {
  expect(await post(body, { ...headers, authorization: 'Bearer x' })).toMatchObject({
    status: 403,
    body: {
      code: 'permission_denied',
      message: expect.stringMatching(/^service token refused: /),
      details: [{ debug: { reason: 'REASON_CALLER_NOT_ADMITTED' } }],
    },
  });
});

test('a caller that may not call is told so', async () => {
  expect(await post('{}', { authorization: await bearer('importer') })).toMatchObject({
    status: 403,
    body: { message: 'importer may not call Read; only gateway may' },
  });
});

test.each([
  ['no host', `POST ${PATH} HTTP/1.0`],
  ['a host that is no part of a URL', `POST ${PATH} HTTP/1.1\r\nHost: a b:c`],
])('a request with %s does not end the service', async (_, head) => {
  const socket = connect(server.connectPort ?? 0, '127.0.0.1');
  socket.end(`${head}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`);
  const text = Buffer.concat(await socket.toArray()).toString();
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
  expect((await post('{}')).status).toBe(200);
});

test('an idle connection stays open for 75 s, so that a slow service does not close one on which a call arrives', async () => {
  const { headers } = await fetch(`http://127.0.0.1:${server.connectPort}${PATH}`, { method: 'POST' });
  expect(headers.get('keep-alive')).toBe('timeout=75');
});

test('gRPC-Web is answered', async () => {
  const baseUrl = `http://127.0.0.1:${server.connectPort}`;
  const client = createClient(HealthDataService, createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }));
  const answer = await client.read({}, { headers: { authorization: await bearer() } });
  expect(answer.etag).toBe('fresh');
});

describe('with TLS', () => {
  const { ca, cert, key } = tls;
  const transports = {
    Connect: createConnectTransport,
    gRPC: createGrpcTransport,
    'gRPC-Web': createGrpcWebTransport,
  };

  test.each(Object.entries(transports))(
    '%s is answered over HTTP/2 for a certificate of the authority',
    async (_, create) => {
      await using secured = await serve(respond, { connectPort: 0, tls });
      const call = async (nodeOptions: object) => {
        const baseUrl = `https://127.0.0.1:${secured.connectPort}`;
        const client = createClient(HealthDataService, create({ baseUrl, httpVersion: '2', nodeOptions }));
        return (await client.read({}, { headers: { authorization: await bearer() } })).etag;
      };
      expect(await call({ ca, cert, key })).toBe('fresh');
      await expect(call({ ca })).rejects.toThrow();
    },
  );
});

describeWithCertificates('a renewed certificate', () => {
  test('is that of the next connection', async () => {
    const listeners: (() => void)[] = [];
    const files = { ...tls, onChange: (listener: () => void) => void listeners.push(listener) };
    await using secured = await serve(respond, { connectPort: 0, tls: files });
    const shown = async () => {
      const { cert, key } = tls;
      const to = { port: secured.connectPort ?? 0, host: '127.0.0.1', rejectUnauthorized: false };
      const socket = connectTls({ ...to, cert, key });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    };
    const first = await shown();
    const { cert, key } = createAuthority().issue('IP:127.0.0.1');
    Object.assign(files, { cert, key });
    for (const listener of listeners) listener();
    expect(await shown()).not.toBe(first);
  });
});
