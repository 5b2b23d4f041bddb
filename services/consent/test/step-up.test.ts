import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  HEART,
  openPending,
  type RegisteredApp,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';

const MOOD = 'read:mood';

let consent: RunningService;
let app: RegisteredApp;
beforeAll(async () => {
  consent = await startConsent({ settings: { STEP_UP_FOR: 'sensitive-approval', STEP_UP_ACR: 'gold' } });
  app = await registerApp(consent);
});
afterAll(async () => consent[Symbol.asyncDispose]());

/** Approves a request of this scope with the given choices. */
async function share(scope: string, acr: string, choices: { expiresInDays?: number; keepExpiry?: boolean }) {
  const id = await openPending(consent, app, [scope]);
  const session = await consent.session('ada', { acr });
  return { id, answer: consent.asAuthorization.approve({ id, scopes: [scope], ...choices }, session) };
}

test('a sensitive scope is shared first, and later longer, only by a sign-in that is enough', async () => {
  const first = await share(MOOD, 'silver', { expiresInDays: 30 });
  await expect(first.answer).rejects.toMatchObject({ reason: 'step_up_required' });
  expect(await (await share(MOOD, 'gold', { expiresInDays: 30 })).answer).toMatchObject({ scopes: [MOOD] });

  const longer = await share(HEART, 'silver', { expiresInDays: 365 });
  await expect(longer.answer).rejects.toMatchObject({ reason: 'step_up_required' });
  // Nothing was decided, so the same request can be approved after a sign-in that is enough, or with the present end.
  const kept = { id: longer.id, scopes: [HEART], keepExpiry: true };
  const approved = await consent.asAuthorization.approve(
    kept,
    await consent.session('ada', { acr: 'silver' }),
  );
  expect(approved.scopes).toEqual([HEART]);
});
