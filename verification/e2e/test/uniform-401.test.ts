import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send, toBasic } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { newId } from '@phds/service-kit/ids';
import { newSecret } from '@phds/service-kit/secrets';
import { type DeadTokens, endTokens, makeBadSessions, setStatus } from '../src/bad-credentials.ts';
import { type RawRequest, sendRaw, withoutDate } from '../src/raw-http.ts';

const HEART = '/api/v1/health-data/heart';
const SCOPE = 'read:health-data:heart';
const TOKEN_FOR_BASIC = 'a token where Basic belongs';

type Fields = Readonly<Record<string, string>>;

let stack: SharedStack;
let developer: string;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
});

type Cause = readonly [cause: string, request: RawRequest];

/** Expects the same bytes, except Date, for every cause. */
async function expectSameBytes(causes: readonly Cause[], fields: readonly string[], body: string) {
  const expected = [
    'HTTP/1.1 401 Unauthorized',
    ...fields,
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${body.length}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
  const others: string[] = [];
  for (const [cause, request] of causes) {
    const answer = withoutDate(await sendRaw(stack.gateway, request));
    if (answer !== expected) others.push(`${cause}: ${answer}`);
  }
  expect(others).toEqual([]);
}

describe('under /api, /developer and /partner', () => {
  let app: PartnerApp;
  let session: string;
  let tokens: DeadTokens;
  let badSessions: Readonly<Record<string, string>>;

  beforeAll(async () => {
    session = await signIn(stack, 'uniform-401-data-ada');
    app = await registerApp(stack.gateway, developer);
    tokens = await endTokens(app, developer, session);
    badSessions = await makeBadSessions(stack, 'uniform-401-data-ada');
  });

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

  /** Requests without credentials that must not disclose routes, methods or what exists. The gateway's own test has others. */
  function placeCauses(): Cause[] {
    const foreign: [string, string] = ['Origin', 'https://elsewhere.example'];
    const html: [string, string] = ['Accept', 'text/html'];
    const grant = `/partner/consent/grants/${tokens.live.grantId}`;
    return [
      ['OPTIONS of another origin', { method: 'OPTIONS', path: HEART, headers: [foreign] }],
      ['a token in the query', { path: `${HEART}?access_token=${tokens.live.accessToken}` }],
      ['a browser', { path: HEART, headers: [html] }],
      ['a browser at /partner', { path: '/partner/consent/grants', headers: [html] }],
      ['an app of somebody else', { path: `/developer/apps/${app.clientId}` }],
      ['an app that does not exist', { path: '/developer/apps/app_0000000000000000000000' }],
      ['a grant', { method: 'DELETE', path: grant }],
      [
        'a session cookie from another origin',
        { method: 'DELETE', path: grant, headers: [['Cookie', `session=${session}`], foreign] },
      ],
      [
        'a session cookie with the origin null',
        {
          method: 'DELETE',
          path: grant,
          headers: [
            ['Cookie', `session=${session}`],
            ['Origin', 'null'],
          ],
        },
      ],
      [
        'a session cookie from another site that claims our origin',
        {
          method: 'POST',
          path: '/partner/consent/grants/revoke-all',
          headers: [
            ['Cookie', `session=${session}`],
            ['Origin', stack.gateway],
            ['Sec-Fetch-Site', 'cross-site'],
          ],
        },
      ],
    ];
  }

  test('every cause gets the same bytes except Date', async () => {
    const causes = [...tokenCauses(), ...sessionCauses(), ...placeCauses()];
    expect(causes.length).toBeGreaterThan(80);
    const fields = [
      'Content-Type: application/problem+json',
      'WWW-Authenticate: Bearer realm="phds"',
      'Cache-Control: no-store',
    ];
    const body =
      '{"type":"/problems/unauthorized","title":"Unauthorized","status":401,"code":"UNAUTHORIZED","detail":"Authentication failed."}';
    await expectSameBytes(causes, fields, body);
  });

  test('the live credentials among the wrong ones are accepted', async () => {
    const read = await sendRaw(stack.gateway, { path: HEART, headers: [bearer(tokens.live.accessToken)] });
    expect(read).toMatch(/^HTTP\/1\.1 200 /);
    const list = await sendRaw(stack.gateway, {
      path: '/partner/consent/grants',
      headers: [bearer(session)],
    });
    expect(list).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('under /oauth', () => {
  let session: string;
  let app: PartnerApp;
  let other: PartnerApp;
  let suspended: PartnerApp;
  let revoked: PartnerApp;
  let oldSecret: string;
  let accessToken: string;

  beforeAll(async () => {
    session = await signIn(stack, 'uniform-401-oauth-ada');
    [app, other, suspended, revoked] = await Promise.all([
      registerApp(stack.gateway, session),
      registerApp(stack.gateway, session),
      registerApp(stack.gateway, session),
      registerApp(stack.gateway, session),
    ]);
    accessToken = (await app.connect(session, [SCOPE])).accessToken;
    oldSecret = app.clientSecret;
    const rotation = `${stack.gateway}/developer/apps/${app.clientId}/rotate-secret`;
    const answer = await send(rotation, { method: 'POST', bearer: session });
    app.clientSecret = expectStatus(200, answer).body.data.clientSecret;
    await setStatus(suspended, session, 'suspended');
    await setStatus(revoked, session, 'revoked');
  });

  function post(path: string, fields: Fields, headers: readonly [string, string][] = []): RawRequest {
    const json = ['Content-Type', 'application/json'] as const;
    return { method: 'POST', path, headers: [json, ...headers], body: JSON.stringify(fields) };
  }

  function postForm(path: string, fields: Fields): RawRequest {
    const form = ['Content-Type', 'application/x-www-form-urlencoded'] as const;
    return { method: 'POST', path, headers: [form], body: new URLSearchParams(fields).toString() };
  }

  /** Client ids and secrets that do not match, or that do not exist. */
  function badPairs(): Record<string, Fields> {
    const { clientId: client_id, clientSecret: client_secret } = app;
    return {
      'an unknown client': { client_id: newId('app'), client_secret: newSecret('client_secret') },
      "an unknown client with a known one's secret": { client_id: newId('app'), client_secret },
      'a client id that cannot be one': { client_id: "' OR 1=1 --", client_secret },
      'a client id of many bytes': { client_id: 'a'.repeat(5_000), client_secret },
      'an empty client id': { client_id: '', client_secret },
      'a secret without a client': { client_secret },
      'a client without a secret': { client_id },
      'an empty secret': { client_id, client_secret: '' },
      'a wrong secret': { client_id, client_secret: newSecret('client_secret') },
      'a secret with a broken checksum': { client_id, client_secret: `${client_secret.slice(0, -6)}000000` },
      'a truncated secret': { client_id, client_secret: client_secret.slice(0, -1) },
      'a secret and something more': { client_id, client_secret: `${client_secret} ` },
      'a secret in the wrong case': { client_id, client_secret: client_secret.toUpperCase() },
      'a secret of many bytes': { client_id, client_secret: 's'.repeat(5_000) },
      'the last four characters': { client_id, client_secret: client_secret.slice(-4) },
      'the secret from before its rotation': { client_id, client_secret: oldSecret },
      'the secret of another app': { client_id, client_secret: other.clientSecret },
      'an access token for a secret': { client_id, client_secret: accessToken },
      'a suspended app': suspended.credentials,
      'a revoked app': revoked.credentials,
    };
  }

  function badFields(): Record<string, [string, string][]> {
    const { clientId, clientSecret } = app;
    const encode = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const right = toBasic(clientId, clientSecret);
    return {
      'no credentials': [],
      'an empty field': [['Authorization', '']],
      'Basic and nothing': [['Authorization', 'Basic']],
      'Basic that is no base64': [['Authorization', 'Basic %%%']],
      'Basic without a colon': [['Authorization', encode(clientId + clientSecret)]],
      'Basic with nothing but a colon': [['Authorization', encode(':')]],
      'Basic with an empty secret': [['Authorization', encode(`${clientId}:`)]],
      'Basic with a bad percent escape': [['Authorization', encode(`${clientId}:%zz`)]],
      'Basic that is no UTF-8': [
        ['Authorization', `Basic ${Buffer.from([0xff, 0x3a, 0xfe]).toString('base64')}`],
      ],
      'Basic of an unknown client': [['Authorization', toBasic(newId('app'), clientSecret)]],
      'Basic with a wrong secret': [['Authorization', toBasic(clientId, oldSecret)]],
      'Basic of a suspended app': [['Authorization', toBasic(suspended.clientId, suspended.clientSecret)]],
      'the right Basic twice': [
        ['Authorization', right],
        ['Authorization', right],
      ],
      [TOKEN_FOR_BASIC]: [['Authorization', `Bearer ${accessToken}`]],
      'a session where Basic belongs': [['Authorization', `Bearer ${session}`]],
      'a session cookie': [['Cookie', `session=${session}`]],
      'another scheme': [['Authorization', `Digest ${right.slice(6)}`]],
    };
  }

  /** A valid request for each endpoint, apart from the client's credentials. */
  function endpoints(): Record<string, Fields> {
    const authorization = { redirect_uri: REDIRECT_URI, scope: SCOPE, state: 'state' };
    return {
      '/oauth/token': { grant_type: 'client_credentials' },
      '/oauth/revoke': { token: accessToken },
      '/oauth/introspect': { token: accessToken },
      '/oauth/par': authorization,
    };
  }

  /** `POST /oauth/authorize` works without a secret; then an unknown or inactive app gets a 401 as well. */
  function authorizeCauses(): Cause[] {
    const ask = { redirect_uri: REDIRECT_URI, scope: SCOPE };
    const path = '/oauth/authorize';
    const elsewhere = { ...ask, redirect_uri: 'https://elsewhere.example/callback' };
    return [
      ['authorize: an unknown client', post(path, { ...ask, client_id: newId('app') })],
      ['authorize: no client', post(path, ask)],
      ['authorize: a suspended app', post(path, { ...ask, client_id: suspended.clientId })],
      ['authorize: a revoked app', post(path, { ...ask, client_id: revoked.clientId })],
      ['authorize: a redirect URI of somebody else', post(path, { ...elsewhere, client_id: app.clientId })],
      [
        'authorize: a wrong secret',
        post(path, { ...ask, client_id: app.clientId, client_secret: oldSecret }),
      ],
      ['authorize: an empty secret', post(path, { ...ask, client_id: app.clientId, client_secret: '' })],
    ];
  }

  function listCauses(): Cause[] {
    const pairs = Object.entries(badPairs());
    const fields = Object.entries(badFields());
    const ofEndpoint = ([path, rest]: [string, Fields]): Cause[] => [
      ...pairs.map(([cause, pair]): Cause => [`${path}: ${cause}`, post(path, { ...rest, ...pair })]),
      ...pairs.map(
        ([cause, pair]): Cause => [`${path}, a form: ${cause}`, postForm(path, { ...rest, ...pair })],
      ),
      ...fields.map(([cause, headers]): Cause => [`${path}: ${cause}`, post(path, rest, headers)]),
      [
        `${path}: parameters that are wrong too`,
        post(path, { grant_type: 'nothing', client_id: app.clientId }),
      ],
    ];
    // A person's live token is authenticated on this endpoint, and answered with 403.
    const grantRequests = [
      { path: '/oauth/grants' },
      { path: '/oauth/grants/grt_0000000000000000000000' },
      { path: '/oauth/grants/grt_0000000000000000000000', method: 'DELETE' },
    ];
    const ofGrants = grantRequests.flatMap((request) =>
      fields
        .filter(([cause]) => cause !== TOKEN_FOR_BASIC)
        .map(
          ([cause, headers]): Cause => [
            `${request.method ?? 'GET'} ${request.path}: ${cause}`,
            { ...request, headers },
          ],
        ),
    );
    return [...Object.entries(endpoints()).flatMap(ofEndpoint), ...ofGrants, ...authorizeCauses()];
  }

  test('every cause gets the same bytes except Date', async () => {
    expect(Object.keys(badPairs()).length + Object.keys(badFields()).length).toBeGreaterThan(30);
    const fields = [
      'Content-Type: application/json; charset=utf-8',
      'WWW-Authenticate: Basic realm="phds"',
      'Cache-Control: no-store',
      'Pragma: no-cache',
    ];
    const body =
      '{"error":"invalid_client","error_description":"Client authentication failed.","code":"UNAUTHORIZED"}';
    await expectSameBytes(listCauses(), fields, body);
  });

  test('the valid client is accepted', async () => {
    for (const [path, rest] of Object.entries(endpoints())) {
      const answer = await sendRaw(stack.gateway, post(path, { ...rest, ...other.credentials }));
      expect(answer).toMatch(/^HTTP\/1\.1 20[01] /);
    }
  });
});
