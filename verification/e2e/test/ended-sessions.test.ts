import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectStatus } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import { eventually } from '@phds/test-kit/conditions';
import { signOut, statusWith } from '../src/sessions.ts';

let stack: RunningStack;

beforeAll(async () => {
  stack = await startRunningStack({ gateways: 2, redis: false });
});
afterAll(async () => stack?.[Symbol.asyncDispose]());

/** The statuses of a request with this session at every gateway. */
function useEverywhere(session: string): Promise<number[]> {
  return Promise.all(stack.gatewayUrls.map((url) => statusWith(url, session)));
}

test('a session that signed out is refused at every gateway, also after consent was killed, and others are not', async () => {
  const [session, other] = [await signIn(stack, 'ended-ada'), await signIn(stack, 'ended-grace')];
  expect(await useEverywhere(session)).toEqual([200, 200]);
  expectStatus(200, await signOut(stack.gateway, session));
  expect(await useEverywhere(session)).toEqual([401, 401]);

  await stack.processes.get('consent')?.kill('SIGKILL');
  expect(await useEverywhere(session)).toEqual([503, 503]);
  await stack.processes.get('consent')?.start();
  await eventually(async () => expect(await useEverywhere(other)).toEqual([200, 200]));
  expect(await useEverywhere(session)).toEqual([401, 401]);
});
