import { status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { useSharedSandbox, useSharedStack } from '@phds/running-system/shared-stack';
import { RawGrpc } from '../src/raw-grpc.ts';

test('a trigger changes data of a person who was made up at the first sign-in, and another ends the access at the next read', async () => {
  const stack = await useSharedSandbox();
  const developer = await signIn(stack, 'sandbox-developer');
  const app = await registerApp(stack.gateway, developer);
  const person = await signIn(stack, 'sandbox-reader');
  const { accessToken, grantId } = await app.connect(person, ['read:health-data:heart']);
  const read = () => app.read(accessToken, '/api/v1/health-data/heart');
  const pull = async (trigger: string) => {
    const url = `${stack.gateway}/developer/apps/${app.clientId}/sandbox/triggers`;
    return expectStatus(200, await send(url, { json: { trigger, grantId }, bearer: developer })).body.data;
  };
  const arrived = await pull('data.arrive');
  const [reading] = expectStatus(200, await read()).body.data;
  expect(arrived).toMatchObject({ changed: true, category: 'heart', id: reading.id, scope: null });
  expect(await pull('grant.revoke')).toMatchObject({ changed: true });
  expectStatus(401, await read());
});

// health-data/test/sandbox.test.ts shows the same of health-data.
describe('without the mode', () => {
  test.each(['FindSandboxGrant', 'ChangeSandboxGrant'])('consent does not serve %s', async (name) => {
    const production = await useSharedStack();
    const token = await (await production.serviceTokens('gateway'))('consent');
    using connection = new RawGrpc(production.rpcAddresses.consent);
    const path = `/phds.consent.v1.SandboxService/${name}`;
    const call = { path, authorization: `Bearer ${token}`, bytes: Buffer.alloc(0) };
    expect((await connection.call(call)).code).toBe(status.UNIMPLEMENTED);
  });
});
