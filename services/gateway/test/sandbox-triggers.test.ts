import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { SandboxGrantChange } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { SandboxDataChange } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { AppError, notFound, unavailable } from '@phds/service-kit/errors';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
let session: string;

const CLIENT = 'app_sandbox_1';
const PATH = `/developer/apps/${CLIENT}/sandbox/triggers`;
const USER = `sandbox:${CLIENT}:ada`;

beforeAll(async () => {
  gateway = await startTestGateway({ LIMIT_USER_CHANGES_PER_MINUTE: '1000' });
  session = await gateway.sessions.issueSession('dev', { expiresInSeconds: 86_400 });
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.backends.calls.length = 0;
  gateway.backends.answer({
    findSandboxGrant: () => ({
      userId: USER,
      scopes: ['read:mood', 'read:health-data:glucose', 'read:health-data:sleep'],
    }),
    changeSandboxGrant: () => ({ changed: true }),
    changeSandboxData: () => ({ changed: true }),
  });
});

async function post(path: string, body: unknown, authorization = `Bearer ${session}`) {
  const headers = { authorization, 'content-type': 'application/json' };
  const response = await gateway.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

describe('a trigger', () => {
  test.each([
    ['grant.narrow', SandboxGrantChange.NARROW],
    ['grant.revoke', SandboxGrantChange.REVOKE],
    ['grant.expire', SandboxGrantChange.EXPIRE],
  ])('%s changes the grant for the session of the developer', async (trigger, change) => {
    const { status, body } = await post(PATH, { trigger, grantId: 'grt_1' });
    expect([status, body]).toEqual([200, { data: { trigger, grantId: 'grt_1', changed: true } }]);
    expect(gateway.backends.calls).toMatchObject([
      { rpc: 'changeSandboxGrant', session, request: { clientId: CLIENT, grantId: 'grt_1', change } },
    ]);
  });

  test.each([
    ['data.arrive', SandboxDataChange.ARRIVE],
    ['data.correct', SandboxDataChange.CORRECT],
    ['data.delete', SandboxDataChange.DELETE],
  ])('%s changes the data of the person of the grant, in what the app may read', async (trigger, change) => {
    gateway.backends.answer({
      findSandboxGrant: () => ({ userId: USER, scopes: ['read:mood', 'read:health-data:glucose'] }),
    });
    const { status, body } = await post(PATH, { trigger, grantId: 'grt_1' });
    expect([status, body]).toEqual([200, { data: { trigger, grantId: 'grt_1', changed: false } }]);
    expect(gateway.backends.calls).toMatchObject([
      { rpc: 'findSandboxGrant', session, request: { clientId: CLIENT, grantId: 'grt_1' } },
      { rpc: 'changeSandboxData', request: { userId: USER, change, categories: ['glucose'] } },
    ]);
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
    expect(gateway.backends.callsOf('changeSandboxData')).toEqual([]);
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

  test('needs a session', async () => {
    expect((await post(PATH, { trigger: 'data.arrive', grantId: 'g' }, 'Bearer x')).status).toBe(401);
  });
});

describe('revoking a sandbox app', () => {
  const setAppStatus = () => ({ status: AppStatus.REVOKED });

  test('erases the data of its people', async () => {
    gateway.backends.answer({ setAppStatus });
    await post(`/developer/apps/${CLIENT}/status`, { status: 'revoked' });
    expect(gateway.backends.callsOf('eraseSandboxPeople')).toMatchObject([{ request: { clientId: CLIENT } }]);
  });

  test('is answered with 503 when the data could not be erased, so that it is repeated', async () => {
    const eraseSandboxPeople = () => Promise.reject(unavailable());
    gateway.backends.answer({ setAppStatus, eraseSandboxPeople });
    expect((await post(`/developer/apps/${CLIENT}/status`, { status: 'revoked' })).status).toBe(503);
  });

  test('is the only change of status that does, and only for the own app', async () => {
    gateway.backends.answer({ setAppStatus });
    for (const [clientId, status] of [
      [CLIENT, 'suspended'],
      [CLIENT, 'active'],
      ['app_1', 'revoked'],
    ]) {
      await post(`/developer/apps/${clientId}/status`, { status });
    }
    gateway.backends.answer({ setAppStatus: () => Promise.reject(notFound()) });
    await post(`/developer/apps/${CLIENT}/status`, { status: 'revoked' });
    expect(gateway.backends.callsOf('eraseSandboxPeople')).toEqual([]);
  });
});
