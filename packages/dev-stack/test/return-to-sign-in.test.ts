import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type StartedProvider, startProvider } from './fixtures/started-provider.ts';

let provider: StartedProvider;

beforeEach(async () => {
  provider = await startProvider();
});

afterEach(async () => {
  await provider[Symbol.asyncDispose]();
});

function submit(query: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${provider.url}/sign-in?${query}`, {
    method: 'POST',
    body: 'user=ada',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    redirect: 'manual',
  });
}

test('the form sets a session cookie and returns to the previous page', async () => {
  const returnTo = 'http://localhost:8080/consent/apr_1?a=1&b=2';
  const query = new URLSearchParams({ return_to: returnTo }).toString();
  expect(await (await fetch(`${provider.url}/?${query}`)).text()).toContain('Ada Sommer');
  const response = await submit(query);
  expect([response.status, response.headers.get('location')]).toEqual([303, returnTo]);
  expect(response.headers.get('set-cookie')).toMatch(
    /^session=eyJ[^;]+; Max-Age=43200; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
  );
});

test.each([
  'https://localhost:8080/',
  'http://example.com/',
  'http://127.0.0.1:8080/',
  'http://localhost.example.com/',
  'http://me@localhost:8080/',
  'javascript:alert(1)',
  '//example.com',
  '/elsewhere',
])('the form never redirects to %s', async (returnTo) => {
  const query = new URLSearchParams({ return_to: returnTo }).toString();
  expect((await fetch(`${provider.url}/?${query}`)).status).toBe(400);
  const response = await submit(query);
  expect(response.status).toBe(400);
  expect(response.headers.get('set-cookie')).toBeNull();
});

test.each([{ Origin: 'http://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }])(
  'a form of another site is refused: %j',
  async (headers) => {
    const response = await submit('return_to=http://localhost:8080/', headers as Record<string, string>);
    expect(response.status).toBe(400);
    expect(response.headers.get('set-cookie')).toBeNull();
  },
);
