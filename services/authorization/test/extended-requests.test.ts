import { timestampDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@phds/service-kit/ids';
import { type Harness, HEART, REDIRECT_URI, reasonOf, startHarness, type TestApp } from './harness.ts';

let harness: Harness;
let app: TestApp;

beforeAll(async () => {
  harness = await startHarness();
  app = await harness.registerApp();
});
afterAll(async () => harness[Symbol.asyncDispose]());

const open = () =>
  harness.authorizations.openAuthorization({ client: app, redirectUri: REDIRECT_URI, scope: HEART });
const extend = async (pendingId: string, userId = 'ada') =>
  harness.authorizations.extendAuthorization({ pendingId }, await harness.as(userId));
const resolve = (requestUri: string) =>
  harness.authorizations.resolveRequestUri({ clientId: app.clientId, requestUri });
const approve = async (pendingId: string) =>
  harness.authorizations.completeAuthorization({ pendingId, allRequested: true }, await harness.as('ada'));

test('an extended request has a request_uri until its new end, and gives a code that can be exchanged', async () => {
  const { pendingId, requestUri } = await open();
  for (let count = 0; count < 3; count += 1) {
    harness.clock.advance(590_000);
    const { expiresAt } = await extend(pendingId);
    expect(expiresAt && timestampDate(expiresAt).getTime()).toBe(harness.clock.now().getTime() + 600_000);
  }
  harness.clock.advance(599_000);
  expect((await resolve(requestUri)).pendingId).toBe(pendingId);
  const { redirectUri } = await approve(pendingId);
  const code = new URL(redirectUri).searchParams.get('code') ?? '';
  expect((await harness.exchange(app, code)).accessToken).toMatch(/^phds_at_/);
  harness.clock.advance(1_000);
  expect(await reasonOf(resolve(requestUri))).toBe('unauthorized');
});

test('without an extension both end after 600 seconds', async () => {
  const { pendingId, requestUri } = await open();
  harness.clock.advance(600_000);
  expect(await reasonOf(extend(pendingId))).toBe('pending_expired');
  expect(await reasonOf(resolve(requestUri))).toBe('unauthorized');
  expect(await reasonOf(approve(pendingId))).toBe('pending_expired');
});

test('a refused extension leaves the end of the request_uri', async () => {
  const { pendingId, requestUri } = await open();
  harness.clock.advance(300_000);
  harness.consent.refused.set('extendPendingApproval', 'conflict');
  expect(await reasonOf(extend(pendingId))).toBe('conflict');
  harness.consent.refused.clear();
  harness.clock.advance(300_000);
  expect(await reasonOf(resolve(requestUri))).toBe('unauthorized');
});

test('extending needs a session, and finds neither unknown requests nor those of another person', async () => {
  const { pendingId } = await open();
  await extend(pendingId);
  expect(await reasonOf(harness.authorizations.extendAuthorization({ pendingId }))).toBe('unauthorized');
  for (const id of [pendingId, newId('apr'), 'nonsense']) {
    expect(await reasonOf(extend(id, 'grace'))).toBe('not_found');
  }
});
