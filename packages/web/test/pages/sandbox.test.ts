import { expect, test } from '@jest/globals';
import { type Answers, example, LOST, problem } from '../kit/answers.ts';
import { openPage, screen } from '../kit/page.ts';

const { data: app } = example('getApp');
const CLIENT = 'app_sandbox_1';
const sandboxApp = { ...app, clientId: CLIENT, environment: 'sandbox' } as const;

test('a live app has no sandbox, which its page says', async () => {
  await using page = await openPage(`/console/${app.clientId}/sandbox`);
  page.see('Morning Run is a live app');
});

test.each([
  ['changed', undefined, 'It has happened.'],
  [
    'left as it was',
    { data: { trigger: 'grant.revoke', grantId: 'grt_1', changed: false } },
    'Nothing was left to change.',
  ],
  ['unknown', problem('NOT_FOUND'), 'The app has no connection with this ID.'],
  ['over', problem('CONFLICT'), 'The connection has ended, or it has nothing left'],
  ['in doubt', LOST, 'No answer arrived. It may have happened.'],
] as const)('a connection that is %s by a trigger is told', async (_, pullSandboxTrigger, text) => {
  const answers: Answers = {
    getApp: { data: sandboxApp },
    ...(pullSandboxTrigger && { pullSandboxTrigger }),
  };
  await using page = await openPage(`/console/${CLIENT}/sandbox`, { answers });
  await page.fill('Grant ID', ' grt_1 ');
  await page.fill('What happens', 'The person ends the connection');
  await page.press('Let it happen');
  page.see(text);
  expect(page.changes).toEqual([['pullSandboxTrigger', { trigger: 'grant.revoke', grantId: 'grt_1' }]]);
  await page.fill('Grant ID', 'grt_2');
  expect(page.find(text)).toBeNull();
});

test('the command for an error names its endpoint and header field', async () => {
  await using page = await openPage(`/console/${CLIENT}/sandbox`, {
    answers: { getApp: { data: sandboxApp } },
  });
  for (const [code, path] of [
    ['INVALID_GRANT', '/oauth/token'],
    ['CONSENT_REQUIRED', '/api/v1/health-data/heart'],
  ]) {
    await page.fill('Error', String(code));
    page.see(`${path} -H "Sandbox-Force: ${code}"`, screen.getByRole('figure'));
  }
});
