import { readFileSync } from 'node:fs';
import { ChannelCredentials, Client as GrpcClient, Metadata, status } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import type { RpcServerOptions } from '../src/rpc/server.ts';
import { connection, serve } from './call-stream-service.ts';

// A certificate for 127.0.0.1 and its authority, valid from 2000 to 2099, used only by this test.
const readPem = (name: string) => readFileSync(new URL(`fixtures/tls/${name}`, import.meta.url), 'utf8');
const tls = { ca: readPem('ca.pem'), cert: readPem('service.pem'), key: readPem('service.key') };

const RPC = '/phds.healthdata.v1.HealthDataService/Read';

const start = (options: Partial<RpcServerOptions>) => serve(async () => ({}), { probePort: 0, ...options });

test('the probe port answers probes in plain HTTP and nothing else, with TLS or without', async () => {
  for (const secured of [{}, { tls }]) {
    await using server = await start(secured);
    const ask = async (path: string) => (await fetch(`http://127.0.0.1:${server.probePort}${path}`)).status;
    expect(await Promise.all(['/readyz', '/livez', RPC].map(ask))).toEqual([200, 200, 404]);
  }
});

test('with TLS the rpcs answer nobody without a certificate of the authority', async () => {
  await using server = await start({ tls });
  const admitted = Metadata.fromHttp2Headers({
    authorization: `Bearer ${await connection([]).tokens('health-data')}`,
  });
  const codeFor = (how: ChannelCredentials) => {
    const grpc = new GrpcClient(`127.0.0.1:${server.rpcPort}`, how);
    const same = (bytes: Buffer) => bytes;
    return new Promise((resolve) =>
      grpc.makeUnaryRequest(RPC, same, same, Buffer.alloc(0), admitted, (error) =>
        resolve(error?.code ?? status.OK),
      ),
    ).finally(() => grpc.close());
  };
  const authority = Buffer.from(tls.ca);
  const [key, certificate] = [Buffer.from(tls.key), Buffer.from(tls.cert)];
  expect(await codeFor(ChannelCredentials.createInsecure())).toBe(status.UNAVAILABLE);
  expect(await codeFor(ChannelCredentials.createSsl(authority))).toBe(status.UNAVAILABLE);
  expect(await codeFor(ChannelCredentials.createSsl(authority, key, certificate))).toBe(status.OK);
});
