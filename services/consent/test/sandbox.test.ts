import { describe, expect, test } from '@jest/globals';
import { SandboxGrantChange } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { newId } from '@phds/service-kit/ids';
import {
  approve,
  GLUCOSE,
  HEART,
  openPending,
  type RegisteredApp,
  registerApp,
  shareConsent,
  startConsent,
} from './running-service.ts';

const consent = await shareConsent({ settings: { SANDBOX: 'true' } });

const DEVELOPER = 'developer';
const { NARROW, REVOKE, EXPIRE } = SandboxGrantChange;
const registerSandboxApp = () => registerApp(consent, DEVELOPER, 'app_sandbox');

async function connect(app: RegisteredApp, person = 'ada', scopes = [HEART, GLUCOSE]) {
  const id = await openPending(consent, app, scopes);
  const { approval } = await consent.sandbox.asAuthorization.approveInSandbox({
    id,
    clientId: app.clientId,
    person,
  });
  if (approval === undefined) throw new Error('no approval');
  return { id, ...approval };
}

async function change(app: RegisteredApp, grantId: string, kind: SandboxGrantChange, as = DEVELOPER) {
  const request = { clientId: app.clientId, grantId, change: kind };
  return consent.sandbox.asGateway.changeSandboxGrant(request, await consent.session(as));
}

async function find(app: RegisteredApp, grantId: string, as = DEVELOPER) {
  const request = { clientId: app.clientId, grantId };
  return consent.sandbox.asGateway.findSandboxGrant(request, await consent.session(as));
}

async function statusOf({ clientId }: RegisteredApp, grantId: string) {
  const { grants } = await consent.asAuthorization.listAppGrants({ clientId });
  return grants.find(({ id }) => id === grantId);
}

describe('an approval in the sandbox', () => {
  test("is that of the app's own person, and a repeat returns the same", async () => {
    const app = await registerSandboxApp();
    const first = await connect(app, 'ben');
    expect(first).toMatchObject({
      userId: `sandbox:${app.clientId}:ben`,
      clientId: app.clientId,
      scopes: [HEART, GLUCOSE],
      repeatedDecision: false,
    });
    const { id, clientId } = first;
    const again = await consent.sandbox.asAuthorization.approveInSandbox({ id, clientId, person: 'ben' });
    expect(again.approval).toMatchObject({ grantId: first.grantId, repeatedDecision: true });
    expect((await connect(app, 'ben')).grantId).toBe(first.grantId);
    expect((await connect(app, 'ada')).grantId).not.toBe(first.grantId);
  });

  test('of many at once makes one grant', async () => {
    const app = await registerSandboxApp();
    const grants = await Promise.all(Array.from({ length: 8 }, () => connect(app)));
    expect(new Set(grants.map(({ grantId }) => grantId)).size).toBe(1);
  });

  test.each([
    ['a live app', 'app', 'ada', 'invalid_request'],
    ['somebody else', 'app_sandbox', 'grace', 'invalid_request'],
    ['no person', 'app_sandbox', '', 'invalid_request'],
    ['a person with a colon', 'app_sandbox', 'ada:x', 'invalid_request'],
  ])('is refused for %s', async (_what, prefix, person, reason) => {
    const app = await registerApp(consent, DEVELOPER, prefix);
    await expect(connect(app, person)).rejects.toMatchObject({ reason });
    expect((await consent.asAuthorization.listAppGrants({ clientId: app.clientId })).total).toBe(0);
  });

  test("never decides another app's request, live or not", async () => {
    const { clientId } = await registerSandboxApp();
    for (const prefix of ['app', 'app_sandbox']) {
      const id = await openPending(consent, await registerApp(consent, DEVELOPER, prefix));
      const { asAuthorization } = consent.sandbox;
      for (const call of [
        () => asAuthorization.approveInSandbox({ id, clientId, person: 'ada' }),
        () => asAuthorization.denyInSandbox({ id, clientId }),
      ]) {
        await expect(call()).rejects.toMatchObject({ reason: 'not_found' });
      }
    }
  });
});

test('a denial is final, and repeating it changes nothing', async () => {
  const app = await registerSandboxApp();
  const id = await openPending(consent, app);
  const { clientId } = app;
  const { asAuthorization } = consent.sandbox;
  await asAuthorization.denyInSandbox({ id, clientId });
  await asAuthorization.denyInSandbox({ id, clientId });
  await expect(asAuthorization.approveInSandbox({ id, clientId, person: 'ada' })).rejects.toMatchObject({
    reason: expect.stringMatching(/^(already_decided|not_found)$/),
  });
});

