import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { Harness, TestApp } from './harness.ts';
import { reasonOf, startHarness } from './harness.ts';

const { ACTIVE, REVOKED, SUSPENDED } = AppStatus;

let harness: Harness;
let app: TestApp;

beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(async () => {
  app = await harness.registerApp();
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
});

const setStatus = async (status: AppStatus) =>
  harness.apps.setAppStatus({ clientId: app.clientId, status }, await harness.as('dev'));
const readStatus = async () => {
  const { app: read } = await harness.apps.getApp({ clientId: app.clientId }, await harness.as('dev'));
  return read?.status;
};
const inLedger = () => harness.consent.apps.get(app.clientId)!;

/** Restores the ledger from a backup made right after the registration. */
function restoreLedger(): void {
  Object.assign(inLedger(), { status: ACTIVE, epoch: 1, revision: 1 });
}

test.each([
  ['suspended', [SUSPENDED, ACTIVE], SUSPENDED],
  ['revoked', [SUSPENDED, ACTIVE], REVOKED],
  ['active, which the restored ledger says already', [SUSPENDED], ACTIVE],
  ['active after it was revoked', [REVOKED], ACTIVE],
])(
  'an app is set %s here too when the ledger was restored to a state before its changes',
  async (_name, changes, status) => {
    for (const change of changes) await setStatus(change);
    restoreLedger();
    expect((await setStatus(status)).status).toBe(status);
    expect(await readStatus()).toBe(status);
    expect(inLedger().status).toBe(status);
  },
);

test('a revoked app regains nothing through changes of status on a restored ledger', async () => {
  const issued = await harness.exchange(app, await harness.obtainCode(app));
  await setStatus(REVOKED);
  restoreLedger();
  await setStatus(SUSPENDED);
  await setStatus(ACTIVE);
  expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.DEAD);
  expect(inLedger().epoch).toBe(2);
});

test('an epoch never decreases here, even when the ledger fails during a change', async () => {
  const issued = await harness.exchange(app, await harness.obtainCode(app));
  await setStatus(REVOKED);
  Object.assign(inLedger(), { status: ACTIVE, epoch: 1, revision: 7 });
  // Its first response is adopted here; a second one does not arrive.
  jest.spyOn(harness.consent, 'leave').mockImplementationOnce((rpc, answer) => {
    harness.consent.away.add(rpc);
    return answer;
  });
  expect(await reasonOf(setStatus(ACTIVE))).toBe('unavailable');
  harness.consent.away.clear();
  expect(await readStatus()).toBe(ACTIVE);
  expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.DEAD);
});
