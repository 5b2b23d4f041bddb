import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AppError, type Reason, unauthorized, unavailable } from '@phds/service-kit/errors';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
const JSON_TYPE = { 'content-type': 'application/json' };
const PUBLIC_URL = 'http://localhost:8080';

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.backends.calls.length = 0;
  gateway.backends.answer({});
});

async function post(path: string, headers: Record<string, string>, body?: string) {
  const init = { method: 'POST', headers, ...(body === undefined ? {} : { body }) };
  const response = await gateway.fetch(`/oauth/${path}`, init);
  const text = await response.text();
  return { response, status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
}

const throwing =
  (reason: Reason, message = '') =>
  () => {
    throw reason === 'unauthorized' ? unauthorized() : new AppError(reason, message);
  };

describe('an authorization request', () => {
  const opened = () => ({ pendingId: 'apr_1', requestUri: 'urn:x:apr_1', expiresInSeconds: 600 });
  const body = JSON.stringify({
    client_id: 'app_1',
    redirect_uri: 'https://a.test/cb',
    scope: 'read:mood',
    state: 's t',
  });

  test.each(['authorize', 'par'])('POST /oauth/%s opens a pending approval', async (path) => {
    gateway.backends.answer({ openAuthorization: opened });
    const { response, status, body: answer } = await post(path, JSON_TYPE, body);
    expect([status, response.headers.get('location')]).toEqual([201, `${PUBLIC_URL}/approve/apr_1`]);
    expect(answer).toEqual({
      request_uri: 'urn:x:apr_1',
      expires_in: 600,
      approval_uri: `${PUBLIC_URL}/approve/apr_1`,
      pending_id: 'apr_1',
      status: 'pending',
    });
    expect(gateway.backends.callsOf('openAuthorization')[0]?.request).toMatchObject({
      requireAuthentication: path === 'par',
      frontChannel: false,
      state: 's t',
      scope: 'read:mood',
    });
  });

  test('a browser is led to the approval screen', async () => {
    gateway.backends.answer({ openAuthorization: opened });
    const accept = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const { response, status } = await post('authorize', { ...JSON_TYPE, ...accept }, body);
    expect([status, response.headers.get('location')]).toEqual([303, `${PUBLIC_URL}/approve/apr_1`]);
  });

  test('GET leads to the approval screen, or back to the app with an error', async () => {
    gateway.backends.answer({ openAuthorization: opened });
    const query =
      'client_id=app_1&redirect_uri=https%3A%2F%2Fa.test%2Fcb&scope=read:mood&response_type=code&state=s+t';
    const response = await gateway.fetch(`/oauth/authorize?${query}`);
    expect([response.status, response.headers.get('location')]).toEqual([303, `${PUBLIC_URL}/approve/apr_1`]);
    expect(gateway.backends.callsOf('openAuthorization')[0]?.request).toMatchObject({
      frontChannel: true,
      state: 's t',
    });
    gateway.backends.answer({
      openAuthorization: () => ({ errorRedirect: 'https://a.test/cb?error=invalid_scope' }),
    });
    const refused = await gateway.fetch(`/oauth/authorize?${query}`);
    expect(refused.headers.get('location')).toBe('https://a.test/cb?error=invalid_scope');
  });

  test('GET takes a request_uri', async () => {
    gateway.backends.answer({ resolveRequestUri: () => ({ pendingId: 'apr_2' }) });
    const response = await gateway.fetch('/oauth/authorize?client_id=app_1&request_uri=urn%3Ax%3Aapr_2');
    expect(response.headers.get('location')).toBe(`${PUBLIC_URL}/approve/apr_2`);
  });

  test('GET ends on one identical page whatever is wrong with client, redirect or form', async () => {
    gateway.backends.answer({
      openAuthorization: throwing('unauthorized'),
      resolveRequestUri: throwing('unauthorized'),
    });
    const queries = [
      '',
      'client_id=x',
      'client_id=x&client_id=x',
      'client_id=%zz',
      'client_id=a&request_uri=b',
    ];
    const pages = await Promise.all(
      queries.map(async (query) => {
        const response = await gateway.fetch(`/oauth/authorize?${query}`);
        const headers = [...response.headers].filter(([name]) => name !== 'date');
        return JSON.stringify([response.status, headers, await response.text()]);
      }),
    );
    expect(new Set(pages).size).toBe(1);
    expect(pages[0]).toMatch(/^\[400,.*text\/html/);
    gateway.backends.answer({
      openAuthorization: () => {
        throw unavailable();
      },
    });
    const away = await gateway.fetch('/oauth/authorize?client_id=x');
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1']);
  });

  test('GET after too many failures says when to come back', async () => {
    await using strict = await startTestGateway({ LIMIT_AUTH_FAILURES_PER_MINUTE: '1' });
    strict.backends.answer({ openAuthorization: throwing('unauthorized') });
    await strict.fetch('/oauth/authorize?client_id=x');
    const refused = await strict.fetch('/oauth/authorize?client_id=x');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
