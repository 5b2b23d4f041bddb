import { beforeAll, expect, test } from '@jest/globals';
import { type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { toBasic } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { newSecret } from '@phds/service-kit/secrets';
import { makeBadSessions } from '../src/bad-sessions.ts';
import { type DeadTokens, endTokens } from '../src/dead-credentials.ts';
import { type RawRequest, sendRaw, withoutDate } from '../src/raw-http.ts';

// The uniform answer, byte for byte.
const BODY =
  '{"type":"/problems/unauthorized","title":"Unauthorized","status":401,"code":"UNAUTHORIZED","detail":"Authentication failed."}';
const HEART = '/api/v1/health-data/heart';

let stack: SharedStack;
let app: PartnerApp;
let session: string;
let tokens: DeadTokens;
let badSessions: Readonly<Record<string, string>>;

beforeAll(async () => {
  stack = await useSharedStack();
  const developer = await signIn(stack, 'developer');
  session = await signIn(stack, 'uniform-401-data-ada');
  app = await registerApp(stack.gateway, developer);
  tokens = await endTokens(app, developer, session);
  badSessions = await makeBadSessions(stack, 'uniform-401-data-ada');
});

type Cause = readonly [cause: string, request: RawRequest];

function bearer(token: string): [string, string] {
  return ['Authorization', `Bearer ${token}`];
}

/** Everything that can be wrong with `Authorization`, on any path. */
function badFields(good: string): Record<string, [string, string][]> {
  return {
    'no credentials': [],
    'an empty field': [['Authorization', '']],
    'a scheme without a token': [['Authorization', 'Bearer']],
    'a scheme and a space': [['Authorization', 'Bearer ']],
    'another scheme': [['Authorization', `Token ${good}`]],
    'the credential without a scheme': [['Authorization', good]],
    'the credentials of the client': [['Authorization', toBasic(app.clientId, app.clientSecret)]],
    'the right field twice': [bearer(good), bearer(good)],
    'a right and a wrong field': [bearer(good), bearer('phds_at_x')],
    'two tokens in one field': [['Authorization', `Bearer ${good}, Bearer ${good}`]],
    garbage: [bearer('garbage')],
    'garbage of many bytes': [bearer('A'.repeat(8_000))],
    'bytes that are no ASCII': [['Authorization', 'Bearer tökén']],
    'a truncated credential': [bearer(good.slice(0, -1))],
    'a credential with one letter changed': [
      bearer(`${good.slice(0, 20)}${good[20] === 'A' ? 'B' : 'A'}${good.slice(21)}`),
    ],
    'a credential and something more': [bearer(`${good}x`)],
    'a client secret': [bearer(app.clientSecret)],
    'an authorization code': [bearer(tokens.code)],
    'a refresh token': [bearer(tokens.live.refreshToken)],
    'a token in a cookie': [['Cookie', `access_token=${good}`]],
  };
}

function tokenCauses(): Cause[] {
  const dead = Object.entries(tokens.dead).map(([name, token]) => [name, [bearer(token)]] as const);
  const others: Record<string, [string, string][]> = {
    'an unknown token': [bearer(newSecret('access_token'))],
    'a broken checksum': [bearer(`${newSecret('access_token').slice(0, -6)}000000`)],
    'a session where a token belongs': [bearer(session)],
    'a session cookie where a token belongs': [['Cookie', `session=${session}`]],
  };
  const fields = [...Object.entries({ ...badFields(tokens.live.accessToken), ...others }), ...dead];
  return fields.map(([cause, headers]) => [cause, { path: HEART, headers }] as const);
}

function sessionCauses(): Cause[] {
  const bad = Object.entries(badSessions).map(([name, jwt]) => [name, [bearer(jwt)]] as const);
  const others: Record<string, [string, string][]> = {
    'a token where a session belongs': [bearer(tokens.live.accessToken)],
    'a token in the cookie of the session': [['Cookie', `session=${tokens.live.accessToken}`]],
    'two session cookies': [['Cookie', `session=${session}; session=${session}`]],
    'an empty session cookie': [['Cookie', 'session=']],
    'a session cookie beside a wrong field': [['Cookie', `session=${session}`], bearer('garbage')],
    'a session cookie of a name of another place': [['Cookie', `__Host-session=${session}`]],
  };
  const path = '/partner/consent/grants';
  const fields = [...Object.entries({ ...badFields(session), ...others }), ...bad];
  return fields.map(([cause, headers]) => [cause, { path, headers }] as const);
}

/** Requests of every kind without credentials: they must not disclose routes, methods or parameters. */
function placeCauses(): Cause[] {
  const json: [string, string] = ['Content-Type', 'application/json'];
  const cookie: [string, string] = ['Cookie', `session=${session}`];
  const broken = { headers: [json], body: '{"name":' };
  return [
    ['POST on a route for GET', { method: 'POST', path: HEART, headers: [json], body: '{}' }],
    ['PUT', { method: 'PUT', path: HEART }],
    ['DELETE', { method: 'DELETE', path: HEART }],
    ['OPTIONS', { method: 'OPTIONS', path: HEART, headers: [['Origin', 'https://elsewhere.example']] }],
    ['an unknown category', { path: '/api/v1/health-data/nothing' }],
    ['an unknown route', { path: '/api/v1/nothing' }],
    ['the root of the surface', { path: '/api' }],
    ['another version', { path: '/api/v2/profile' }],
    ['another version in the field', { path: '/api/v1/profile', headers: [['API-Version', '9']] }],
    ['a wrong parameter', { path: `${HEART}?page=-1&form=2020` }],
    ['a bad percent escape in the query', { path: `${HEART}?from=%zz` }],
    ['a bad percent escape in the path', { path: '/api/v1/medications/%zz/adherence' }],
    ['a token in the query', { path: `${HEART}?access_token=${tokens.live.accessToken}` }],
    ['a conditional request', { path: HEART, headers: [['If-None-Match', '*']] }],
    ['a browser', { path: HEART, headers: [['Accept', 'text/html']] }],
    ['/developer', { path: '/developer/apps' }],
    ['POST to /developer', { method: 'POST', path: '/developer/apps', headers: [json], body: '{}' }],
    ['broken JSON to /developer', { method: 'POST', path: '/developer/apps', ...broken }],
    ['an unknown route of /developer', { path: '/developer/nothing' }],
    ['an app of somebody else', { path: `/developer/apps/${app.clientId}` }],
    ['an app that does not exist', { path: '/developer/apps/app_0000000000000000000000' }],
    ['PATCH', { method: 'PATCH', path: `/developer/apps/${app.clientId}`, headers: [json], body: '{}' }],
    ['/partner', { path: '/partner/consent/pending' }],
    ['an unknown route of /partner', { path: '/partner/nothing' }],
    ['a grant', { method: 'DELETE', path: `/partner/consent/grants/${tokens.live.grantId}` }],
    ['a browser at /partner', { path: '/partner/consent/grants', headers: [['Accept', 'text/html']] }],
    [
      'a session cookie from another origin',
      {
        method: 'DELETE',
        path: `/partner/consent/grants/${tokens.live.grantId}`,
        headers: [cookie, ['Origin', 'https://elsewhere.example']],
      },
    ],
    [
      'a session cookie from another site',
      {
        method: 'POST',
        path: '/partner/consent/grants/revoke-all',
        headers: [cookie, ['Origin', stack.gateway], ['Sec-Fetch-Site', 'cross-site']],
      },
    ],
    ['a session cookie from nowhere', { method: 'POST', path: '/developer/apps', headers: [cookie] }],
  ];
}

test('every cause of a 401 on /api, /developer and /partner gets the same bytes except Date', async () => {
  const causes = [...tokenCauses(), ...sessionCauses(), ...placeCauses()];
  expect(causes.length).toBeGreaterThan(90);
  const causesOf = new Map<string, string[]>();
  for (const [cause, request] of causes) {
    const answer = withoutDate(await sendRaw(stack.gateway, request));
    causesOf.set(answer, [...(causesOf.get(answer) ?? []), cause]);
  }
  const expected = [
    'HTTP/1.1 401 Unauthorized',
    'Content-Type: application/problem+json',
    'WWW-Authenticate: Bearer realm="phds"',
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${BODY.length}`,
    'Connection: close',
    '',
    BODY,
  ].join('\r\n');
  expect([...causesOf].filter(([answer]) => answer !== expected)).toEqual([]);
  expect(causesOf.size).toBe(1);
});

test('the live credentials among the wrong ones are accepted', async () => {
  const read = await sendRaw(stack.gateway, { path: HEART, headers: [bearer(tokens.live.accessToken)] });
  expect(read).toMatch(/^HTTP\/1\.1 200 /);
  const list = await sendRaw(stack.gateway, { path: '/partner/consent/grants', headers: [bearer(session)] });
  expect(list).toMatch(/^HTTP\/1\.1 200 /);
});