describe('a trigger', () => {
  test('narrows by one scope until one is left', async () => {
    const app = await registerSandboxApp();
    const { grantId } = await connect(app);
    expect(await change(app, grantId, NARROW)).toMatchObject({ changed: true, scope: GLUCOSE });
    expect(await statusOf(app, grantId)).toMatchObject({ scopes: [HEART] });
    await expect(change(app, grantId, NARROW)).rejects.toMatchObject({ reason: 'conflict' });
    expect((await connect(app)).scopes).toEqual([HEART, GLUCOSE]);
  });

  test.each([
    ['revokes', REVOKE, 'revoked'],
    ['expires', EXPIRE, 'expired'],
  ])('%s a grant in effect before it answers, and a repeat changes nothing', async (_, kind, status) => {
    const app = await registerSandboxApp();
    const { grantId } = await connect(app);
    expect(await change(app, grantId, kind)).toMatchObject({ changed: true, scope: '' });
    const check = { grantId, clientId: app.clientId, appEpoch: app.epoch };
    const { results } = await consent.ledger.checkLivenesses({ checks: [check] });
    expect(results[0]?.grant?.status).not.toBe(1);
    expect(await change(app, grantId, kind)).toMatchObject({ changed: false });
    await expect(change(app, grantId, NARROW)).rejects.toMatchObject({ message: `The grant is ${status}.` });
    await expect(find(app, grantId)).rejects.toMatchObject({ message: `The grant is ${status}.` });
    expect((await connect(app)).grantId).not.toBe(grantId);
  });

  test("is refused for another developer and for another app's grant", async () => {
    const app = await registerSandboxApp();
    const { grantId, userId } = await connect(app);
    const otherApp = await registerSandboxApp();
    const liveApp = await registerApp(consent, DEVELOPER);
    const live = await approve(consent, liveApp, newId('user'));
    const notFound = { reason: 'not_found' };
    for (const act of [
      find,
      (...on: [RegisteredApp, string, string?]) => change(on[0], on[1], REVOKE, on[2]),
    ]) {
      await expect(act(app, grantId, 'another')).rejects.toMatchObject(notFound);
      await expect(act(otherApp, grantId)).rejects.toMatchObject(notFound);
      await expect(act(otherApp, live.grantId)).rejects.toMatchObject(notFound);
      await expect(act(app, newId('grt'))).rejects.toMatchObject(notFound);
      await expect(act(liveApp, live.grantId, 'another')).rejects.toMatchObject(notFound);
    }
    expect(await find(app, grantId)).toMatchObject({ userId, scopes: [HEART, GLUCOSE] });
    expect((await statusOf(liveApp, live.grantId))?.status).toBe(1);
  });

  test('finds and changes nothing in a deployment that is no sandbox', async () => {
    await using production = await startConsent();
    const app = await registerApp(production, DEVELOPER);
    const { grantId } = await approve(production, app, newId('user'));
    const request = { clientId: app.clientId, grantId, change: REVOKE };
    const session = await production.session(DEVELOPER);
    const { asGateway } = production.sandbox;
    await expect(asGateway.findSandboxGrant(request, session)).rejects.toMatchObject({ reason: 'not_found' });
    await expect(asGateway.changeSandboxGrant(request, session)).rejects.toMatchObject({
      reason: 'not_found',
    });
    const { grants } = await production.asAuthorization.listAppGrants({ clientId: app.clientId });
    expect(grants[0]?.status).toBe(1);
  });
});

const CHECK_VIOLATION = '23514';

describe('a request of a sandbox app', () => {
  test('is not found by any person, not even by the developer of the app, in every way to decide it', async () => {
    const developer = newId('dev');
    const id = await openPending(consent, await registerApp(consent, developer, 'app_sandbox'));
    for (const person of ['ada', developer]) {
      const session = await consent.session(person);
      const { asGateway, asAuthorization } = consent;
      const ways: (() => Promise<unknown>)[] = [
        () => asGateway.getPendingApproval({ id }, session),
        () => asGateway.getPendingApproval({ id, withoutClaiming: true }, session),
        () => asAuthorization.approve({ id, allRequested: true }, session),
        () => asAuthorization.approve({ id, scopes: [HEART] }, session),
        () => asAuthorization.deny({ id }, session),
        () => asAuthorization.extendPendingApproval({ id }, session),
        () => asGateway.releasePendingApproval({ id }, session),
      ];
      for (const way of ways) await expect(way()).rejects.toMatchObject({ reason: 'not_found' });
      expect((await asGateway.listPendingApprovals({}, session)).total).toBe(0);
    }
    const rows = await consent.rows(
      'SELECT claimed_by, decision, grant_id FROM pending_approval WHERE id = $1',
      id,
    );
    expect(rows).toEqual([{ claimed_by: null, decision: null, grant_id: null }]);
  });
});

describe('the database refuses', () => {
  test.each([
    ['a person', 'a sandbox app', 'ada', 'app_sandbox_1'],
    ['a sandbox person', 'a live app', 'sandbox:app_sandbox_1:ada', 'app_1'],
    ['a sandbox person', 'another sandbox app', 'sandbox:app_sandbox_1:ada', 'app_sandbox_12'],
  ])('a grant and a claim of %s for %s', async (_person, _app, userId, clientId) => {
    const { grantId } = await approve(consent, await registerApp(consent), newId('user'));
    const change = [userId, clientId, grantId];
    for (const statement of [
      'UPDATE consent_grant SET user_id = $1, client_id = $2 WHERE id = $3',
      'UPDATE pending_approval SET claimed_by = $1, client_id = $2 WHERE grant_id = $3',
    ]) {
      await expect(consent.owner.query(statement, change)).rejects.toMatchObject({ code: CHECK_VIOLATION });
    }
  });
});

test('a session of a sandbox person is refused', async () => {
  const session = await consent.session('sandbox:app_sandbox_1:ada');
  await expect(consent.asGateway.listGrants({}, session)).rejects.toMatchObject({ reason: 'unauthorized' });
});
