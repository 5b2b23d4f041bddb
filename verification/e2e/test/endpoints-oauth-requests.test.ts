import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, type RequestOptions, send, toBasic } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { Browser, toLocation } from '../src/browser.ts';

const HEART = 'read:health-data:heart';
const PROFILE = 'read:profile';
const UNAUTHORIZED = {
  error: 'invalid_client',
  error_description: 'Client authentication failed.',
  code: 'UNAUTHORIZED',
};

let stack: SharedStack;
let app: PartnerApp;

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { scopes: [HEART, PROFILE] });
});

const call = (path: string, options: RequestOptions = {}) => send(`${stack.gateway}/oauth/${path}`, options);
const clientCredentials = { grant_type: 'client_credentials' };

/** The common form of every error under /oauth. */
function expectOauthError(answer: Answer, status: number, error: string, code: string): void {
  expect([answer.status, answer.body?.error, answer.body?.code]).toEqual([status, error, code]);
  expect(Object.keys(answer.body)).toEqual(['error', 'error_description', 'code']);
  expect(answer.body.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('pragma')).toBe('no-cache');
}

describe('bodies', () => {
  test('may be JSON or form, with the secret in the body or in Authorization', async () => {
    const body = { ...app.credentials, ...clientCredentials };
    const headers = { Authorization: toBasic(app.clientId, app.clientSecret) };
    const ways: RequestOptions[] = [
      { json: body },
      { form: body },
      { json: clientCredentials, headers },
      { form: clientCredentials, headers },
      { form: { ...clientCredentials, client_id: app.clientId }, headers },
      { form: body, headers: { 'Content-Type': 'application/x-www-form-urlencoded;charset=UTF-8' } },
      { json: { ...body, nonsense: 'ignored' } },
    ];
    for (const way of ways) {
      const answer = await call('token', way);
      expect([way, answer.status]).toEqual([way, 200]);
    }
  });

  test('that are malformed are refused before authentication', async () => {
    const json = { 'Content-Type': 'application/json' };
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const bad: RequestOptions[] = [
      { raw: '{', headers: json },
      { raw: '[]', headers: json },
      { raw: 'null', headers: json },
      { raw: '{"grant_type":1}', headers: json },
      { raw: '{"grant_type":null}', headers: json },
      { raw: '{"scope":"a","scope":"b"}', headers: json },
      { raw: '{"scope":"a","\\u0073cope":"b"}', headers: json },
      { raw: 'scope=a&scope=b', headers: form },
      { raw: 'scope=%zz', headers: form },
      { raw: '{"scope":"\\u0000"}', headers: json },
    ];
    for (const path of ['token', 'revoke', 'introspect', 'authorize', 'par']) {
      for (const options of bad) {
        const answer = await call(path, options);
        expect([path, options.raw, answer.status]).toEqual([path, options.raw, 400]);
        expectOauthError(answer, 400, 'invalid_request', 'INVALID_REQUEST');
      }
    }
  });

  test('of another media type get 415, and too large ones 413', async () => {
    const xml = await call('token', { raw: '<x/>', headers: { 'Content-Type': 'text/xml' } });
    expectOauthError(xml, 415, 'invalid_request', 'INVALID_REQUEST');
    const latin = { 'Content-Type': 'application/json; charset=iso-8859-1' };
    expectOauthError(
      await call('token', { raw: '{}', headers: latin }),
      415,
      'invalid_request',
      'INVALID_REQUEST',
    );
    const large = `{"state":"${'x'.repeat(16_000_000)}"}`;
    // The client is still sending when the response arrives, but receives it.
    for (let i = 0; i < 5; i += 1) {
      const answer = await call('token', { raw: large, headers: { 'Content-Type': 'application/json' } });
      expectOauthError(answer, 413, 'invalid_request', 'INVALID_REQUEST');
    }
  });

  test('an unknown route gets 404 and another method 405 with Allow, as OAuth errors', async () => {
    expect(await call('nothing')).toMatchObject({ status: 404, body: { error: 'invalid_request' } });
    for (const path of ['token', 'revoke', 'introspect', 'par']) {
      const answer = await call(path);
      expectOauthError(answer, 405, 'invalid_request', 'INVALID_REQUEST');
      expect(answer.headers.get('allow')).toBe('POST');
    }
    const { headers } = await call('authorize', { method: 'DELETE' });
    expect(headers.get('allow')).toBe('GET, POST');
  });
});

describe('client authentication', () => {
  test('with two secrets or two ids is malformed', async () => {
    const headers = { Authorization: toBasic(app.clientId, app.clientSecret) };
    const both = await call('token', { json: { ...clientCredentials, ...app.credentials }, headers });
    expectOauthError(both, 400, 'invalid_request', 'INVALID_REQUEST');
    const other = await call('token', { json: { ...clientCredentials, client_id: 'app_x' }, headers });
    expectOauthError(other, 400, 'invalid_request', 'INVALID_REQUEST');
  });

  test('precedes parameter checks: an unauthenticated caller learns nothing about parameters', async () => {
    const strangers: Record<string, string>[] = [
      {},
      { client_id: app.clientId },
      { client_id: app.clientId, client_secret: '' },
      { client_id: app.clientId, client_secret: 'wrong' },
      { client_id: 'app_0000000000000000000000', client_secret: app.clientSecret },
      { client_secret: app.clientSecret },
    ];
    for (const path of ['token', 'revoke', 'introspect', 'par']) {
      for (const json of strangers) {
        const answer = await call(path, { json: { ...json, grant_type: 'nonsense' } });
        expect([path, json, answer.status, answer.body]).toEqual([path, json, 401, UNAUTHORIZED]);
        expect(answer.headers.get('www-authenticate')).toBe('Basic realm="phds"');
      }
    }
  });

  test('accepts Basic with form-encoded credentials, and no other scheme', async () => {
    const ask = (Authorization: string) =>
      call('token', { json: clientCredentials, headers: { Authorization } });
    const pair = `${app.clientId}:${app.clientSecret}`.replaceAll('_', '%5F');
    expect((await ask(`basic ${Buffer.from(pair).toString('base64')}`)).status).toBe(200);
    for (const bad of ['Basic !!!', 'Basic', 'Bearer x', `Basic ${Buffer.from('x').toString('base64')}`]) {
      expect((await ask(bad)).body).toEqual(UNAUTHORIZED);
    }
  });
});

