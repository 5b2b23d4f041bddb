import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type Harness,
  HEART,
  REDIRECT_URI,
  refusalOf,
  SLEEP,
  startHarness,
  type TestApp,
} from './harness.ts';

let harness: Harness;
let app: TestApp;

beforeAll(async () => {
  harness = await startHarness();
  app = await harness.registerApp({ scopes: [HEART, SLEEP] });
});
afterAll(async () => harness[Symbol.asyncDispose]());

const BOTH = `${HEART} ${SLEEP}`;

const open = (
  neededScope: string,
  { scope = BOTH, client = app as Partial<TestApp>, frontChannel = false } = {},
) =>
  harness.authorizations.openAuthorization({
    client,
    redirectUri: REDIRECT_URI,
    scope,
    neededScope,
    frontChannel,
  });

const openedNeeds = async (...request: Parameters<typeof open>) =>
  harness.consent.pending.get((await open(...request)).pendingId)?.request.neededScopes;

test.each([
  ['', []],
  ['  ', []],
  [HEART, [HEART]],
  [`${SLEEP}  ${HEART} ${SLEEP}`, [HEART, SLEEP]],
])('the scopes that an authenticated app needs reach consent: %j', async (neededScope, scopes) => {
  expect(await openedNeeds(neededScope)).toEqual(scopes);
});

test.each([SLEEP, 'read:everything', `${HEART} ${SLEEP}`, HEART.toUpperCase(), 'read:*'])(
  'needed scopes that are not requested are refused by name: %j',
  async (neededScope) => {
    const refusal = await refusalOf(open(neededScope, { scope: HEART }));
    expect(refusal).toMatchObject({ reason: 'invalid_request', violations: [{ parameter: 'needed_scope' }] });
  },
);

test('needed scopes that are requested but unknown are an error of the requested ones', async () => {
  expect(await refusalOf(open('read:new', { scope: `${HEART} read:new` }))).toMatchObject({
    reason: 'invalid_scope',
  });
});

test.each([true, false])(
  "without the app's secret, needed scopes are neither sent to consent nor checked, in the front channel: %s",
  async (frontChannel) => {
    const client = { clientId: app.clientId };
    for (const neededScope of [HEART, 'read:everything']) {
      expect(await openedNeeds(neededScope, { client, frontChannel })).toEqual([]);
    }
  },
);
