import { beforeEach, describe, expect, test } from '@jest/globals';
import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import { SandboxGrantChange } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { SandboxDataChange } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { AppError, notFound, unavailable } from '@phds/service-kit/errors';
import { shareCaller, shareTestGateway, startTestGateway } from './test-gateway.ts';

describe('a trigger', () => {
  const gateway = shareTestGateway({ SANDBOX: 'true', LIMITS: 'user-costly=10000' });
  const { call, session } = shareCaller(gateway, 'dev');

  const CLIENT = 'app_1';
  const PATH = `/developer/apps/${CLIENT}/sandbox/triggers`;
  const USER = 'ada';

  beforeEach(() => {
    gateway.backends.answer({
      findSandboxGrant: () => ({
        userId: USER,
        scopes: ['read:mood', 'read:health-data:glucose', 'read:health-data:sleep'],
      }),
      changeSandboxGrant: () => ({ changed: true, scope: 'read:mood' }),
      changeData: () => ({ category: 'glucose', id: 'rdg_1' }),
    });
  });

  const post = (path: string, body: unknown) => call('POST', path, body);

  test.each([
    ['grant.narrow', SandboxGrantChange.NARROW],
    ['grant.revoke', SandboxGrantChange.REVOKE],
    ['grant.expire', SandboxGrantChange.EXPIRE],
  ])('%s changes the grant for the session of the developer', async (trigger, change) => {
    const { status, body } = await post(PATH, { trigger, grantId: 'grt_1' });
    const data = { trigger, grantId: 'grt_1', changed: true, category: null, id: null, scope: 'read:mood' };
    expect([status, body]).toEqual([200, { data }]);
    expect(gateway.backends.calls).toMatchObject([
      {
        rpc: 'changeSandboxGrant',
        session: session(),
        request: { clientId: CLIENT, grantId: 'grt_1', change },
      },
    ]);
  });

  test.each([
    ['data.arrive', SandboxDataChange.ARRIVE],
    ['data.correct', SandboxDataChange.CORRECT],
    ['data.delete', SandboxDataChange.DELETE],
  ])('%s changes the data of the person of the grant, in what the app may read', async (trigger, change) => {
    gateway.backends.answer({
      findSandboxGrant: () => ({ userId: USER, scopes: ['read:mood', 'read:health-data:glucose'] }),
      changeData: () => ({ category: 'glucose', id: 'rdg_1' }),
    });
    const { status, body } = await post(PATH, { trigger, grantId: 'grt_1' });
    const changed = { changed: true, category: 'glucose', id: 'rdg_1', scope: null };
    expect([status, body]).toEqual([200, { data: { trigger, grantId: 'grt_1', ...changed } }]);
    expect(gateway.backends.calls).toMatchObject([
      { rpc: 'findSandboxGrant', session: session(), request: { clientId: CLIENT, grantId: 'grt_1' } },
      { rpc: 'changeData', request: { userId: USER, clientId: CLIENT, change, categories: ['glucose'] } },
    ]);
  });

  test('of data changes any category for summaries of them, and none for a grant that shows no readings', async () => {
    const arrive = async (...scopes: string[]) => {
      gateway.backends.answer({ findSandboxGrant: () => ({ userId: USER, scopes }) });
      return (await post(PATH, { trigger: 'data.arrive', grantId: 'grt_1' })).status;
    };
    expect(await arrive('read:mood', 'read:profile')).toBe(409);
    expect(gateway.backends.callsOf('changeData')).toEqual([]);
    await arrive('read:mood', 'read:trends');
    const [{ request } = {}] = gateway.backends.callsOf('changeData');
    expect(request).toMatchObject({ categories: CATEGORY_SLUGS });
  });

  test.each([
    ['not found', notFound(), 404, 'NOT_FOUND'],
    ['a conflict', new AppError('conflict', 'The grant is revoked.'), 409, 'CONFLICT'],
  ])('of a grant that consent answers with %s reaches no data', async (_, error, status, code) => {
    const refuse = () => Promise.reject(error);
    gateway.backends.answer({ findSandboxGrant: refuse, changeSandboxGrant: refuse });
    for (const trigger of ['data.delete', 'grant.expire']) {
      const answer = await post(PATH, { trigger, grantId: 'grt_1' });
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    }
    expect(gateway.backends.callsOf('changeData')).toEqual([]);
  });

  test.each([
    [{ trigger: 'data.explode', grantId: 'grt_1' }, 'trigger'],
    [{ grantId: 'grt_1' }, 'trigger'],
    [{ trigger: 'data.arrive' }, 'grantId'],
    [{ trigger: 'data.arrive', grantId: 7 }, 'grantId'],
    [{ trigger: 'data.arrive', grantId: 'grt_1', userId: 'ada' }, 'userId'],
  ])('with the body %j is an invalid request', async (body, parameter) => {
    const answer = await post(PATH, body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ parameter }] } });
    expect(gateway.backends.calls).toEqual([]);
  });
});

describe('a person', () => {
  const gateway = shareTestGateway({ SANDBOX: 'true' });
  const { call } = shareCaller(gateway, 'ada');
  const developer = shareCaller(gateway, 'dev');

  test('has data before anything of theirs is answered, made once, and a developer needs none', async () => {
    await developer.call('GET', '/developer/apps');
    expect(gateway.backends.callsOf('preparePerson')).toEqual([]);
    await call('GET', '/partner/consent/grants');
    await call('GET', '/partner/consent/grants');
    expect(gateway.backends.calls.map(({ rpc }) => rpc)).toEqual([
      'listApps',
      'preparePerson',
      'listGrants',
      'listGrants',
    ]);
    expect(gateway.backends.callsOf('preparePerson')[0]?.request).toMatchObject({ userId: 'ada' });
  });

  test('whose data cannot be made is told to try again', async () => {
    await using busy = await startTestGateway({ SANDBOX: 'true' });
    busy.backends.answer({ preparePerson: () => Promise.reject(unavailable()) });
    const Authorization = `Bearer ${await busy.sessions.issueSession('bob')}`;
    const response = await busy.fetch('/partner/consent/grants', { headers: { Authorization } });
    expect(response.status).toBe(503);
  });
});

describe('without the mode', () => {
  const gateway = shareTestGateway();
  const { call } = shareCaller(gateway, 'dev');

  test('no route leads to the sandbox, the document has none of it, and no rpc of it is called', async () => {
    const trigger = { trigger: 'grant.revoke', grantId: 'grt_1' };
    expect((await call('POST', '/developer/apps/app_1/sandbox/triggers', trigger)).status).toBe(404);
    await call('GET', '/partner/consent/grants');
    expect(gateway.backends.calls.map(({ rpc }) => rpc)).toEqual(['listGrants']);
    expect((await call('GET', '/developer/apps')).body.sandbox).toBe(false);
    const document = await (await gateway.fetch('/openapi.json')).text();
    expect(document).not.toMatch(/Sandbox-Force|sandbox\/triggers|SandboxTrigger/);
  });
});
