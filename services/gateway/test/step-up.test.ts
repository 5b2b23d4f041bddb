import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  expectNotAccepted,
  expectPage,
  SESSION,
  type SignInGateway,
  startSignInGateway,
} from './sign-in-gateway.ts';
import { TestBrowser } from './test-browser.ts';

const STEP_UP = { step_up: '1', return_to: '/signed-in' };

let at: SignInGateway;
beforeAll(async () => {
  at = await startSignInGateway({ STEP_UP_MAX_AGE_SECONDS: '300', STEP_UP_ACR: 'gold,phr' });
});
afterAll(async () => at[Symbol.asyncDispose]());

async function askedOf(gateway: SignInGateway, parameters: Readonly<Record<string, string>>) {
  const { searchParams } = new URL(await gateway.begin(new TestBrowser(), parameters));
  return [searchParams.get('max_age'), searchParams.get('acr_values')];
}

const signedIn = (secondsAgo: number) => Math.floor(at.gateway.clock.now().getTime() / 1000) - secondsAgo;

describe('a step-up', () => {
  test('asks the provider for the age and the strength of the settings', async () => {
    expect(await askedOf(at, STEP_UP)).toEqual(['300', 'gold phr']);
  });

  test('replaces the session', async () => {
    const browser = new TestBrowser();
    await at.signIn(browser);
    const before = browser.cookies.get(SESSION);
    const deviation = { claims: { auth_time: signedIn(0), acr: 'gold' } };
    expect((await at.signIn(browser, { parameters: STEP_UP, deviation })).status).toBe(303);
    expect(browser.cookies.get(SESSION)).not.toBe(before);
  });

  test.each([
    ['an older sign-in', () => signedIn(1_000)],
    ['a sign-in of an unknown time', () => undefined],
  ])('is not accepted when the provider answers with %s', async (_, authTime) => {
    const browser = new TestBrowser();
    const deviation = { claims: { auth_time: authTime() } };
    await expectNotAccepted(browser, await at.signIn(browser, { parameters: STEP_UP, deviation }));
  });
});

describe('a step-up that the provider answers with another acr', () => {
  test.each([undefined, 'bronze', 1])('shows a page that says so: %j', async (acr) => {
    const browser = new TestBrowser();
    const deviation = { claims: { acr } };
    const response = await at.signIn(browser, { parameters: STEP_UP, deviation });
    const page = await response.clone().text();
    await expectPage(browser, response, 403, 'confirm who you are in a stronger way');
    expect(page).toContain('href="/sign-in?return_to=%2Fsigned-in&amp;step_up=1"');
  });

  test('leaves the session as it was', async () => {
    const browser = new TestBrowser();
    await at.signIn(browser);
    const before = browser.cookies.get(SESSION);
    await at.signIn(browser, { parameters: STEP_UP, deviation: { claims: { acr: 'bronze' } } });
    expect(browser.cookies.get(SESSION)).toBe(before);
  });
});

test('an ordinary sign-in asks for neither, and may be old', async () => {
  expect(await askedOf(at, { return_to: '/apps' })).toEqual([null, null]);
  const deviation = { claims: { auth_time: signedIn(1_000) } };
  expect((await at.signIn(new TestBrowser(), { deviation })).status).toBe(303);
});

test('without the settings, a step-up is an ordinary sign-in', async () => {
  await using ordinary = await startSignInGateway();
  expect(await askedOf(ordinary, STEP_UP)).toEqual([null, null]);
});
