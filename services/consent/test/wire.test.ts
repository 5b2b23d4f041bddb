import { resolve } from 'node:path';
import { credentials, loadPackageDefinition, Metadata, type ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BAD_USER_IDS, LONE_SURROGATE } from '@phds/test-kit/user-ids';
import {
  accessOf,
  approve,
  HEART,
  openPending,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent();
});
afterAll(() => consent[Symbol.asyncDispose]());

const PROTO = resolve(import.meta.dirname, '../../../proto');

type UnaryCall = (
  request: object,
  metadata: Metadata,
  callback: (error: ServiceError | null, answer: Record<string, unknown>) => void,
) => void;

/** Calls an rpc with the .proto files only, without our code. */
async function callIndependently(
  file: string,
  service: string,
  rpc: string,
  request: object,
  headers: Record<string, string>,
): Promise<Record<string, unknown>> {
  const definition = loadSync(`phds/consent/v1/${file}.proto`, {
    includeDirs: [PROTO],
    enums: String,
    longs: Number,
  });
  // biome-ignore lint/suspicious/noExplicitAny: the loader cannot know the types of what it loads
  const { [service]: Client } = (loadPackageDefinition(definition) as any).phds.consent.v1;
  const client = new Client(`127.0.0.1:${consent.service.rpcPort}`, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  try {
    const { promise, resolve: answered, reject } = Promise.withResolvers<Record<string, unknown>>();
    (client[rpc] as UnaryCall).call(client, request, metadata, (error, answer) =>
      error === null ? answered(answer) : reject(error),
    );
    return await promise;
  } finally {
    client.close();
  }
}

const bearer = async (caller: keyof RunningService['tokens']) => ({
  authorization: `Bearer ${await consent.tokens[caller]('consent')}`,
});

describe('an independent gRPC client', () => {
  test('records an access', async () => {
    const grant = await approve(consent, await registerApp(consent), 'grpc');
    const accesses = [accessOf(grant)];
    const answer = await callIndependently(
      'access',
      'AccessService',
      'RecordAccess',
      { accesses },
      await bearer('health-data'),
    );
    expect(answer['verdicts']).toEqual(['VERDICT_RELEASED']);
  });

  test('approves, and lists the resulting grant', async () => {
    const id = await openPending(consent, await registerApp(consent), [HEART]);
    const { headers } = await consent.session('grpc2');
    const approved = await callIndependently(
      'consent',
      'ConsentService',
      'Approve',
      { id, allRequested: true },
      { ...headers, ...(await bearer('authorization')) },
    );
    const listed = await callIndependently(
      'consent',
      'ConsentService',
      'ListGrants',
      {},
      { ...headers, ...(await bearer('gateway')) },
    );
    expect(listed).toMatchObject({
      total: 1,
      grants: [{ id: approved['grantId'], scopes: [HEART], status: 'GRANT_STATUS_ACTIVE' }],
    });
  });

  test('is refused without a service token, with another caller’s role, or with another audience', async () => {
    const { headers } = await consent.session('grpc3');
    const list = (extra: Record<string, string>) =>
      callIndependently('consent', 'ConsentService', 'ListGrants', {}, { ...headers, ...extra });
    await expect(list({})).rejects.toMatchObject({ code: 7 });
    await expect(list(await bearer('health-data'))).rejects.toMatchObject({ code: 7 });
    const foreign = { authorization: `Bearer ${await consent.tokens.gateway('health-data')}` };
    await expect(list(foreign)).rejects.toMatchObject({ code: 7 });
  });
});

describe('the Connect protocol', () => {
  const post = async (rpc: string, body: object, headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${consent.service.connectPort}/phds.consent.v1.${rpc}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  test('gets the same rpcs as JSON', async () => {
    const grant = await approve(consent, await registerApp(consent), 'curl');
    const { headers } = await consent.session('curl');
    const answer = await post('ConsentService/ListGrants', {}, { ...headers, ...(await bearer('gateway')) });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ total: 1, grants: [{ id: grant.grantId }] });
  });

  test.each([...BAD_USER_IDS, ['with a lone surrogate', LONE_SURROGATE] as const])(
    'refuses a session whose subject is a user id %s',
    async (_, userId) => {
      const { headers } = await consent.session(userId);
      const answer = await post(
        'ConsentService/ListGrants',
        {},
        { ...headers, ...(await bearer('gateway')) },
      );
      expect(answer.status).toBe(401);
    },
  );

  test("refuses callers that are not admitted, and calls without a person's session", async () => {
    expect((await post('ConsentService/ListGrants', {}, {})).status).toBe(403);
    expect((await post('ConsentService/ListGrants', {}, await bearer('authorization'))).status).toBe(403);
    expect((await post('ConsentService/ListGrants', {}, await bearer('gateway'))).status).toBe(401);
  });
});
