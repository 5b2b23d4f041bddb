import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { runAsOperator } from '../src/operator-command.ts';

const SCOPES = ['read:profile'];

let stack: SharedStack;
let developer: string;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'operators-and-apps-developer');
});

const operate = (...args: string[]) => runAsOperator(stack, ['apps', ...args]);

test('an app that an operator suspends is refused everywhere, and only an operator brings it back', async () => {
  const app = await registerApp(stack.gateway, developer);
  const tokens = await app.connect(await signIn(stack, 'operators-and-apps-ada'), SCOPES);
  const url = `${stack.gateway}/developer/apps/${app.clientId}`;
  const reason = 'It pretends to be a ministry.';
  const suspended = await operate('suspend', app.clientId, '--reason', reason);
  expect(suspended).toMatchObject({ code: 0, document: { status: 'suspended', lock: { reason } } });

  const garbage = await app.read('phds_at_garbage', '/api/v1/profile');
  for (const gateway of stack.gatewayUrls) {
    const refused = await send(`${gateway}/api/v1/profile`, { bearer: tokens.accessToken });
    expect([refused.status, refused.body]).toEqual([401, garbage.body]);
  }
  expect((await app.refresh(tokens.refreshToken)).status).toBe(401);
  expect((await app.authorize(SCOPES)).status).toBe(401);

  const shown = expectStatus(200, await send(url, { bearer: developer })).body.data;
  expect(shown).toMatchObject({ status: 'suspended', lock: { kind: 'suspension', reason } });
  const undone = await send(`${url}/status`, { bearer: developer, json: { status: 'active' } });
  expect([undone.status, undone.body.code]).toEqual([409, 'CONFLICT']);
  expect(undone.body.detail).toContain(reason);
  const listed = await operate('list', '--locked', 'suspension', '--owner', 'operators-and-apps-developer');
  expect(listed.document).toMatchObject({ total: 1, apps: [{ clientId: app.clientId, lock: { reason } }] });

  expect(await operate('resume', app.clientId)).toMatchObject({
    code: 0,
    document: { status: 'active', lock: null },
  });
  expectStatus(200, await app.read(tokens.accessToken, '/api/v1/profile'));
  expectStatus(200, await app.refresh(tokens.refreshToken));
  expect(await operate('show', 'app_0000000000000000000000')).toMatchObject({
    code: 1,
    document: { error: expect.stringContaining('no such app') },
  });
});
