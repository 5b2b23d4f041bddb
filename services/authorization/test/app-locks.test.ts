import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AppLockKind, AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { type Harness, reasonOf, startHarness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
});

const find = async (clientId: string) =>
  (await harness.apps.getApp({ clientId }, await harness.as('dev'))).app;
const setStatus = async (clientId: string, status: AppStatus) =>
  harness.apps.setAppStatus({ clientId, status }, await harness.as('dev'));

describe('the lock of an operator', () => {
  test('that only reached the ledger holds, and a repeat completes it', async () => {
    const { clientId } = await harness.registerApp();
    const suspend = () => harness.operatedApps.suspendApp({ clientId, reason: 'No answer.' });
    harness.consent.lost.add('setAppLock');
    expect(await reasonOf(suspend())).toBe('unavailable');
    harness.consent.lost.clear();
    expect(await reasonOf(setStatus(clientId, AppStatus.ACTIVE))).toBe('conflict');
    await suspend();
    expect((await find(clientId))?.lock?.reason).toBe('No answer.');
  });

  test('holds when the ledger was restored to a state without it', async () => {
    const { clientId } = await harness.registerApp();
    const before = { ...harness.consent.app(clientId) };
    await harness.operatedApps.suspendApp({ clientId, reason: 'No answer.' });
    harness.consent.apps.set(clientId, before);
    expect(await reasonOf(setStatus(clientId, AppStatus.ACTIVE))).toBe('conflict');
  });

  test('is lifted only as what it is, and needs a reason that can be shown', async () => {
    const { clientId } = await harness.registerApp();
    await harness.operatedApps.suspendApp({ clientId, reason: 'No answer.' });
    const seenUpdatedAt = (await find(clientId))?.updatedAt ?? { seconds: 0n, nanos: 0 };
    const approval = { clientId, kind: AppLockKind.APPROVAL, seenUpdatedAt };
    expect(await reasonOf(harness.operatedApps.liftAppLock(approval))).toBe('conflict');
    for (const reason of ['', ' ', 'x'.repeat(501), 'two\nlines']) {
      expect(await reasonOf(harness.operatedApps.suspendApp({ clientId, reason }))).toBe('invalid_request');
    }
    const unknown = { clientId: 'app_0000000000000000000000', reason: 'x' };
    expect(await reasonOf(harness.operatedApps.suspendApp(unknown))).toBe('not_found');
  });
});
