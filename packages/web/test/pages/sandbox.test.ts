import { expect, test } from '@jest/globals';
import { type Answers, example, LOST, problem } from '../kit/answers.ts';
import { openPage } from '../kit/page.ts';

const { data: app } = example('getApp');
const CLIENT = app.clientId;
const inMode = (sandbox: boolean): Answers => ({ listApps: { ...example('listApps'), sandbox } });

test.each([true, false])(
  'the page of an app leads to the sandbox if the deployment is one: %s',
  async (sandbox) => {
    await using page = await openPage(`/console/${CLIENT}/sandbox`, { answers: inMode(sandbox) });
    const isThere = (text: string) => page.find(text) !== null;
    expect(['Sandbox', 'Let something happen'].map(isThere)).toEqual([sandbox, sandbox]);
  },
);

function triggered(result: { changed?: boolean; category?: string; id?: string; scope?: string }) {
  const nothing = { category: null, id: null, scope: null };
  return {
    data: { trigger: 'grant.revoke', grantId: 'grt_1', changed: true, ...nothing, ...result },
  } as const;
}

test.each([
  ['changed', triggered({ id: 'rdg_1', category: 'heart' }), 'It has happened: heart, rdg_1.'],
  ['narrowed', triggered({ scope: 'read:mood' }), 'It has happened: read:mood.'],
  ['ended', triggered({}), 'It has happened.'],
  ['left as it was', triggered({ changed: false }), 'Nothing was left to change.'],
  ['unknown', problem('NOT_FOUND'), 'The app has no connection with this ID.'],
  ['over', problem('CONFLICT'), 'The connection has ended, or it has nothing left'],
  ['in doubt', LOST, 'No answer arrived. It may have happened.'],
] as const)('a connection that is %s by a trigger is told', async (_, pullSandboxTrigger, text) => {
  const answers: Answers = { ...inMode(true), pullSandboxTrigger };
  await using page = await openPage(`/console/${CLIENT}/sandbox`, { answers });
  await page.fill('Grant ID', ' grt_1 ');
  await page.fill('What happens', 'The person ends the connection');
  await page.press('Let it happen');
  page.see(text);
  expect(page.changes).toEqual([['pullSandboxTrigger', { trigger: 'grant.revoke', grantId: 'grt_1' }]]);
  await page.fill('Grant ID', 'grt_2');
  expect(page.find(text)).toBeNull();
});
