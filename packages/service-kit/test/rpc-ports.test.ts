import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { expect, test } from '@jest/globals';
import { AccessService, Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { type RpcServerOptions, startRpcServer } from '../src/rpc/server.ts';
import { implement } from '../src/rpc/service.ts';
import { createLogger } from '../src/telemetry/log.ts';
import { createServiceTokenSource, createServiceTokenVerifier } from '../src/trust/service-token.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'health-data', alg: 'EdDSA' };
const tokens = createServiceTokenSource({
  service: 'health-data',
  privateKeyPem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
});

// A certificate for 127.0.0.1 and its authority, valid from 2000 to 2099, used only by this test.
const readPem = (name: string) => readFileSync(new URL(`fixtures/tls/${name}`, import.meta.url), 'utf8');
const tls = { ca: readPem('ca.pem'), cert: readPem('service.pem'), key: readPem('service.key') };

function start(options: Partial<RpcServerOptions>) {
  return startRpcServer({
    services: [
      implement(
        AccessService,
        {
          recordAccess: () => ({ verdicts: [Verdict.RELEASED] }),
          listAccesses: () => ({}),
          exportAccesses: () => ({}),
          listAccessDays: () => ({}),
          getAppUsage: () => ({}),
          countRefusals: () => ({}),
        },
        {
          recordAccess: ['health-data'],
          listAccesses: [],
          exportAccesses: [],
          listAccessDays: [],
          getAppUsage: [],
          countRefusals: [],
        },
        { recordAccesses: 'recordAccess' },
      ),
    ],
    verifyCaller: createServiceTokenVerifier({
      service: 'consent',
      publicKeys: JSON.stringify({ keys: [jwk] }),
    }),
    log: createLogger({ service: 'consent', level: 'silent' }),
    host: '127.0.0.1',
    rpcPort: 0,
    probePort: 0,
    connectPort: null,
    health: async () => true,
    ...options,
  });
}

interface Sent {
  readonly port: number | null;
  readonly path: string;
  /** Null for plain HTTP. */
  readonly tls?: ConnectionOptions;
  readonly method?: string;
}

/** Returns status and body; rejects when there is no response. */
async function send({ port, path, tls, method = 'POST' }: Sent) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status?: number; body: string }>();
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${await tokens('consent')}`,
  };
  const options = { host: '127.0.0.1', port, path, method, headers, ...tls };
  const request = tls === undefined ? requestHttp(options) : requestHttps(options);
  request.on('error', reject).on('response', (response) => {
    let body = '';
    response.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    response.on('end', () => resolve({ ...(response.statusCode && { status: response.statusCode }), body }));
  });
  request.end(method === 'GET' ? undefined : '{"accesses":[{}]}');
  return promise;
}

const RPC = '/phds.consent.v1.AccessService/RecordAccess';

test('the probe port answers probes in plain HTTP and serves no rpc, with TLS or without', async () => {
  for (const secured of [{}, { tls }]) {
    await using server = await start(secured);
    const port = server.probePort;
    expect(await send({ port, path: '/readyz', method: 'GET' })).toMatchObject({ status: 200 });
    expect(await send({ port, path: '/livez', method: 'GET' })).toMatchObject({ status: 200 });
    expect(await send({ port, path: RPC })).toMatchObject({ status: 404 });
  }
});

test('the Connect protocol has no port unless one is configured', async () => {
  await using server = await start({});
  expect(server.connectPort).toBeNull();
});

test('with TLS the Connect protocol answers nobody without a certificate of the authority', async () => {
  await using server = await start({ tls, connectPort: 0 });
  const port = server.connectPort;
  await expect(send({ port, path: RPC })).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(send({ port, path: RPC, tls: { ca: tls.ca } })).rejects.toThrow();
  expect(await send({ port, path: RPC, tls })).toEqual({
    status: 200,
    body: '{"verdicts":["VERDICT_RELEASED"]}',
  });
});

test('the Connect port without TLS answers an admitted caller, but no probe', async () => {
  await using server = await start({ connectPort: 0 });
  const port = server.connectPort;
  expect(await send({ port, path: RPC })).toEqual({ status: 200, body: '{"verdicts":["VERDICT_RELEASED"]}' });
  expect(await send({ port, path: '/readyz', method: 'GET' })).toMatchObject({ status: 404 });
});
