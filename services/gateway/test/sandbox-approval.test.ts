import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { notFound, unavailable } from '@phds/service-kit/errors';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
let session: string;

const CLIENT = 'app_sandbox_1';
const REQUEST_URI = 'urn:ietf:params:oauth:request_uri:apr_1';
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const QUERY = `client_id=${CLIENT}&redirect_uri=https%3A%2F%2Fa.test%2Fcb&scope=read:mood&login_hint=ben`;
const CALLBACK = 'https://a.test/cb?code=c&state=s';
const USER = `sandbox:${CLIENT}:ben`;

beforeAll(async () => {
  gateway = await startTestGateway();
  session = await gateway.sessions.issueSession('dev', { expiresInSeconds: 86_400 });
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.backends.calls.length = 0;
  answer();
});

const opened = () => ({ pendingId: 'apr_1', requestUri: REQUEST_URI, expiresInSeconds: 600 });
const completed = (redirectUri = CALLBACK, userId = USER) => ({
  redirectUri,
  redirectHost: new URL(redirectUri).host,
  userId,
});

function answer(more: object = {}) {
  gateway.backends.answer({
    openAuthorization: opened,
    resolveRequestUri: () => ({ pendingId: 'apr_1' }),
    completeSandboxAuthorization: () => completed(),
    ...more,
  });
}

const open = (query = QUERY, headers: Record<string, string> = {}) =>
  gateway.fetch(`/oauth/authorize?${query}`, { headers, redirect: 'manual' });

describe('opening the approval link of a sandbox app', () => {
  test.each([
    ['with the parameters', QUERY],
    ['with a pushed request', `client_id=${CLIENT}&request_uri=${encodeURIComponent(REQUEST_URI)}`],
  ])('%s returns to the app at once, after the data of the person is made', async (_, query) => {
    const response = await open(query);
    expect([response.status, response.headers.get('location')]).toEqual([303, CALLBACK]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(gateway.backends.calls.map(({ rpc }) => rpc).slice(1)).toEqual([
      'completeSandboxAuthorization',
      'prepareSandboxPerson',
    ]);
    expect(gateway.backends.callsOf('completeSandboxAuthorization')[0]?.request).toMatchObject({
      clientId: CLIENT,
      pendingId: 'apr_1',
    });
    expect(gateway.backends.callsOf('prepareSandboxPerson')[0]?.request).toMatchObject({ userId: USER });
  });

  test('passes login_hint on, and for a live app too, which still gets the approval screen', async () => {
    await open();
    const live = await open(QUERY.replace(CLIENT, 'app_1'));
    expect(live.headers.get('location')).toMatch(/\/approve\/apr_1$/);
    const hints = gateway.backends.callsOf('openAuthorization').map(({ request }) => request['loginHint']);
    expect(hints).toEqual(['ben', 'ben']);
    expect(gateway.backends.callsOf('completeSandboxAuthorization')).toHaveLength(1);
  });

  test('returns a denial without making any data', async () => {
    const denied = 'https://a.test/cb?error=access_denied&state=s';
    answer({ completeSandboxAuthorization: () => completed(denied, '') });
    expect((await open()).headers.get('location')).toBe(denied);
    expect(gateway.backends.callsOf('prepareSandboxPerson')).toEqual([]);
  });

  test('shows a stranger in a browser where the link leads, instead of sending them there', async () => {
    const response = await open(QUERY, BROWSER);
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain('made-up people');
    expect(text).toContain('<strong>a.test</strong>');
    expect(text).toContain('href="https://a.test/cb?code=c&amp;state=s"');
    const german = await open(QUERY, { ...BROWSER, 'accept-language': 'de' });
    expect(await german.text()).toContain('erfundene');
  });

  test.each(['http://localhost:9999/cb?code=c', 'http://127.0.0.1:1/cb?code=c', 'http://[::1]:1/cb?code=c'])(
    'returns a browser to the own computer (%s) at once',
    async (uri) => {
      answer({ completeSandboxAuthorization: () => completed(uri) });
      const response = await open(QUERY, BROWSER);
      expect([response.status, response.headers.get('location')]).toEqual([303, uri]);
    },
  );

  test("returns the browser of the app's developer at once, and nobody else's", async () => {
    const cookie = { ...BROWSER, cookie: `session=${session}` };
    expect((await open(QUERY, cookie)).status).toBe(303);
    expect(gateway.backends.callsOf('getApp')[0]).toMatchObject({ session, request: { clientId: CLIENT } });
    const other = { getApp: () => Promise.reject(notFound()) };
    answer(other);
    expect((await open(QUERY, cookie)).status).toBe(200);
    answer({ getApp: () => Promise.reject(unavailable()) });
    expect((await open(QUERY, cookie)).status).toBe(200);
  });

  test('is limited by address with a pushed request too, which makes data, and not for a live app', async () => {
    await using limited = await startTestGateway({ LIMIT_ANONYMOUS_AUTHORIZATIONS_PER_MINUTE: '2' });
    limited.backends.answer({
      resolveRequestUri: () => ({ pendingId: 'apr_1' }),
      completeSandboxAuthorization: () => completed(),
    });
    const statuses = async (clientId: string) => {
      const query = new URLSearchParams({ client_id: clientId, request_uri: REQUEST_URI });
      const opening = () => limited.fetch(`/oauth/authorize?${query}`, { redirect: 'manual' });
      return [(await opening()).status, (await opening()).status, (await opening()).status];
    };
    expect(await statuses(CLIENT)).toEqual([303, 303, 429]);
    expect(limited.backends.callsOf('prepareSandboxPerson')).toHaveLength(2);
    expect(await statuses('app_1')).toEqual([303, 303, 303]);
  });

  test('says to try again when the data cannot be made', async () => {
    answer({ prepareSandboxPerson: () => Promise.reject(unavailable()) });
    expect((await open()).status).toBe(503);
  });
});

test.each(['authorize', 'par'])('POST /oauth/%s names a link that approves at once', async (path) => {
  answer({ authenticateClient: () => ({ clientId: CLIENT }) });
  const body = JSON.stringify({
    client_id: CLIENT,
    client_secret: 's',
    scope: 'read:mood',
    login_hint: 'dora',
  });
  const headers = { 'content-type': 'application/json' };
  const response = await gateway.fetch(`/oauth/${path}`, { method: 'POST', headers, body });
  expect(response.status).toBe(201);
  const { approval_uri: uri } = (await response.json()) as { approval_uri: string };
  expect(uri).toBe(
    `http://localhost:8080/oauth/authorize?client_id=${CLIENT}&request_uri=${encodeURIComponent(REQUEST_URI)}`,
  );
  expect(response.headers.get('location')).toBe(uri);
  expect(gateway.backends.callsOf('openAuthorization')[0]?.request).toMatchObject({ loginHint: 'dora' });
});
