import { expect, test } from '@jest/globals';
import { Answer, type Answers, example, LOST, listOf, problem } from '../kit/answers.ts';
import { openPage, screen } from '../kit/page.ts';

const { data: app } = example('getApp');
const CLIENT = 'app_sandbox_1';
const sandboxApp = { ...app, clientId: CLIENT, environment: 'sandbox' } as const;
const RUN = '/console/test-run';
const ready = { ...app, redirectUris: [`https://health.example${RUN}`], scopes: ['read:mood' as const] };

const UNKNOWN_CLIENT = new Answer(
  401,
  JSON.stringify({ error: 'invalid_client', error_description: 'No.', code: 'UNAUTHORIZED' }),
  'application/json',
  true,
);

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

test('a test run needs its page among the redirect URIs, which is tried again for each app', async () => {
  const listApps = { ...listOf(app, { ...app, clientId: 'app_2', name: 'Other' }), mayRegister: true };
  await using page = await openPage(RUN, { answers: { listApps, changeApp: problem('RATE_LIMITED') } });
  await page.press('Add this page to its redirect URIs');
  expect(page.alerts).toHaveLength(1);
  await page.fill('App', 'Other');
  expect(page.alerts).toEqual([]);
});

test('a test run looks for an active app with a secret on every page of apps', async () => {
  const listApps: Answers['listApps'] = ({ query }) => ({
    data: [{ ...ready, status: query['page'] === '2' ? 'active' : 'suspended' }],
    ...{
      pagination: { page: Number(query['page']), pageSize: 100, total: 2, totalPages: 2 },
      mayRegister: true,
    },
  });
  await using page = await openPage(RUN, { answers: { listApps } });
  page.see('You share your own data.');
});

test.each([
  ['lost', LOST, 'No answer arrived. The code may be used.', 1],
  ['refused', UNKNOWN_CLIENT, 'The service issued no tokens.', 2],
] as const)(
  'a code whose exchange is %s is sent again only if it is certainly unused',
  async (_, issueTokens, text, sent) => {
    const answers: Answers = { listApps: { ...listOf(ready), mayRegister: true }, issueTokens };
    const first = await openPage(RUN, { answers });
    await first.press('Send the request');
    // The digest of the verifier is made in another thread.
    while (first.leavings.length === 0) await first.settle();
    const [, request] = first.changes.at(-1) ?? [];
    const { state } = request as { state: string };
    const approval = example('requestAuthorization').approval_uri;
    expect(first.leavings).toEqual([{ how: 'assign', url: approval }]);
    await first[Symbol.asyncDispose]();
    await using page = await openPage(`${RUN}?code=c&state=${state}`, { answers, isSameBrowser: true });
    expect(page.path).toBe(RUN);
    await page.fill('Client secret', 'phds_cs_1');
    const release = page.hold('issueTokens');
    await page.keys('{Enter}{Enter}');
    await release();
    page.see(text);
    await page.keys('{Enter}');
    expect(page.changes.map(([operation]) => operation)).toEqual(Array(sent).fill('issueTokens'));
  },
);
