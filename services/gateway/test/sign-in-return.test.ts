import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { PUBLIC_URL } from './fake-openid-provider.ts';
import { type SignInGateway, startSignInGateway } from './sign-in-gateway.ts';
import { TestBrowser } from './test-browser.ts';

let at: SignInGateway;
beforeAll(async () => {
  at = await startSignInGateway();
});
afterAll(async () => at[Symbol.asyncDispose]());

let browser: TestBrowser;
beforeEach(() => {
  browser = new TestBrowser();
});

test.each([
  ['/apps', '/apps'],
  ['/history?from=2026-01-01&app=a%2Fb', '/history?from=2026-01-01&app=a%2Fb'],
  ['/a/../data', '/data'],
  ['/data#part', '/data'],
  ['/%2F%2Fevil.test', '/%2F%2Fevil.test'],
  ['/@evil.test', '/@evil.test'],
  ['', '/'],
  ['apps', '/'],
  ['https://evil.test/', '/'],
  ['https:evil.test', '/'],
  [`${PUBLIC_URL}.evil.test/`, '/'],
  [`${PUBLIC_URL}@evil.test/`, '/'],
  ['//evil.test', '/'],
  ['///evil.test', '/'],
  ['/\\evil.test', '/'],
  ['\\\\evil.test', '/'],
  ['\\/evil.test', '/'],
  ['/./\\evil.test', '/'],
  ['/.//evil.test', '/'],
  ['/x/..//evil.test', '/'],
  ['/%2e%2e//evil.test', '/'],
  ['/\t/evil.test', '/'],
  ['/\n/evil.test', '/'],
  ['\u0001//evil.test', '/'],
  [' //evil.test', '/'],
  ['/\u2028/evil.test', '/'],
  ['/\r\nSet-Cookie: x=1', '/'],
  ['javascript:alert(1)', '/'],
  ['data:text/html,x', '/'],
  ['/sign-in?return_to=/apps', '/'],
  ['/x/../sign-in', '/'],
  ['/sign-out', '/'],
  [`/${'x'.repeat(1_000)}`, '/'],
])('signing in with the return_to %j leads to our own %s', async (returnTo, path) => {
  const response = await at.signIn(browser, { parameters: { return_to: returnTo } });
  expect([response.status, response.headers.get('location')]).toEqual([303, PUBLIC_URL + path]);
});

test('return_to is the first one when it is given twice, and `/` when its escapes are bad', async () => {
  for (const [query, path] of [
    ['return_to=/apps&return_to=//evil.test', '/apps'],
    ['return_to=//evil.test&return_to=/apps', '/'],
    ['return_to=%2F%ff%2Fevil.test', '/'],
    ['return_to=%5C%5Cevil.test', '/'],
    ['return_to=%2F%2Fevil.test', '/'],
  ]) {
    const { headers } = await browser.open(at.gateway, `/sign-in?${query}`);
    const callback = at.provider.authorize(headers.get('location') ?? '', 'ada');
    const response = await browser.open(at.gateway, callback);
    expect([query, response.headers.get('location')]).toEqual([query, `${PUBLIC_URL}${path}`]);
  }
});
