import { describe, expect, test } from '@jest/globals';
import {
  addQuery,
  findRedirectUriFault,
  findWebUrlFault,
  matchesRedirectUri,
  toRedirectHost,
} from '../src/redirect-uri.ts';

describe('a redirect URI is accepted', () => {
  test.each([
    'https://app.test/callback',
    'https://app.test',
    'https://app.test:8443/cb?tenant=7&x=%20',
    'https://xn--bcher-kva.test/cb',
    'https://192.0.2.7/cb',
    'http://localhost/cb',
    'http://localhost:3000/cb',
    'http://127.0.0.1:8080/cb?a=1',
    'http://[::1]/cb',
    'com.example.app:/callback',
    'com.example.app://callback',
    `https://app.test/${'x'.repeat(495)}`,
  ])('when it is %s', (uri) => {
    expect(findRedirectUriFault(uri)).toBeNull();
  });
});

describe('a redirect URI is refused', () => {
  test.each([
    '',
    'callback',
    '/callback',
    'http://app.test/cb',
    'http://localhost.evil.test/cb',
    'http://127.0.0.1:80@evil.test/cb',
    'http://127.1/cb',
    'http://localhost:0/cb',
    'https:app.test/cb',
    'https:///app.test/cb',
    'https://app.test:99999/cb',
    'https://user@app.test/cb',
    'https://app.test@evil.test/cb',
    'https://app.test/cb#fragment',
    'https://app.test/cb#',
    'https://*.app.test/cb',
    'https://app.test/*',
    'https://app.test/a/../cb',
    'https://app.test/a/%2e%2e/cb',
    'https://app.test\\@evil.test/',
    'https://app.test/c b',
    'https://app.test/cb\n',
    'https://app.test/cb\0',
    'https://app.test/%0d%0aSet-Cookie',
    'https://app.test/%7f',
    'https://app.test/%zz',
    'https://bücher.test/cb',
    'https://mychart.org%2eevil.example/cb',
    'https://%61pp.test/cb',
    'https://App.test/cb',
    'https://app.test:443/cb',
    'https://app.test:/cb',
    'https://0x7f.1/cb',
    'https://127.1/cb',
    'https://0300.0.2.7/cb',
    'https://192.0.2.7./cb',
    'https://[0:0:0:0:0:0:0:1]/cb',
    'https://mychart。evil.test/cb',
    'https://ｍychart.test/cb',
    'com.example.app://mychart.org%2eevil.example/cb',
    'https://app.test/"><script>',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'myapp://callback',
    'urn:ietf:wg:oauth:2.0:oob',
    'com.example.app:',
    'com.example.app://user@host/cb',
    `https://app.test/${'x'.repeat(496)}`,
  ])('when it is %j', (uri) => {
    expect(findRedirectUriFault(uri)).toEqual(expect.any(String));
  });
});

describe('a presented redirect URI', () => {
  test.each([
    ['https://app.test/cb', 'https://app.test/cb', true],
    ['https://app.test/cb', 'https://app.test/cb/', false],
    ['https://app.test/cb', 'https://app.test:443/cb', false],
    ['https://app.test/cb', 'https://APP.test/cb', false],
    ['https://app.test/cb', 'https://app.test/cb?x=1', false],
    ['https://localhost/cb', 'https://localhost:8443/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:49152/cb', true],
    ['http://127.0.0.1:3000/cb', 'http://127.0.0.1/cb', true],
    ['http://[::1]:3000/cb?a=1', 'http://[::1]:4000/cb?a=1', true],
    ['http://localhost:3000/cb', 'http://localhost:4000/other', false],
    ['http://localhost:3000/cb', 'http://127.0.0.1:3000/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:80@evil.test/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:0/cb', false],
    ['http://127.0.0.1/cb', 'https://127.0.0.1:3000/cb', false],
  ])('for %s, %s: %s', (registered, presented, matches) => {
    expect(matchesRedirectUri(registered, presented)).toBe(matches);
  });
});

test("parameters are appended to the URI's own query, which stays unchanged", () => {
  const state = 'a b&c';
  expect(addQuery('https://a.test', { state })).toBe('https://a.test?state=a%20b%26c');
  expect(addQuery('https://a.test/?x=%7e+1', { state })).toBe('https://a.test/?x=%7e+1&state=a%20b%26c');
  expect(addQuery('https://a.test/?', { state: null, iss: 'i' })).toBe('https://a.test/?iss=i');
  expect(addQuery('com.example.app:/cb', { code: 'c' })).toBe('com.example.app:/cb?code=c');
});

test.each([
  ['https://app.test:8443/cb?x=1', 'app.test:8443'],
  ['com.example.app:/cb', 'com.example.app'],
  ['https://mychart.org%2eevil.example/cb', 'mychart.org.evil.example'],
  ['https://MyChart.test/cb', 'mychart.test'],
  ['https://xn--bcher-kva.test/cb', 'xn--bcher-kva.test'],
  ['https://0x7f.1/cb', '127.0.0.1'],
  ['COM.example.app:/cb', 'com.example.app'],
])(
  'the approval screen shows the host, or the scheme, of %s as browsers resolve it, even if it was registered earlier',
  (uri, host) => {
    expect(toRedirectHost(uri)).toBe(host);
  },
);

test('a host that cannot be registered as written is refused with the form that can', () => {
  expect(findRedirectUriFault('https://bücher.test/cb')).toBe(
    'must name its host as browsers resolve it: xn--bcher-kva.test',
  );
  expect(findRedirectUriFault('https://App.test:443/cb')).toBe(
    'must name its host as browsers resolve it: app.test',
  );
  expect(findWebUrlFault('https://mychart.org%2eevil.example/')).toBe(
    'must name its host as browsers resolve it: mychart.org.evil.example',
  );
});

test('links of an app must be https URLs', () => {
  expect(findWebUrlFault('https://app.test/about#us')).toBeNull();
  expect(findWebUrlFault('http://localhost:3000/')).toBeNull();
  for (const url of [
    'app.test',
    'http://app.test',
    'javascript:alert(1)',
    'https://a@app.test',
    'https://a b',
  ])
    expect([url, findWebUrlFault(url)]).toEqual([url, expect.any(String)]);
});
