import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Harness, HEART, ISSUER, REDIRECT_URI, startHarness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => harness[Symbol.asyncDispose]());

const REQUEST = 'eyJhbGciOiJub25lIn0.e30.';
const FILE = 'https://app.test/request.jwt';

test.each([
  ['request_not_supported', { request: REQUEST, scope: HEART }],
  ['request_not_supported', { request: REQUEST }],
  ['request_uri_not_supported', { requestUri: FILE, scope: HEART }],
  ['invalid_request', { request: REQUEST, requestUri: FILE, scope: HEART }],
])('a browser returns to the app with %s after %j', async (error, objects) => {
  const { clientId } = await harness.registerApp();
  const { errorRedirect } = await harness.authorizations.openAuthorization({
    client: { clientId },
    frontChannel: true,
    redirectUri: REDIRECT_URI,
    state: 's',
    ...objects,
  });
  const { searchParams } = new URL(errorRedirect);
  expect(['error', 'state', 'iss'].map((name) => searchParams.get(name))).toEqual([error, 's', ISSUER]);
});
