import { describe, expect, test } from '@jest/globals';
import { SandboxGrantChange } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { newId } from '@phds/service-kit/ids';
import { findGrant } from '../src/grant-rows.ts';
import { changeGrant } from '../src/sandbox.ts';
import { approve, GLUCOSE, HEART, type RegisteredApp, registerApp, shareConsent } from './running-service.ts';

const consent = await shareConsent({ settings: { SANDBOX: 'true' } });

const DEVELOPER = 'developer';
const { NARROW, REVOKE, EXPIRE } = SandboxGrantChange;
const registerOwnApp = () => registerApp(consent, DEVELOPER);
const connect = (app: RegisteredApp) => approve(consent, app, 'ada');

async function change(app: RegisteredApp, grantId: string, kind: SandboxGrantChange, as = DEVELOPER) {
  const request = { clientId: app.clientId, grantId, change: kind };
  return consent.as(as).changeSandboxGrant(request);
}

async function find(app: RegisteredApp, grantId: string, as = DEVELOPER) {
  const request = { clientId: app.clientId, grantId };
  return consent.as(as).findSandboxGrant(request);
}

async function statusOf({ clientId }: RegisteredApp, grantId: string) {
  const { grants } = await consent.asAuthorization.listAppGrants({ clientId });
  return grants.find(({ id }) => id === grantId);
}

describe('a trigger', () => {
  test('narrows by one scope until one is left', async () => {
    const app = await registerOwnApp();
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
    const app = await registerOwnApp();
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

  test('publishes that a grant expired before that is acknowledged', async () => {
    const { grantId, clientId } = await connect(await registerOwnApp());
    const grant = await findGrant(consent.owner, grantId, { clientId });
    if (grant === null) throw new Error('an approval without a grant');
    const told: unknown[] = [];
    const never = () => Promise.reject(new Error('not asked for'));
    const parts: Parameters<typeof changeGrant>[0] = {
      pools: { ordinary: consent.owner },
      grants: { narrow: never, revoke: never },
      change: async (_kind, run) => {
        const result = await run();
        told.push('acknowledged');
        return result;
      },
      evictions: { publish: ({ value }) => void told.push(value) },
    };
    expect(await changeGrant(parts, grant, 'expire')).toEqual({ changed: true });
    expect(told).toEqual([grantId, 'acknowledged']);
  });

  test('that is none is refused as invalid, also for an unknown grant', async () => {
    const app = await registerOwnApp();
    for (const kind of [SandboxGrantChange.UNSPECIFIED, 99]) {
      await expect(change(app, newId('grt'), kind)).rejects.toMatchObject({
        reason: 'invalid_request',
        violations: [{ parameter: 'change' }],
      });
    }
  });

  test("is refused for another developer and for another app's grant", async () => {
    const app = await registerOwnApp();
    const { grantId, userId } = await connect(app);
    const otherApp = await registerOwnApp();
    const other = await connect(otherApp);
    const notFound = { reason: 'not_found' };
    for (const act of [
      find,
      (...on: [RegisteredApp, string, string?]) => change(on[0], on[1], REVOKE, on[2]),
    ]) {
      await expect(act(app, grantId, 'another')).rejects.toMatchObject(notFound);
      await expect(act(otherApp, grantId)).rejects.toMatchObject(notFound);
      await expect(act(app, other.grantId)).rejects.toMatchObject(notFound);
      await expect(act(app, newId('grt'))).rejects.toMatchObject(notFound);
    }
    expect(await find(app, grantId)).toMatchObject({ userId, scopes: [HEART, GLUCOSE] });
    expect((await statusOf(otherApp, other.grantId))?.status).toBe(1);
  });
});
