import { createHash } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import { IndependentClient } from '@phds/running-system/independent-grpc';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { useSharedStack } from '@phds/running-system/shared-stack';
import type { Caller } from '@phds/service-kit/keys/key-files';
import { shared } from '@phds/test-kit/shared';

type Service = 'authorization' | 'health-data';
const HEART = 'read:health-data:heart';

const stack = await useSharedStack();
const open = (service: Service) => shared.use(new IndependentClient(stack.rpcAddresses[service]));
const clients = {
  authorization: open('authorization'),
  'health-data': open('health-data'),
};
const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
const session = await signIn(stack, 'grpc-clients-ada');
const tokens = await app.connect(session, [HEART]);

/** The metadata of a call with a service's token. */
async function as(
  caller: Caller,
  service: Service,
  more: Record<string, string> = {},
): Promise<Record<string, string>> {
  const token = await (await stack.serviceTokens(caller))(service);
  return { authorization: `Bearer ${token}`, ...more };
}

async function introspect(token: string) {
  const request = { token_hash: createHash('sha256').update(token).digest() };
  const path = '/phds.authorization.v1.TokenService/Introspect';
  return clients.authorization.call(path, request, await as('gateway', 'authorization'));
}

test('authorization names the invalid fields of a request in the error details', async () => {
  const metadata = await as('gateway', 'authorization', { 'phds-session': session });
  const path = '/phds.authorization.v1.AppService/RegisterApp';
  const settings = { name: '', redirect_uris: ['http://evil.example/'] };
  await expect(clients.authorization.call(path, { settings }, metadata)).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
    detail: {
      reason: 'REASON_INVALID_REQUEST',
      violations: expect.arrayContaining([
        { parameter: 'redirectUris', message: expect.any(String) },
        { parameter: 'name', message: expect.any(String) },
      ]),
    },
  });
});

test('health-data stores data from importers and returns it for an assertion', async () => {
  const readings = [{ type: 'Heart Rate', start: { seconds: 1_700_000_000 }, value: 61, source: 'manual' }];
  const put = '/phds.healthdata.v1.IngestionService/PutReadings';
  const importer = await as('importer', 'health-data');
  const request = { user_id: 'grpc-clients-ada', readings };
  const first = await clients['health-data'].call(put, request, importer);
  expect(first.result).toMatchObject({ inserted: 1, updated: 0, unchanged: 0, refusals: [] });
  const again = await clients['health-data'].call(put, request, importer);
  expect(again.result).toMatchObject({ inserted: 0, updated: 0, unchanged: 1 });

  const { assertion } = await introspect(tokens.accessToken);
  const metadata = await as('gateway', 'health-data', { 'phds-assertion': assertion });
  const read = { endpoint: 'ENDPOINT_HEALTH_DATA', category: 'heart' };
  const path = '/phds.healthdata.v1.HealthDataService/Read';
  const answer = await clients['health-data'].call(path, read, metadata);
  expect(answer.total).toBe(1);
  expect(JSON.parse(answer.body.toString('utf8')).data).toMatchObject([
    { type: 'Heart Rate', value: 61, timestamp: '2023-11-14T22:13:20.000Z' },
  ]);
});
