import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { approve, HEART, type RunningService, registerApp, startConsent } from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent();
});
afterAll(() => consent[Symbol.asyncDispose]());

const NOTHING = { appEpoch: 1, grantId: '', familyId: '', tokenHash: new Uint8Array() };

/** An app with a grant, and what it would ask. */
async function connect() {
  const app = await registerApp(consent);
  const grant = await approve(consent, app, 'ada', { requested: [HEART] });
  return { ...NOTHING, clientId: app.clientId, grantId: grant.grantId };
}

test('several checks in one call are answered in their order, each as if it were alone', async () => {
  const [first, second, unknown] = [await connect(), await connect(), { ...NOTHING, clientId: newId('app') }];
  await consent.ledger.setAppStatus({ clientId: second.clientId, status: AppStatus.SUSPENDED });
  const checks = [second, unknown, first, { ...first, grantId: second.grantId }, second];
  const { results } = await consent.ledger.checkLivenesses({ checks });
  expect(results).toEqual(await Promise.all(checks.map((check) => consent.ledger.checkLiveness(check))));
  expect(results.map(({ appAlive }) => appAlive)).toEqual([false, false, true, true, false]);
  expect(results.map(({ grant }) => grant?.status)).toEqual([
    GrantStatus.ACTIVE,
    undefined,
    GrantStatus.ACTIVE,
    undefined,
    GrantStatus.ACTIVE,
  ]);
});

test('no checks get no results', async () => {
  expect(await consent.ledger.checkLivenesses({ checks: [] })).toMatchObject({ results: [] });
});

test('one check that is not valid fails the call and names the field', async () => {
  const checks = [await connect(), { ...NOTHING, clientId: '' }];
  await expect(consent.ledger.checkLivenesses({ checks })).rejects.toMatchObject({
    reason: 'invalid_request',
    message: expect.stringContaining('clientId'),
  });
});

test('more than 64 checks are refused', async () => {
  const checks = Array.from({ length: 65 }, () => ({ ...NOTHING, clientId: newId('app') }));
  expect((await consent.ledger.checkLivenesses({ checks: checks.slice(1) })).results).toHaveLength(64);
  await expect(consent.ledger.checkLivenesses({ checks })).rejects.toMatchObject({
    reason: 'invalid_request',
    message: expect.stringContaining('at most 64'),
  });
});
