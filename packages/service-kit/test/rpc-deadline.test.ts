import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { currentDeadline, Deadline, withinDeadline } from '../src/deadline.ts';
import { openRpcChannel } from '../src/rpc/client.ts';
import type { RpcContext } from '../src/rpc/context.ts';
import { type RpcServer, startRpcServer } from '../src/rpc/server.ts';
import { implement } from '../src/rpc/service.ts';
import { createLogger } from '../src/telemetry/log.ts';
import { createServiceTokenSource, createServiceTokenVerifier } from '../src/trust/service-token.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'health-data', alg: 'EdDSA' };
const tokens = createServiceTokenSource({
  service: 'health-data',
  privateKeyPem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
});

let server: RpcServer;
let handle: (context: RpcContext) => Promise<void> = async () => undefined;
let calls = 0;

beforeAll(async () => {
  server = await startRpcServer({
    services: [
      implement(
        AccessService,
        {
          recordAccess: async (_request, context) => {
            calls += 1;
            await handle(context);
            return {};
          },
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
    probePort: null,
    health: async () => true,
  });
});
afterAll(async () => server[Symbol.asyncDispose]());

function open() {
  const address = `127.0.0.1:${server.rpcPort}`;
  const channel = openRpcChannel({ address, audience: 'consent', tokens, deadlineMs: 60_000 });
  return { client: channel.client(AccessService), [Symbol.dispose]: () => channel[Symbol.dispose]() };
}

test('a call gets the remaining time of the call that it is made for', async () => {
  using consent = open();
  const seen: (number | undefined)[] = [];
  handle = async () => void seen.push(currentDeadline()?.remainingMs());
  await withinDeadline(new Deadline(20_000), () => consent.client.recordAccess({}));
  await withinDeadline(new Deadline(20_000), () => consent.client.recordAccess({}, { timeoutMs: 10_000 }));
  await consent.client.recordAccess({});
  const [shortened, own, alone] = seen;
  expect(shortened).toBeGreaterThan(10_000);
  expect(shortened).toBeLessThan(20_000);
  expect(own).toBeLessThanOrEqual(10_000);
  expect(alone).toBeGreaterThan(20_000);
});

test('no other service is called for a caller that has stopped waiting', async () => {
  using consent = open();
  calls = 0;
  const call = withinDeadline(new Deadline(0), () => consent.client.recordAccess({}));
  await expect(call).rejects.toMatchObject({ reason: 'unavailable' });
  expect(calls).toBe(0);
});

test('when a caller gives up, the calls made for it are cancelled', async () => {
  using consent = open();
  const ended = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  handle = async ({ signal }) => {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    expect(currentDeadline()?.remainingMs()).toBe(0);
    ended.resolve();
  };
  const deadline = new Deadline(60_000);
  const call = withinDeadline(deadline, () => consent.client.recordAccess({}));
  const refused = expect(call).rejects.toMatchObject({ reason: 'unavailable' });
  await begun.promise;
  deadline.end();
  await Promise.all([refused, ended.promise]);
});
