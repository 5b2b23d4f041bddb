import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FakeGrant } from './fake-consent.ts';
import { type Harness, HEART, REDIRECT_URI, reasonOf, SLEEP, startHarness, type TestApp } from './harness.ts';

const MOOD = 'read:mood';
const ALL = `${HEART} ${SLEEP} ${MOOD}`;

let harness: Harness;
let app: TestApp;

beforeAll(async () => {
  harness = await startHarness();
  app = await harness.registerApp();
});
afterAll(async () => harness[Symbol.asyncDispose]());

/** The person approves mood, and shares heart and sleep already. */
const widen = (): FakeGrant => {
  const grant = [...harness.consent.grants.values()].at(-1)!;
  grant.scopes = [HEART, SLEEP, MOOD];
  return grant;
};
const scopesOf = async (token: string) => (await harness.introspect(token)).principal?.scopes.join(' ');

describe('a refresh after the person has approved more', () => {
  const start = async () => harness.exchange(app, await harness.obtainCode(app));

  test('without scope opens all that the grant has, whatever the family began with', async () => {
    const first = await start();
    widen();
    const second = await harness.refresh(app, first.refreshToken);
    expect([second.scope, await scopesOf(second.accessToken)]).toEqual([ALL, ALL]);
    const own = await harness.tokens.introspectOwnToken({ client: app, token: second.refreshToken });
    expect(own.scope).toBe(ALL);
  });

  test('with scope opens what it names, also new scopes, and nothing that the grant does not have', async () => {
    const first = await start();
    widen();
    const refused = harness.refresh(app, first.refreshToken, `${MOOD} read:profile`);
    expect(await reasonOf(refused)).toBe('invalid_scope');
    const second = await harness.refresh(app, first.refreshToken, MOOD);
    expect([second.scope, await scopesOf(second.accessToken)]).toEqual([MOOD, MOOD]);
    expect((await harness.refresh(app, second.refreshToken)).scope).toBe(ALL);
  });

  test('can be repeated without scope when the grant was widened in between, with the same pair and scope', async () => {
    const first = await start();
    const second = await harness.refresh(app, first.refreshToken);
    widen();
    const again = await harness.refresh(app, first.refreshToken);
    expect(again).toMatchObject({ accessToken: second.accessToken, scope: `${HEART} ${SLEEP}` });
    expect(await reasonOf(harness.refresh(app, first.refreshToken, MOOD))).toBe('invalid_scope');
  });
});

describe('an exchange after the person has approved more', () => {
  const obtain = async (include: string | undefined) => {
    const asked = include === undefined ? {} : { includeGrantedScopes: include };
    const request = { client: app, redirectUri: REDIRECT_URI, scope: MOOD, ...asked };
    const { pendingId } = await harness.authorizations.openAuthorization(request);
    const decision = { pendingId, allRequested: true };
    const done = await harness.authorizations.completeAuthorization(decision, await harness.as('ada'));
    widen();
    return harness.exchange(app, new URL(done.redirectUri).searchParams.get('code') ?? '');
  };

  test.each([
    ['all that the grant has, with include_granted_scopes', 'true', ALL],
    ['only what was approved, with include_granted_scopes=false', 'false', MOOD],
    ['only what was approved, without include_granted_scopes', undefined, MOOD],
  ])('opens %s', async (_, include, scope) => {
    const issued = await obtain(include);
    expect([issued.scope, await scopesOf(issued.accessToken)]).toEqual([scope, scope]);
  });

  test('is not possible with another value of include_granted_scopes', async () => {
    expect(await reasonOf(obtain('yes'))).toBe('invalid_request');
  });
});
