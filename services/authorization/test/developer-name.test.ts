import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Harness } from './harness.ts';
import { REDIRECT_URI, refusalOf, startHarness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
});

const register = async (settings: object, owner: string) =>
  harness.apps.registerApp(
    { settings: { name: 'App', redirectUris: [REDIRECT_URI], ...settings } },
    await harness.as(owner),
  );

test('an app takes the name of its developer by the rules of the app’s name, and reports it to consent with the description, also when they are removed', async () => {
  const { app } = await register({ developerName: ' Pulse GmbH ', description: 'Draws a\ndiary.' }, 'amy');
  expect(app).toMatchObject({ developerName: 'Pulse GmbH', description: 'Draws a\ndiary.' });
  const profileAtConsent = () => harness.consent.apps.get(app!.clientId)?.profile;
  expect(profileAtConsent()).toMatchObject({
    developerName: 'Pulse GmbH',
    description: 'Draws a\ndiary.',
  });
  for (const developerName of ['a\u202eb', 'One\nTwo', '···']) {
    const refusal = await refusalOf(register({ developerName }, 'amy'));
    expect(refusal.violations.map(({ parameter }) => parameter)).toEqual(['developerName']);
  }
  const settings = { developerName: '', description: '' };
  await harness.apps.updateApp({ clientId: app!.clientId, settings }, await harness.as('amy'));
  // Sent although it is empty: an absent text would mean that it is not known.
  expect(profileAtConsent()).toMatchObject({ developerName: '', description: '' });
});
