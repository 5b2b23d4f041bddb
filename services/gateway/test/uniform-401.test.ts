import { describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { unauthorized } from '@phds/service-kit/errors';
import { newSecret } from '@phds/service-kit/secrets';
import type { Answers } from './fake-backends.ts';
import {
  exchangeRaw,
  liveToken,
  UNIFORM_PROBLEM as PROBLEM,
  shareTestGateway,
  startTestGateway,
} from './test-gateway.ts';

const gateway = shareTestGateway();
const refuse = () => {
  throw unauthorized('a cause that must not show');
};

const exchange = (head: string, body = '') => exchangeRaw(gateway.port, head, body);

const OAUTH = `HTTP/1.1 401 Unauthorized\r
Content-Type: application/json; charset=utf-8\r
WWW-Authenticate: Basic realm="phds"\r
Cache-Control: no-store\r
Pragma: no-cache\r
X-Content-Type-Options: nosniff\r
Content-Length: 100\r
Date: now\r
Connection: close\r
\r
{"error":"invalid_client","error_description":"Client authentication failed.","code":"UNAUTHORIZED"}`;

const HEART = 'GET /api/v1/health-data/heart HTTP/1.1';
const at = newSecret('access_token');

describe('under /api every cause gets the same bytes', () => {
  test.each<[string, string, Answers?]>([
    ['no credentials', HEART],
    ['an empty field', `${HEART}\r\nAuthorization: `],
    ['garbage', `${HEART}\r\nAuthorization: Bearer garbage`],
    ['a scheme of its own', `${HEART}\r\nAuthorization: Token ${at}`],
    ['Basic', `${HEART}\r\nAuthorization: Basic ${Buffer.from('a:b').toString('base64')}`],
    ['the field twice', `${HEART}\r\nAuthorization: Bearer ${at}\r\nAuthorization: Bearer ${at}`],
    ['a refresh token', `${HEART}\r\nAuthorization: Bearer ${newSecret('refresh_token')}`],
    ['a client secret', `${HEART}\r\nAuthorization: Bearer ${newSecret('client_secret')}`],
    ['a code', `${HEART}\r\nAuthorization: Bearer ${newSecret('authorization_code')}`],
    ['a token with a typo', `${HEART}\r\nAuthorization: Bearer ${at.slice(0, -1)}!`],
    ['a wrong checksum', `${HEART}\r\nAuthorization: Bearer ${at.slice(0, -6)}000000`],
    [
      'an unknown token',
      `${HEART}\r\nAuthorization: Bearer ${at}`,
      { introspect: () => ({ status: TokenStatus.DEAD }) },
    ],
    ['authorization refusing', `${HEART}\r\nAuthorization: Bearer ${at}`, { introspect: refuse }],
    [
      'the record step refusing',
      `${HEART}\r\nAuthorization: Bearer ${at}`,
      { introspect: () => liveToken(), read: refuse },
    ],
    ['an unknown route', 'GET /api/v1/nothing HTTP/1.1'],
    ['an unknown version', 'GET /api/v9/profile HTTP/1.1'],
    ['a version field', `${HEART}\r\nAPI-Version: 7`],
    ['another method', 'POST /api/v1/profile HTTP/1.1'],
    ['a method nobody knows', 'PURGE /api/v1/profile HTTP/1.1'],
    ['bad parameters', 'GET /api/v1/health-data/heart?page=%zz HTTP/1.1'],
    ['a bad percent escape in the path', 'GET /api/v1/medications/%zz/adherence HTTP/1.1'],
    ['an entity tag', `${HEART}\r\nIf-None-Match: *`],
    ['a URL beyond the cap', `GET /api/v1/${'x'.repeat(9_000)} HTTP/1.1`],
    ['a cookie', `${HEART}\r\nCookie: session=x`],
    ['a trace field', `${HEART}\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`],
  ])('%s', async (_, head, answers = {}) => {
    gateway.backends.answer(answers);
    expect(await exchange(head)).toBe(PROBLEM);
  });

  test('a session', async () => {
    const jwt = await gateway.sessions.issueSession('ada');
    expect(await exchange(`${HEART}\r\nAuthorization: Bearer ${jwt}`)).toBe(PROBLEM);
  });
});

describe('under /developer and /partner every cause gets the same bytes', () => {
  const APPS = 'GET /developer/apps HTTP/1.1';
  test.each<[string, string, string?]>([
    ['no session', APPS],
    ['a partner token', `${APPS}\r\nAuthorization: Bearer ${at}`],
    ['garbage', `${APPS}\r\nAuthorization: Bearer a.b.c`],
    ['a cookie of garbage', `${APPS}\r\nCookie: session=a.b.c`],
    ['an unknown route', 'GET /developer/nothing HTTP/1.1'],
    ['another method', 'DELETE /partner/consent/pending HTTP/1.1'],
    ['a body that is none', 'POST /developer/apps HTTP/1.1\r\nContent-Type: application/json', '{"name":'],
    ['a bad percent escape', 'GET /partner/consent/grants/%zz HTTP/1.1'],
  ])('%s', async (_, head, body = '') => {
    expect(await exchange(head, body)).toBe(PROBLEM);
  });

  test.each([
    ['expired', { expiresInSeconds: -1 }],
    ['of another kind of token', { typ: 'JWT' }],
  ])('a session %s', async (_, overrides) => {
    const jwt = await gateway.sessions.issueSession('ada', overrides);
    expect(await exchange(`${APPS}\r\nAuthorization: Bearer ${jwt}`)).toBe(PROBLEM);
  });

  test('a session that the called service refuses', async () => {
    gateway.backends.answer({ listApps: refuse });
    const jwt = await gateway.sessions.issueSession('ada');
    expect(await exchange(`${APPS}\r\nAuthorization: Bearer ${jwt}`)).toBe(PROBLEM);
  });

  test.each<[string, string, boolean]>([
    ['nothing that says where from', '', false],
    ['another origin', 'Origin: https://evil.test\r\n', false],
    ['our own origin', 'Origin: http://localhost:8080\r\n', true],
  ])('an unsafe method with the cookie and %s', async (_, fields, admitted) => {
    gateway.backends.answer({ rotateSecret: () => ({ clientSecret: 's', secretLast4: 'last' }) });
    const cookie = `Cookie: other=1; session=${await gateway.sessions.issueSession('ada')}`;
    const head = `POST /developer/apps/app_1/rotate-secret HTTP/1.1\r\n${fields}${cookie}`;
    const answer = await exchange(head);
    if (admitted) expect(answer).toContain('200 OK');
    else expect(answer).toBe(PROBLEM);
  });
});

describe('under /oauth every cause gets the same bytes', () => {
  const TOKEN = 'POST /oauth/token HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded';
  const basic = (text: string) => `Authorization: Basic ${Buffer.from(text).toString('base64')}`;
  test.each<[string, string, string]>([
    ['wrong credentials in the body', TOKEN, 'grant_type=client_credentials&client_id=app_1&client_secret=x'],
    ['an unknown client', TOKEN, 'grant_type=client_credentials&client_id=nobody&client_secret=x'],
    ['an empty secret', TOKEN, 'client_id=app_1&client_secret='],
    ['no credentials', TOKEN, 'grant_type=client_credentials'],
    ['no body', TOKEN, ''],
    ['JSON', 'POST /oauth/token HTTP/1.1\r\nContent-Type: application/json', '{"client_id":"app_1"}'],
    ['Basic', `${TOKEN}\r\n${basic('app_1:x')}`, 'grant_type=client_credentials'],
    ['Basic without a colon', `${TOKEN}\r\n${basic('app_1')}`, 'a=b'],
    ['Basic with a bad escape', `${TOKEN}\r\n${basic('app%zz:x')}`, 'a=b'],
    ['Basic that is not base64', `${TOKEN}\r\nAuthorization: Basic ***`, 'a=b'],
    ['Basic twice', `${TOKEN}\r\n${basic('a:b')}\r\n${basic('a:b')}`, 'a=b'],
    ['a bearer token', `${TOKEN}\r\nAuthorization: Bearer ${at}`, 'a=b'],
    ['revocation', 'POST /oauth/revoke HTTP/1.1\r\nContent-Type: application/json', '{"token":"x"}'],
    ['introspection', 'POST /oauth/introspect HTTP/1.1\r\nContent-Type: application/json', '{"token":"x"}'],
    [
      'an authorization request',
      'POST /oauth/authorize HTTP/1.1\r\nContent-Type: application/json',
      '{"client_id":"nobody"}',
    ],
    ['a pushed one', 'POST /oauth/par HTTP/1.1\r\nContent-Type: application/json', '{"client_id":"app_1"}'],
    ['own grants without a token', 'GET /oauth/grants HTTP/1.1', ''],
    ['own grants with a dead token', `GET /oauth/grants HTTP/1.1\r\nAuthorization: Bearer ${at}`, ''],
    [
      'one own grant with a dead token',
      `GET /oauth/grants/grt_1 HTTP/1.1\r\nAuthorization: Bearer ${at}`,
      '',
    ],
    ['the end of an own grant without a token', 'DELETE /oauth/grants/grt_1 HTTP/1.1', ''],
    [
      'the end of an own grant with a dead token',
      `DELETE /oauth/grants/grt_1 HTTP/1.1\r\nAuthorization: Bearer ${at}`,
      '',
    ],
    [
      'own grants with bad parameters',
      `GET /oauth/grants?page=0 HTTP/1.1\r\nAuthorization: Bearer ${at}`,
      '',
    ],
  ])('%s', async (_, head, body) => {
    gateway.backends.answer({
      issueToken: refuse,
      revokeToken: refuse,
      introspectOwnToken: refuse,
      openAuthorization: refuse,
      listOwnGrants: refuse,
      endOwnGrant: refuse,
    });
    expect(await exchange(head, body)).toBe(OAUTH);
  });
});

test('no failed authentication is answered before the minimum time', async () => {
  await using slow = await startTestGateway({}, { constants: { AUTH_FAILURE_FLOOR_MS: 600_000 } });
  slow.backends.answer({ issueToken: refuse, openAuthorization: refuse });
  await slow.fetch('/api/v1/profile');
  await slow.fetch('/developer/apps');
  await slow.fetch('/oauth/token', { method: 'POST', body: new URLSearchParams({ client_id: 'app_1' }) });
  await slow.fetch('/oauth/authorize');
  expect(slow.pauses).toHaveLength(4);
  for (const pause of slow.pauses) expect(pause).toBeGreaterThan(500_000);
});

test('the cause of a failure is in the security log alone', () => {
  const lines = gateway.log.join('').split('\n');
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((line) => line.includes('must not show') && !line.includes('"security":"'))).toEqual(
    [],
  );
});