describe('authorize and par', () => {
  const good = { redirect_uri: REDIRECT_URI, scope: HEART };
  const authorize = (json: Record<string, string>, path = 'authorize') =>
    call(path, { json: { ...app.credentials, ...good, ...json } });

  test.each(['authorize', 'par'])('%s returns the RFC 9126 response and approval URL', async (path) => {
    const answer = expectStatus(201, await authorize({ state: 'x' }, path));
    const { pending_id: id } = answer.body;
    expect(answer.body).toEqual({
      request_uri: expect.stringMatching(/^urn:/),
      expires_in: 600,
      approval_uri: `${stack.gateway}/approve/${id}`,
      pending_id: expect.stringMatching(/^apr_/),
      status: 'pending',
    });
    expect(answer.headers.get('location')).toBe(answer.body.approval_uri);
  });

  test('without a valid secret an unknown app and an unregistered redirect URI get the same response', async () => {
    const bad = [
      { client_id: 'app_0000000000000000000000', ...good },
      { client_id: app.clientId, ...good, redirect_uri: 'https://evil.example/' },
      { client_id: app.clientId, scope: HEART },
      { client_id: app.clientId, ...good, client_secret: 'wrong' },
      { ...good },
    ];
    for (const json of bad) {
      const answer = await call('authorize', { json });
      expect([json, answer.status, answer.body]).toEqual([json, 401, UNAUTHORIZED]);
    }
    expect((await call('authorize', { json: { client_id: app.clientId, ...good } })).status).toBe(201);
    const pushed = await call('par', { json: { client_id: app.clientId, ...good } });
    expect([pushed.status, pushed.body]).toEqual([401, UNAUTHORIZED]);
  });

  test('the port of a loopback redirect URI may vary, and nothing else', async () => {
    expect((await authorize({ redirect_uri: 'http://localhost:51234/callback' })).status).toBe(201);
    for (const redirect_uri of [
      'http://127.0.0.1:9999/callback',
      'http://localhost:9999/callback/',
      'http://localhost:9999/callback?x=1',
      'http://localhost:99999/callback',
      'https://localhost:9999/callback',
      'http://localhost:9999@evil.example/callback',
    ]) {
      const answer = await authorize({ redirect_uri });
      expect([redirect_uri, answer.status]).toEqual([redirect_uri, 400]);
      expectOauthError(answer, 400, 'invalid_request', 'INVALID_REQUEST');
    }
  });

  test.each([
    '',
    ' ',
    'read:everything',
    'read:*',
    `${HEART} read:mood`,
    HEART.toUpperCase(),
    `${HEART},${PROFILE}`,
  ])('the scope %j is invalid_scope', async (scope) => {
    expectOauthError(await authorize({ scope }), 400, 'invalid_scope', 'INVALID_SCOPE');
  });

  test('invalid state, response type and challenge get invalid_request', async () => {
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const bad: Record<string, string>[] = [
      { state: 'x'.repeat(1025) },
      { response_type: 'token' },
      { code_challenge: challenge },
      { code_challenge: challenge, code_challenge_method: 'plain' },
      { code_challenge: 'short', code_challenge_method: 'S256' },
      { code_challenge_method: 'S256' },
    ];
    for (const json of bad) {
      const answer = await authorize(json);
      expect([json, answer.status]).toEqual([json, 400]);
      expectOauthError(answer, 400, 'invalid_request', 'INVALID_REQUEST');
    }
    expect((await authorize({ state: 'ü'.repeat(1024), response_type: 'code' })).status).toBe(201);
  });

  test('GET redirects a connected person back to the app with errors that do not concern client or redirect URI', async () => {
    const session = await signIn(stack, 'connected');
    await app.connect(session, [HEART]);
    const browser = new Browser(session);
    const front = { client_id: app.clientId, ...good, state: 'a&b', response_type: 'code' };
    const errors: [Record<string, string>, string][] = [
      [{ scope: 'read:mood' }, 'invalid_scope'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ code_challenge_method: 'plain', code_challenge: 'x' }, 'invalid_request'],
    ];
    for (const [change, error] of errors) {
      const url = `${stack.gateway}/oauth/authorize?${new URLSearchParams({ ...front, ...change })}`;
      const answer = await browser.open(url);
      expect([change, answer.status]).toEqual([change, 303]);
      const query = Object.fromEntries(toLocation(answer, url).searchParams);
      expect(query).toMatchObject({ error, state: 'a&b', iss: stack.gateway });
    }
  });
});
