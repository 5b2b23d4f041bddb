import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import { type Harness, NOW, reading, reasonOf, startHarness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ STEP_UP_FOR: 'preview', STEP_UP_MAX_AGE_SECONDS: '300' });
  await harness.putReadings('ada', [reading('Heart Rate', '2026-02-20T10:00:00Z', 60)]);
});
afterAll(async () => harness[Symbol.asyncDispose]());

async function preview(claims: Readonly<Record<string, unknown>>) {
  const session = await harness.sessions.issueSession('ada', { claims });
  const headers = { [SESSION_METADATA]: session };
  const { body } = await harness.previews.preview({ scope: 'read:health-data:heart' }, { headers });
  return JSON.parse(new TextDecoder().decode(body));
}

const secondsAgo = (seconds: number) => Math.floor(new Date(NOW).getTime() / 1000) - seconds;

test('a preview is refused for a person who did not sign in recently', async () => {
  expect(await reasonOf(preview({}))).toBe('step_up_required');
  expect(await reasonOf(preview({ auth_time: secondsAgo(361) }))).toBe('step_up_required');
  expect(await reasonOf(preview({ auth_time: String(secondsAgo(0)) }))).toBe('step_up_required');
});

test('a preview is shown right after the sign-in, although the clock of the provider is seconds off', async () => {
  for (const seconds of [-10, 0, 10, 300]) {
    expect((await preview({ auth_time: secondsAgo(seconds) })).data.total).toBe(1);
  }
});
