import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type Harness,
  HEART,
  REDIRECT_URI,
  reasonOf,
  refusalOf,
  startHarness,
  type TestApp,
} from './harness.ts';

let harness: Harness;
let app: TestApp;

beforeAll(async () => {
  harness = await startHarness();
  app = await harness.registerApp();
});
afterAll(async () => harness[Symbol.asyncDispose]());
beforeEach(() => {
  harness.consent.revision = 'first';
});

async function open(): Promise<string> {
  const request = { client: app, redirectUri: REDIRECT_URI, scope: HEART };
  return (await harness.authorizations.openAuthorization(request)).pendingId;
}

const approve = async (pendingId: string, revision: string) =>
  harness.authorizations.completeAuthorization(
    { pendingId, allRequested: true, revision },
    await harness.as('ada'),
  );

test("an approval about terms that have changed is refused with consent's text, and makes neither grant nor code", async () => {
  const pendingId = await open();
  const grants = harness.consent.grants.size;
  harness.consent.revision = 'second';
  const refusal = await refusalOf(approve(pendingId, 'first'));
  expect(refusal).toMatchObject({ reason: 'conflict', message: 'What you share has changed.' });
  expect(harness.consent.grants.size).toBe(grants);
  const { redirectUri } = await approve(pendingId, 'second');
  expect(new URL(redirectUri).searchParams.get('code')).toMatch(/^phds_ac_/);
});

test('an approval whose answer was lost can be repeated after the terms have changed by it', async () => {
  const pendingId = await open();
  harness.consent.lost.add('approve');
  expect(await reasonOf(approve(pendingId, 'first'))).toBe('unavailable');
  harness.consent.lost.clear();
  harness.consent.revision = 'second';
  const { redirectUri } = await approve(pendingId, 'first');
  expect((await approve(pendingId, 'first')).redirectUri).toBe(redirectUri);
});

test('an approval that does not say what was shown is accepted', async () => {
  expect((await approve(await open(), '')).scopes).toEqual([HEART]);
});
