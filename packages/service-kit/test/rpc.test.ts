import { credentials, Client as GrpcClient, Metadata, status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { AccessService, Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import { shared } from '@phds/test-kit/shared';
import { AppError, type Reason, unauthorized } from '../src/errors.ts';
import { openRpcChannel } from '../src/rpc/client.ts';
import { fromGrpcError } from '../src/rpc/errors.ts';
import { startRpcServer } from '../src/rpc/server.ts';
import { implement } from '../src/rpc/service.ts';
import { createLogger } from '../src/telemetry/log.ts';
import { createServiceTokenSource, createServiceTokenVerifier } from '../src/trust/callers.ts';

const keys = createServiceKeys(['health-data', 'gateway']);
const [healthData, stranger] = [keys.pem('health-data'), keys.pem('gateway')];
const healthDataTokens = createServiceTokenSource({ service: 'health-data', privateKeyPem: healthData });
const lines: string[] = [];
const log = createLogger({
  service: 'consent',
  level: 'debug',
  destination: { write: (line) => void lines.push(line) },
});
let thrown: unknown;
let held: Promise<void> | undefined;

const server = shared.use(
  await startRpcServer({
    services: [
      implement(
        AccessService,
        {
          recordAccess: async (request) => {
            if (thrown !== undefined) throw thrown;
            await held;
            return { verdicts: request.accesses.map(() => Verdict.RELEASED) };
          },
          listAccesses: () => ({}),
          listAccessDays: () => ({}),
          getAppUsage: () => ({}),
          countRefusals: () => ({}),
        },
        {
          recordAccess: ['health-data'],
          listAccesses: [],
          listAccessDays: [],
          getAppUsage: ['gateway'],
          countRefusals: ['gateway'],
        },
      ),
    ],
    verifyCaller: createServiceTokenVerifier({ service: 'consent', publicKeys: keys.jwks }),
    log,
    host: '127.0.0.1',
    rpcPort: 0,
    probePort: null,
    health: async () => true,
  }),
);

function open(service: string, pem: string, audience = 'consent') {
  const tokens = createServiceTokenSource({ service, privateKeyPem: pem });
  const channel = openRpcChannel({
    address: `127.0.0.1:${server.rpcPort}`,
    audience,
    tokens,
    deadlineMs: 60_000,
  });
  return { client: channel.client(AccessService), [Symbol.dispose]: () => channel[Symbol.dispose]() };
}

async function reasonOf(call: Promise<unknown>): Promise<Reason> {
  const error = await call.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(AppError);
  return (error as AppError).reason;
}

const RECORD_ACCESS = '/phds.consent.v1.AccessService/RecordAccess';

function callWithBytes(path: string, request: Buffer, metadata = new Metadata()): Promise<Buffer> {
  const grpc = new GrpcClient(`127.0.0.1:${server.rpcPort}`, credentials.createInsecure());
  const same = (bytes: Buffer) => bytes;
  return new Promise<Buffer>((resolve, reject) =>
    grpc.makeUnaryRequest(path, same, same, request, metadata, (error, response) =>
      error === null ? resolve(response as Buffer) : reject(error),
    ),
  ).finally(() => grpc.close());
}

describe('a typed call over gRPC', () => {
  test('answers an admitted caller', async () => {
    using admitted = open('health-data', healthData);
    const { verdicts } = await admitted.client.recordAccess({ accesses: [{ clientId: 'app_1' }, {}] });
    expect(verdicts).toEqual([Verdict.RELEASED, Verdict.RELEASED]);
  });

  test.each<[string, string, string, 'recordAccess' | 'listAccesses', string]>([
    ['a caller that the rpc does not list', 'gateway', stranger, 'recordAccess', 'consent'],
    ['everybody where the list is empty', 'health-data', healthData, 'listAccesses', 'consent'],
    ['a service that signs as another', 'health-data', stranger, 'recordAccess', 'consent'],
    ['a token made for another audience', 'health-data', healthData, 'recordAccess', 'authorization'],
  ])('refuses %s', async (_, service, pem, rpc, audience) => {
    using caller = open(service, pem, audience);
    expect(await reasonOf(caller.client[rpc]({}))).toBe('caller_not_admitted');
  });

  const errorLines = () => lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');

  test('logs a token with a bad signature or an unknown key as an error, and a call without a token as none', async () => {
    using forger = open('health-data', stranger);
    using unknown = open('nobody', stranger);
    for (const { client } of [forger, unknown]) {
      lines.length = 0;
      expect(await reasonOf(client.recordAccess({}))).toBe('caller_not_admitted');
      expect(errorLines()).toHaveLength(1);
    }
    lines.length = 0;
    const answer = callWithBytes(RECORD_ACCESS, Buffer.alloc(0));
    await expect(answer).rejects.toMatchObject({ code: status.PERMISSION_DENIED });
    expect(errorLines()).toHaveLength(0);
  });

  test.each([
    ['a service behind that does not admit this one', new AppError('caller_not_admitted'), 'internal'],
    [
      'a record refused because consent does not admit this service',
      new AppError('access_not_recorded', '', { cause: new AppError('caller_not_admitted') }),
      'access_not_recorded',
    ],
  ])('logs %s as an error', async (_, error, reason) => {
    using caller = open('health-data', healthData);
    lines.length = 0;
    thrown = error;
    expect(await reasonOf(caller.client.recordAccess({}))).toBe(reason);
    thrown = undefined;
    expect(errorLines()).toHaveLength(1);
  });

  test('carries reason, violations, scope and retry time of an error across the hop', async () => {
    using caller = open('health-data', healthData);
    thrown = new AppError('invalid_request', 'page: must be at least 1', {
      violations: [{ parameter: 'page', message: 'must be at least 1' }],
      requiredScope: 'read:mood',
      retryAfterSeconds: 7,
    });
    const error = await caller.client.recordAccess({}).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      reason: 'invalid_request',
      message: 'page: must be at least 1',
      violations: [{ parameter: 'page', message: 'must be at least 1' }],
      requiredScope: 'read:mood',
      retryAfterSeconds: 7,
    });
    thrown = undefined;
  });

  test.each(['x', '\u{1F9EC}', '\ud800', '\n'])(
    'an error that quotes a very long %j is still delivered, and does not disturb other calls on the connection',
    async (character) => {
      using caller = open('health-data', healthData);
      const quoted = character.repeat(60_000);
      thrown = new AppError('invalid_request', quoted, {
        violations: Array.from({ length: 60 }, () => ({ parameter: quoted, message: quoted })),
      });
      const refusals = Array.from({ length: 3 }, () =>
        caller.client.recordAccess({}).catch((error: unknown) => error as AppError),
      );
      for (const refusal of await Promise.all(refusals)) {
        expect(refusal).toMatchObject({ reason: 'invalid_request', violations: { length: 20 } });
      }
      thrown = undefined;
      await caller.client.recordAccess({});
    },
  );

  test('drops the text of an unknown error and logs it without its secrets', async () => {
    using caller = open('health-data', healthData);
    thrown = new Error('connect postgresql://phds:hunter2@db failed');
    const error = await caller.client.recordAccess({}).catch((reason: unknown) => reason as AppError);
    thrown = undefined;
    expect(error).toMatchObject({ reason: 'internal', message: '' });
    expect(lines.join('')).toContain('rpc failed');
    expect(lines.join('')).not.toContain('hunter2');
  });

  test('an authentication failure has no text', async () => {
    using caller = open('health-data', healthData);
    thrown = unauthorized('session expired yesterday');
    const error = await caller.client.recordAccess({}).catch((reason: unknown) => reason as AppError);
    thrown = undefined;
    expect(error).toMatchObject({ reason: 'unauthorized', message: '' });
  });

  test('continues beside any number of cancelled calls', async () => {
    using caller = open('health-data', healthData);
    const release = Promise.withResolvers<void>();
    held = release.promise;
    const accesses = [{}];
    const patient = caller.client.recordAccess({ accesses }, { timeoutMs: 60_000 });
    // More than the thousand at once, and 33 a second, that Node's HTTP/2 server tolerates by default.
    for (let round = 0; round < 6; round += 1) {
      const givenUp = Array.from({ length: 400 }, () =>
        reasonOf(caller.client.recordAccess({ accesses }, { timeoutMs: 300 })),
      );
      expect(new Set(await Promise.all(givenUp))).toEqual(new Set(['unavailable']));
    }
    release.resolve();
    held = undefined;
    expect((await patient).verdicts).toEqual([Verdict.RELEASED]);
  });

  test('reports unavailable when nothing listens', async () => {
    using channel = openRpcChannel({
      address: '127.0.0.1:1',
      audience: 'consent',
      tokens: healthDataTokens,
      deadlineMs: 2_000,
    });
    expect(await reasonOf(channel.client(AccessService).recordAccess({}))).toBe('unavailable');
  });

  test('undecodable bytes of an admitted caller are refused as an invalid request, not reported as a fault of the service', async () => {
    const token = await healthDataTokens('consent');
    const admitted = Metadata.fromHttp2Headers({ authorization: `Bearer ${token}` });
    const answer = callWithBytes(RECORD_ACCESS, Buffer.from([0x0a, 0xff]), admitted);
    await expect(answer).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
  });
});

test.each([
  [13, 'Received RST_STREAM with code 2 triggered by internal client error: Session closed', 'unavailable'],
  [13, 'Response message parsing error: index out of range', 'internal'],
  [8, 'Bandwidth exhausted or memory limit exceeded', 'unavailable'],
  [8, 'Received message larger than max (5242971 vs 4194304)', 'internal'],
])('an error without details is classified as lost connection or fault: %d %s', (code, details, reason) => {
  const error = Object.assign(new Error(details), { code, details, metadata: new Metadata() });
  expect(fromGrpcError(error).reason).toBe(reason);
});
