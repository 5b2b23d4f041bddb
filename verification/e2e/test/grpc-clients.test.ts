import { createHash } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import type { Caller } from '@phds/local-stack/key-files';
import { IndependentClient } from '@phds/running-system/independent-grpc';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { shared } from '@phds/test-kit/shared';

type Service = 'authorization' | 'consent' | 'health-data';
const SERVICES: readonly Service[] = ['authorization', 'consent', 'health-data'];
const HEART = 'read:health-data:heart';

const stack = await useSharedStack();
const open = (service: Service) => shared.use(new IndependentClient(stack.rpcAddresses[service]));
const clients = {
  authorization: open('authorization'),
  consent: open('consent'),
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

const sha256 = (text: string) => createHash('sha256').update(text).digest();

describe('authorization', () => {
  test('returns the facts of a live token, and none for another', async () => {
    const path = '/phds.authorization.v1.TokenService/Introspect';
    const metadata = await as('gateway', 'authorization');
    const live = await clients.authorization.call(path, { token_hash: sha256(tokens.accessToken) }, metadata);
    expect(live).toMatchObject({
      status: 'TOKEN_STATUS_LIVE',
      ledger_checked: true,
      principal: {
        client_id: app.clientId,
        user_id: 'grpc-clients-ada',
        grant_id: tokens.grantId,
        scopes: [HEART],
      },
    });
    expect(live.assertion.split('.')).toHaveLength(3);
    const unknown = await clients.authorization.call(path, { token_hash: sha256('x') }, metadata);
    expect(unknown).toMatchObject({ status: 'TOKEN_STATUS_UNKNOWN', principal: null, assertion: '' });
  });

  test('names the invalid fields of a request in the error details', async () => {
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
});

describe('consent', () => {
  const list = '/phds.consent.v1.ConsentService/ListGrants';

  test('lists the grants of the session that it verifies itself', async () => {
    const metadata = await as('gateway', 'consent', { 'phds-session': session });
    const answer = await clients.consent.call(list, {}, metadata);
    expect(answer.grants).toMatchObject([
      {
        id: tokens.grantId,
        status: 'GRANT_STATUS_ACTIVE',
        scopes: [HEART],
        app: { client_id: app.clientId },
      },
    ]);
  });

  test('rejects an invalid session, whoever forwards it', async () => {
    for (const forged of ['x', tokens.accessToken, `${session.slice(0, -4)}AAAA`]) {
      const metadata = await as('gateway', 'consent', { 'phds-session': forged });
      await expect(clients.consent.call(list, {}, metadata)).rejects.toMatchObject({
        code: status.UNAUTHENTICATED,
        message: '',
        detail: { reason: 'REASON_UNAUTHORIZED' },
      });
    }
  });

  test('has the reason of each error in its details', async () => {
    const metadata = await as('gateway', 'consent', { 'phds-session': session });
    const missing = clients.consent.call(
      '/phds.consent.v1.ConsentService/GetGrant',
      { id: 'grt_x' },
      metadata,
    );
    await expect(missing).rejects.toMatchObject({
      code: status.NOT_FOUND,
      detail: { reason: 'REASON_NOT_FOUND' },
    });
  });
});

describe('health-data', () => {
  const read = '/phds.healthdata.v1.HealthDataService/Read';
  const ofCategory = (category: string) => ({ endpoint: 'ENDPOINT_HEALTH_DATA', category });

  async function assertionOf(accessToken: string): Promise<string> {
    const metadata = await as('gateway', 'authorization');
    const request = { token_hash: sha256(accessToken) };
    const path = '/phds.authorization.v1.TokenService/Introspect';
    return (await clients.authorization.call(path, request, metadata)).assertion;
  }

  test('stores data from importers and returns it for an assertion', async () => {
    const readings = [{ type: 'Heart Rate', start: { seconds: 1_700_000_000 }, value: 61, source: 'manual' }];
    const put = '/phds.healthdata.v1.IngestionService/PutReadings';
    const importer = await as('importer', 'health-data');
    const request = { user_id: 'grpc-clients-ada', readings };
    const first = await clients['health-data'].call(put, request, importer);
    expect(first.result).toMatchObject({ inserted: 1, updated: 0, unchanged: 0, refusals: [] });
    const again = await clients['health-data'].call(put, request, importer);
    expect(again.result).toMatchObject({ inserted: 0, updated: 0, unchanged: 1 });

    const assertion = await assertionOf(tokens.accessToken);
    const metadata = await as('gateway', 'health-data', { 'phds-assertion': assertion });
    const answer = await clients['health-data'].call(read, ofCategory('heart'), metadata);
    expect(answer.total).toBe(1);
    expect(JSON.parse(answer.body.toString('utf8')).data).toMatchObject([
      { type: 'Heart Rate', value: 61, timestamp: '2023-11-14T22:13:20.000Z' },
    ]);
  });

  test('derives the scope from the endpoint and the category, and verifies the assertion itself', async () => {
    const metadata = await as('gateway', 'health-data', {
      'phds-assertion': await assertionOf(tokens.accessToken),
    });
    const sleep = clients['health-data'].call(read, ofCategory('sleep'), metadata);
    await expect(sleep).rejects.toMatchObject({
      code: status.PERMISSION_DENIED,
      detail: { reason: 'REASON_INSUFFICIENT_SCOPE', required_scope: 'read:health-data:sleep' },
    });
    const profile = clients['health-data'].call(read, { endpoint: 'ENDPOINT_PROFILE' }, metadata);
    await expect(profile).rejects.toMatchObject({ detail: { required_scope: 'read:profile' } });
    for (const forged of ['x', session, `${metadata['phds-assertion']?.slice(0, -4)}AAAA`]) {
      const call = clients['health-data'].call(
        read,
        ofCategory('heart'),
        await as('gateway', 'health-data', { 'phds-assertion': forged }),
      );
      await expect(call).rejects.toMatchObject({
        code: status.INTERNAL,
        detail: { reason: 'REASON_INTERNAL' },
      });
    }
  });
});

describe('probes', () => {
  test.each(SERVICES)('%s reports liveness and readiness without credentials', async (service) => {
    // Not of a gateway, so not in the OpenAPI document.
    const { status: ready } = await fetch(`${stack.probeUrls[service]}/readyz`);
    const { status: live } = await fetch(`${stack.probeUrls[service]}/livez`);
    expect([ready, live]).toEqual([200, 200]);
  });
});
