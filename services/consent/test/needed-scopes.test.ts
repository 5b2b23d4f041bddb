import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Need } from '@phds/contracts/phds/consent/v1/consent_pb';
import { newId } from '@phds/service-kit/ids';
import {
  GLUCOSE,
  HEART,
  MOOD,
  type RegisteredApp,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;
let app: RegisteredApp;

beforeAll(async () => {
  consent = await startConsent();
  app = await registerApp(consent);
});
afterAll(() => consent[Symbol.asyncDispose]());

async function open(neededScopes: string[], clientAuthenticated = true): Promise<string> {
  const id = newId('apr');
  await consent.asAuthorization.openPendingApproval({
    id,
    app,
    appEpoch: app.epoch,
    redirectHost: 'pulse.test',
    scopes: [MOOD, GLUCOSE, HEART],
    neededScopes,
    clientAuthenticated,
  });
  return id;
}

async function needsOf(id: string) {
  const session = await consent.session('reader');
  const { pendingApproval } = await consent.asGateway.getPendingApproval({ id }, session);
  return pendingApproval?.requestedScopes.map(({ scope, need }) => [scope, need]);
}

test('a request shows which scopes the app needs and that the others are optional', async () => {
  expect(await needsOf(await open([MOOD, HEART]))).toEqual([
    [HEART, Need.NEEDED],
    [GLUCOSE, Need.OPTIONAL],
    [MOOD, Need.NEEDED],
  ]);
});

test('a request whose app does not say shows nothing about any scope', async () => {
  expect(await needsOf(await open([]))).toEqual(
    [HEART, GLUCOSE, MOOD].map((scope) => [scope, Need.UNSPECIFIED]),
  );
});

test("without the app's secret, what it needs is neither stored nor shown", async () => {
  const id = await open([HEART], false);
  const { rows } = await consent.owner.query('SELECT needed_scopes FROM pending_approval WHERE id = $1', [
    id,
  ]);
  expect(rows).toEqual([{ needed_scopes: [] }]);
  expect((await needsOf(id))?.map(([, need]) => need)).toEqual(Array(3).fill(Need.UNSPECIFIED));
});

test('what an app needs must be requested', async () => {
  await expect(open(['read:ehr'])).rejects.toMatchObject({
    reason: 'invalid_request',
    violations: [{ parameter: 'neededScopes', message: 'not requested: read:ehr' }],
  });
});

test('a person may approve without what the app needs', async () => {
  const id = await open([HEART]);
  const session = await consent.session('picky');
  expect((await consent.asAuthorization.approve({ id, scopes: [MOOD] }, session)).scopes).toEqual([MOOD]);
});
