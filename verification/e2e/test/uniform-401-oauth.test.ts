import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send, toBasic } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { newId } from '@phds/service-kit/ids';
import { newSecret } from '@phds/service-kit/secrets';
import { setStatus } from '../src/dead-credentials.ts';
import { type RawRequest, sendRaw, withoutDate } from '../src/raw-http.ts';

// The uniform answer, byte for byte.
const BODY =
  '{"error":"invalid_client","error_description":"Client authentication failed.","code":"UNAUTHORIZED"}';
const HEART = 'read:health-data:heart';
const TOKEN_FOR_BASIC = 'a token where Basic belongs';

type Fields = Readonly<Record<string, string>>;
type Cause = readonly [cause: string, request: RawRequest];

let stack: SharedStack;
let session: string;
let app: PartnerApp;
let other: PartnerApp;
let suspended: PartnerApp;
let revoked: PartnerApp;
let oldSecret: string;
let accessToken: string;

beforeAll(async () => {
  stack = await useSharedStack();
  session = await signIn(stack, 'uniform-401-oauth-ada');
  [app, other, suspended, revoked] = await Promise.all([
    registerApp(stack.gateway, session),
    registerApp(stack.gateway, session),
    registerApp(stack.gateway, session),
    registerApp(stack.gateway, session),
  ]);
  accessToken = (await app.connect(session, [HEART])).accessToken;
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
  const authorization = { redirect_uri: REDIRECT_URI, scope: HEART, state: 'state' };
  return {
    '/oauth/token': { grant_type: 'client_credentials' },
    '/oauth/revoke': { token: accessToken },
    '/oauth/introspect': { token: accessToken },
    '/oauth/par': authorization,
  };
}

/** `POST /oauth/authorize` works without a secret; then an unknown or inactive app gets a 401 as well. */
function authorizeCauses(): Cause[] {
  const ask = { redirect_uri: REDIRECT_URI, scope: HEART };
  const path = '/oauth/authorize';
  const elsewhere = { ...ask, redirect_uri: 'https://elsewhere.example/callback' };
  return [
    ['authorize: an unknown client', post(path, { ...ask, client_id: newId('app') })],
    ['authorize: no client', post(path, ask)],
    ['authorize: a suspended app', post(path, { ...ask, client_id: suspended.clientId })],
    ['authorize: a revoked app', post(path, { ...ask, client_id: revoked.clientId })],
    ['authorize: a redirect URI of somebody else', post(path, { ...elsewhere, client_id: app.clientId })],
    ['authorize: a wrong secret', post(path, { ...ask, client_id: app.clientId, client_secret: oldSecret })],
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

test('every cause of a 401 on /oauth gets the same bytes except Date', async () => {
  const causes = listCauses();
  expect(Object.keys(badPairs()).length + Object.keys(badFields()).length).toBeGreaterThan(30);
  const causesOf = new Map<string, string[]>();
  for (const [cause, request] of causes) {
    const answer = withoutDate(await sendRaw(stack.gateway, request));
    causesOf.set(answer, [...(causesOf.get(answer) ?? []), cause]);
  }
  const expected = [
    'HTTP/1.1 401 Unauthorized',
    'Content-Type: application/json; charset=utf-8',
    'WWW-Authenticate: Basic realm="phds"',
    'Cache-Control: no-store',
    'Pragma: no-cache',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${BODY.length}`,
    'Connection: close',
    '',
    BODY,
  ].join('\r\n');
  expect([...causesOf].filter(([answer]) => answer !== expected)).toEqual([]);
  expect(causesOf.size).toBe(1);
});

test('the valid client is accepted', async () => {
  for (const [path, rest] of Object.entries(endpoints())) {
    const answer = await sendRaw(stack.gateway, post(path, { ...rest, ...other.credentials }));
    expect(answer).toMatch(/^HTTP\/1\.1 20[01] /);
  }
});
