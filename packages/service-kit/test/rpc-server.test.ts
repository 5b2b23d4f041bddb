import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ChannelCredentials, Client as GrpcClient, Metadata, status } from '@grpc/grpc-js';
import { afterAll, expect, test } from '@jest/globals';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { currentDeadline, Deadline, withinDeadline } from '../src/current-work.ts';
import { openRpcChannel } from '../src/rpc/client.ts';
import type { RpcContext } from '../src/rpc/context.ts';
import type { RpcServerOptions } from '../src/rpc/server.ts';
import { connection, openUnary, serve } from './read-service.ts';

// A certificate for 127.0.0.1 and its authority, valid from 2000 to 2099, used only by tests.
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

test('the host :: listens on every address of both protocols, for rpcs and probes', async () => {
  await using server = await start({ host: '::' });
  const addresses = Object.values(networkInterfaces()).flatMap((of) => of ?? []);
  const hosts = addresses.filter(({ internal }) => internal).map(({ address }) => address);
  for (const host of hosts.map((address) => (isIPv6(address) ? `[${address}]` : address))) {
    expect((await fetch(`http://${host}:${server.probePort}/livez`)).status).toBe(200);
    using caller = openRpcChannel({ ...connection([]), address: `${host}:${server.rpcPort}` });
    await caller.client(HealthDataService).read({});
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
  expect(await codeFor(ChannelCredentials.createInsecure())).toBe(status.UNAVAILABLE);
  expect(await codeFor(ChannelCredentials.createSsl(authority))).toBe(status.UNAVAILABLE);
  using secured = openUnary([server.rpcPort], { tls });
  await secured.read({});
});

let handle: (context: RpcContext) => Promise<void> = async () => undefined;
let calls = 0;

const server = await serve(async (_request, context) => {
  calls += 1;
  await handle(context);
  return {};
});
afterAll(async () => server[Symbol.asyncDispose]());

const open = () => openUnary([server.rpcPort], { deadlineMs: 60_000 });

test('a call gets the remaining time of the call that it is made for', async () => {
  using service = open();
  const seen: (number | undefined)[] = [];
  handle = async () => void seen.push(currentDeadline()?.remainingMs());
  await withinDeadline(new Deadline(20_000), () => service.read({}));
  await withinDeadline(new Deadline(20_000), () => service.read({}, { timeoutMs: 10_000 }));
  await service.read({});
  const [shortened, own, alone] = seen;
  expect(shortened).toBeGreaterThan(10_000);
  expect(shortened).toBeLessThan(20_000);
  expect(own).toBeLessThanOrEqual(10_000);
  expect(alone).toBeGreaterThan(20_000);
});

test('no other service is called for a caller that has stopped waiting', async () => {
  using service = open();
  calls = 0;
  const call = withinDeadline(new Deadline(0), () => service.read({}));
  await expect(call).rejects.toMatchObject({ reason: 'unavailable' });
  expect(calls).toBe(0);
});

test('when a caller gives up, the calls made for it are cancelled', async () => {
  using service = open();
  const ended = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  handle = async ({ signal }) => {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    expect(currentDeadline()?.remainingMs()).toBe(0);
    ended.resolve();
  };
  const deadline = new Deadline(60_000);
  const call = withinDeadline(deadline, () => service.read({}));
  const refused = expect(call).rejects.toMatchObject({ reason: 'unavailable' });
  await begun.promise;
  deadline.end();
  await Promise.all([refused, ended.promise]);
});
