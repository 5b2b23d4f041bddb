import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send, toBasic } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { newId } from '@phds/service-kit/ids';
import { newSecret } from '@phds/service-kit/secrets';
import { type DeadTokens, endTokens, setStatus } from '../src/dead-tokens.ts';
import { type RawRequest, sendRaw, withoutDate } from '../src/raw-http.ts';

// The causes that only authorization and consent know. The gateway's own test has those that it sees itself.

const HEART = '/api/v1/health-data/heart';
const GRANTS = '/partner/consent/grants';
const SCOPE = 'read:health-data:heart';

type Fields = Readonly<Record<string, string>>;
type Cause = readonly [cause: string, request: RawRequest];

const stack = await useSharedStack();
const developer = await signIn(stack, 'developer');

/** What a request of a page gets besides, whatever the cause: every page may read this answer. */
const OF_A_PAGE = [
  'Access-Control-Allow-Origin: *',
  'Access-Control-Expose-Headers: WWW-Authenticate, Date, Retry-After, Link, ETag, RateLimit, RateLimit-Policy, X-Request-Id',
];

function isOfAPage({ path, headers = [] }: RawRequest): boolean {
  return path.startsWith('/api/v1') && headers.some(([name]) => name === 'Origin');
}

/** Expects the same bytes, except Date, for every cause. */
async function expectSameBytes(causes: readonly Cause[], fields: readonly string[], body: string) {
  const toExpected = (request: RawRequest) =>
    [
      'HTTP/1.1 401 Unauthorized',
      ...(isOfAPage(request) ? OF_A_PAGE : []),
      ...fields,
      'X-Content-Type-Options: nosniff',
      `Content-Length: ${body.length}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n');
  const answers = await Promise.all(causes.map(([, request]) => sendRaw(stack.gateway, request)));
  const others = causes.flatMap(([cause, request], index) => {
    const answer = withoutDate(answers[index] ?? '');
    return answer === toExpected(request) ? [] : `${cause}: ${answer}`;
  });
  expect(others).toEqual([]);
}

const bearer = (token: string): [string, string] => ['Authorization', `Bearer ${token}`];

describe('under /api, /developer and /partner', () => {
  let app: PartnerApp;
  let session: string;
  let tokens: DeadTokens;

  beforeAll(async () => {
    session = await signIn(stack, 'uniform-401-data-ada');
    app = await registerApp(stack.gateway, developer);
    tokens = await endTokens(app, developer, session);
  });

  function tokenCauses(): Cause[] {
    const { accessToken, refreshToken } = tokens.live;
    const bad: Fields = {
      ...tokens.dead,
      'an unknown token': newSecret('access_token'),
      'a truncated token': accessToken.slice(0, -1),
      'a token and something more': `${accessToken}x`,
      'a client secret': app.clientSecret,
      'an authorization code': tokens.code,
      'a refresh token': refreshToken,
      'a session where a token belongs': session,
    };
    return Object.entries(bad).map(([cause, token]) => [cause, { path: HEART, headers: [bearer(token)] }]);
  }

  function sessionCauses(): Cause[] {
    const bad: Fields = {
      'a session with another signature': `${session.slice(0, -8)}AAAAAAAA`,
      'a token where a session belongs': tokens.live.accessToken,
      'a dead token where a session belongs': Object.values(tokens.dead)[0] ?? '',
    };
    return Object.entries(bad).map(([cause, jwt]) => [cause, { path: GRANTS, headers: [bearer(jwt)] }]);
  }

  /** Requests without credentials that must not disclose routes, methods or what exists. */
  function placeCauses(): Cause[] {
    const foreign: [string, string] = ['Origin', 'https://elsewhere.example'];
    const html: [string, string] = ['Accept', 'text/html'];
    const grant = `${GRANTS}/${tokens.live.grantId}`;
    return [
      ['OPTIONS of another origin', { method: 'OPTIONS', path: HEART, headers: [foreign] }],
      ['a token in the query', { path: `${HEART}?access_token=${tokens.live.accessToken}` }],
      ['a browser', { path: HEART, headers: [html] }],
      ['a browser at /partner', { path: GRANTS, headers: [html] }],
      ['an app of somebody else', { path: `/developer/apps/${app.clientId}` }],
      ['an app that does not exist', { path: '/developer/apps/app_0000000000000000000000' }],
      ['a grant', { method: 'DELETE', path: grant }],
      [
        'a session cookie from another origin',
        { method: 'DELETE', path: grant, headers: [['Cookie', `session=${session}`], foreign] },
      ],
    ];
  }

  test('every cause gets the same bytes except Date', async () => {
    const fields = [
      'Content-Type: application/problem+json',
      'WWW-Authenticate: Bearer realm="phds", DPoP realm="phds", algs="ES256 EdDSA Ed25519 PS256"',
      'Cache-Control: no-store',
    ];
    const body =
      '{"type":"/problems/unauthorized","title":"Unauthorized","status":401,"code":"UNAUTHORIZED","detail":"Authentication failed."}';
    await expectSameBytes([...tokenCauses(), ...sessionCauses(), ...placeCauses()], fields, body);
  });

  test('the live credentials among the wrong ones are accepted', async () => {
    const accepted = [
      [HEART, tokens.live.accessToken],
      [GRANTS, session],
    ] as const;
    for (const [path, token] of accepted) {
      expect(await sendRaw(stack.gateway, { path, headers: [bearer(token)] })).toMatch(/^HTTP\/1\.1 200 /);
    }
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
    const register = () => registerApp(stack.gateway, session);
    [app, other, suspended, revoked] = [
      await register(),
      await register(),
      await register(),
      await register(),
    ];
    ({ accessToken } = await app.connect(session, [SCOPE]));
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

  /** Client ids and secrets that do not match, or that do not exist. */
  function badPairs(): Record<string, Fields> {
    const { clientId: client_id, clientSecret: client_secret } = app;
    return {
      'an unknown client': { client_id: newId('app'), client_secret: newSecret('client_secret') },
      "an unknown client with a known one's secret": { client_id: newId('app'), client_secret },
      'a client id that cannot be one': { client_id: "' OR 1=1 --", client_secret },
      'a client without a secret': { client_id },
      'a wrong secret': { client_id, client_secret: newSecret('client_secret') },
      'a truncated secret': { client_id, client_secret: client_secret.slice(0, -1) },
      'a secret and something more': { client_id, client_secret: `${client_secret} ` },
      'a secret in the wrong case': { client_id, client_secret: client_secret.toUpperCase() },
      'the secret from before its rotation': { client_id, client_secret: oldSecret },
      'the secret of another app': { client_id, client_secret: other.clientSecret },
      'an access token for a secret': { client_id, client_secret: accessToken },
      'a suspended app': suspended.credentials,
      'a revoked app': revoked.credentials,
    };
  }

  /** A valid request for each endpoint, apart from the client's credentials. */
  function endpoints(): Record<string, Fields> {
    return {
      '/oauth/token': { grant_type: 'client_credentials' },
      '/oauth/revoke': { token: accessToken },
      '/oauth/introspect': { token: accessToken },
      '/oauth/par': { redirect_uri: REDIRECT_URI, scope: SCOPE, state: 'state' },
    };
  }

  /** `POST /oauth/authorize` works without a secret; then an unknown or inactive app gets a 401 as well. */
  function authorizeCauses(): Cause[] {
    const ask = { redirect_uri: REDIRECT_URI, scope: SCOPE };
    const elsewhere = { ...ask, redirect_uri: 'https://elsewhere.example/callback' };
    const bad: Record<string, Fields> = {
      'an unknown client': { ...ask, client_id: newId('app') },
      'no client': ask,
      'a suspended app': { ...ask, client_id: suspended.clientId },
      'a revoked app': { ...ask, client_id: revoked.clientId },
      'a redirect URI of somebody else': { ...elsewhere, client_id: app.clientId },
      'a wrong secret': { ...ask, client_id: app.clientId, client_secret: oldSecret },
    };
    return Object.entries(bad).map(([cause, fields]) => [
      `authorize: ${cause}`,
      post('/oauth/authorize', fields),
    ]);
  }

  function listCauses(): Cause[] {
    const ofEndpoint = ([path, rest]: [string, Fields]): Cause[] =>
      Object.entries(badPairs()).map(([cause, pair]) => [
        `${path}: ${cause}`,
        post(path, { ...rest, ...pair }),
      ]);
    const basic = (credentials: string): RawRequest =>
      post('/oauth/token', { grant_type: 'client_credentials' }, [['Authorization', credentials]]);
    return [
      ...Object.entries(endpoints()).flatMap(ofEndpoint),
      ...authorizeCauses(),
      ['Basic with a wrong secret', basic(toBasic(app.clientId, oldSecret))],
      ['Basic of a suspended app', basic(toBasic(suspended.clientId, suspended.clientSecret))],
      ['a token where Basic belongs', basic(`Bearer ${accessToken}`)],
      ['a session where the token of an app belongs', { path: '/oauth/grants', headers: [bearer(session)] }],
    ];
  }

  test('every cause gets the same bytes except Date', async () => {
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
