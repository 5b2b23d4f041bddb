import { status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { RPCS } from '@phds/running-system/independent-grpc';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { useSharedSandbox, useSharedStack } from '@phds/running-system/shared-stack';
import { toSubject } from '@phds/service-kit/keys/key-files';
import { RawGrpc } from '../src/raw-grpc.ts';
import { readServiceKeys, signServiceToken } from '../src/service-tokens.ts';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';

const stack = await useSharedSandbox();
const developer = await signIn(stack, 'sandbox-developer');
const app = await registerApp(stack.gateway, developer);

const read = (accessToken: string, headers: Readonly<Record<string, string>> = {}) =>
  send(`${stack.gateway}/api/v1/health-data/heart`, { bearer: accessToken, headers });

async function pull(trigger: string, grantId: string) {
  const url = `${stack.gateway}/developer/apps/${app.clientId}/sandbox/triggers`;
  return send(url, { json: { trigger, grantId }, bearer: developer });
}

/** What happened, as the developer is told. */
async function triggered(trigger: string, grantId: string) {
  const { data } = expectStatus(200, await pull(trigger, grantId)).body;
  expect(data).toMatchObject({ trigger, grantId });
  return data;
}

describe('a trigger', () => {
  test('changes data of a person who was made up at the first sign-in, and names what the app then reads', async () => {
    const { accessToken, grantId } = await app.connect(await signIn(stack, 'sandbox-reader'), [HEART]);
    const newest = async () => expectStatus(200, await read(accessToken)).body.data[0];
    const arrived = await triggered('data.arrive', grantId);
    const reading = await newest();
    expect(arrived).toMatchObject({ changed: true, category: 'heart', id: reading.id, scope: null });
    expect(await triggered('data.correct', grantId)).toMatchObject({ changed: true, id: reading.id });
    expect((await newest()).value).not.toBe(reading.value);
    expect(await triggered('data.delete', grantId)).toMatchObject({ changed: true, id: reading.id });
    expect((await newest()).id).not.toBe(reading.id);
  });

  test('withdraws a scope, which it names', async () => {
    const person = await signIn(stack, 'sandbox-narrowed');
    const { accessToken, grantId } = await app.connect(person, [HEART, MOOD]);
    const narrowed = await triggered('grant.narrow', grantId);
    expect(narrowed).toMatchObject({ changed: true, category: null, id: null });
    const isHeart = narrowed.scope === HEART;
    expect([HEART, MOOD]).toContain(narrowed.scope);
    expectStatus(isHeart ? 403 : 200, await read(accessToken));
    expectStatus(409, await pull('grant.narrow', grantId));
  });

  test.each([
    ['grant.revoke', 401, 'UNAUTHORIZED'],
    ['grant.expire', 403, 'CONSENT_REQUIRED'],
  ])('%s ends the access at the next read', async (trigger, status, code) => {
    const { accessToken, grantId } = await app.connect(await signIn(stack, `sandbox-${trigger}`), [HEART]);
    expectStatus(200, await read(accessToken));
    expect((await triggered(trigger, grantId)).changed).toBe(true);
    expect(expectStatus(status, await read(accessToken)).body.code).toBe(code);
    expect((await triggered(trigger, grantId)).changed).toBe(false);
    expectStatus(409, await pull('data.arrive', grantId));
  });
});

describe('without the mode', () => {
  test.each([
    ['consent', ['FindSandboxGrant', 'ChangeSandboxGrant']],
    ['health-data', ['PreparePerson', 'ChangeData']],
  ] as const)('%s serves none of %j to the gateway', async (service, names) => {
    const production = await useSharedStack();
    const key = (await readServiceKeys(production)).gateway;
    const token = await signServiceToken(key, { caller: toSubject('gateway'), audience: service });
    using connection = new RawGrpc(production.rpcAddresses[service]);
    const answered: Record<string, number> = {};
    for (const { path } of RPCS.filter((rpc) => rpc.path.includes('.SandboxService/'))) {
      const name = path.split('/')[2] ?? '';
      if (!(names as readonly string[]).includes(name)) continue;
      const call = { path, isStream: false, authorization: `Bearer ${token}`, bytes: Buffer.alloc(0) };
      answered[name] = (await connection.call(call)).code;
    }
    expect(answered).toEqual(Object.fromEntries(names.map((name) => [name, status.UNIMPLEMENTED])));
  });
});
