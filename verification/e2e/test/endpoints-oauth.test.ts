import { beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, type RequestOptions, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { newSecret } from '@phds/service-kit/secrets';
import { Browser, toLocation } from '../src/browser.ts';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const HEART_PATH = '/api/v1/health-data/heart';
const OTHER_URI = 'https://app.example/callback';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

let stack: SharedStack;
let developer: string;
let app: PartnerApp;
let other: PartnerApp;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
  [app, other] = [await registerApp(stack.gateway, developer), await registerApp(stack.gateway, developer)];
});

let people = 0;
function somebody(): Promise<string> {
  people += 1;
  return signIn(stack, `endpoints-oauth-${people}`);
}

const codeOf = ({ status, body }: Answer): [number, string] => [status, body.code];
const heartStatus = async (token: string): Promise<number> => (await app.read(token, HEART_PATH)).status;
const call = (path: string, options: RequestOptions = {}) => send(`${stack.gateway}/oauth/${path}`, options);

/** The common form of every error under /oauth. */
function expectOauthError(answer: Answer, status: number, error: string, code: string): void {
  expect([answer.status, answer.body?.error, answer.body?.code]).toEqual([status, error, code]);
  expect(Object.keys(answer.body)).toEqual(['error', 'error_description', 'code']);
  expect(answer.body.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('pragma')).toBe('no-cache');
}

test('the discovery document names addresses that answer', async () => {
  const { body } = await send(`${stack.gateway}/.well-known/oauth-authorization-server`);
  expect(body).toMatchObject({
    issuer: stack.gateway,
    scopes_supported: SCOPE_NAMES,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  });
  const endpoints = Object.entries(body).filter(([name]) => name.endsWith('_endpoint')) as [string, string][];
  expect(endpoints).toHaveLength(5);
  for (const [name, url] of endpoints) {
    const { status } = await send(url, { json: {} });
    expect([name, status]).toEqual([name, 401]);
  }
  expect((await send(body.service_documentation)).status).toBe(200);
});

describe('a route', () => {
  test('that is unknown gets 404, and another method 405 with Allow, as OAuth errors', async () => {
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
});

describe("a link to the service that ends in an error at an attacker's app", () => {
  async function prepare(): Promise<{ app: PartnerApp; link: string }> {
    const app = await registerApp(stack.gateway, developer, { redirectUris: [OTHER_URI], scopes: [HEART] });
    const query = {
      client_id: app.clientId,
      redirect_uri: OTHER_URI,
      scope: 'nonsense',
      state: 's',
      response_type: 'code',
    };
    return { app, link: `${stack.gateway}/oauth/authorize?${new URLSearchParams(query)}` };
  }

  test('does not redirect people who share no data with that app, signed in or not', async () => {
    const { app, link } = await prepare();
    // The app's developer can connect it to an account of their own.
    await app.connect(developer, [HEART]);
    for (const answer of [await send(link), await new Browser(await somebody()).open(link)]) {
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      expect(answer.text).toContain('<strong>app.example</strong>');
    }
  });

  test('redirects a person who shares data with the app at once', async () => {
    const { app, link } = await prepare();
    const user = await somebody();
    const { grantId } = await app.connect(user, [HEART]);
    const browser = new Browser(user);
    expect(toLocation(expectStatus(303, await browser.open(link)), link).origin).toBe('https://app.example');
    const grant = `${stack.gateway}/partner/consent/grants/${grantId}`;
    expectStatus(200, await send(grant, { method: 'DELETE', bearer: user }));
    expectStatus(400, await browser.open(link));
  });
});

describe('authorization_code', () => {
  test('returns the tokens of the grant', async () => {
    const { code, grantId } = await app.expectCode(await somebody(), [HEART, MOOD], { scopes: [MOOD] });
    const { body, headers } = expectStatus(200, await app.exchange(code));
    expect(body).toEqual({
      access_token: expect.stringMatching(/^phds_at_[A-Za-z0-9]{49}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^phds_rt_[A-Za-z0-9]{49}$/),
      scope: MOOD,
      grant_id: grantId,
      sub: expect.stringMatching(/^sub_[0-9A-Za-z]{22}$/),
    });
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  });
});

describe('revoke', () => {
  test("revoke answers 200 {} for every token, and leaves other apps' tokens alone", async () => {
    const mine = await app.connect(await somebody(), [HEART]);
    const theirs = await other.connect(await somebody(), [HEART]);
    const answers = [
      await app.revoke(mine.accessToken),
      await app.revoke(mine.accessToken),
      await app.revoke(theirs.accessToken),
      await app.revoke(theirs.refreshToken),
      await app.revoke(newSecret('access_token')),
      await app.revoke('x'),
      await app.post('/oauth/revoke', { token: mine.accessToken, token_type_hint: 'refresh_token' }),
    ];
    const seen = answers.map(({ status, text, headers }) => [status, text, [...headers.keys()]]);
    expect(seen[0]?.slice(0, 2)).toEqual([200, '{}']);
    for (const each of seen) expect(each).toEqual(seen[0]);
    expect(await heartStatus(theirs.accessToken)).toBe(200);
    expectStatus(200, await other.refresh(theirs.refreshToken));
    expect(codeOf(await app.post('/oauth/revoke', {}))).toEqual([400, 'INVALID_REQUEST']);
  });
});

/** Asks for grants as the app itself. */
async function grants(of: PartnerApp, path = '', options: RequestOptions = {}): Promise<Answer> {
  const bearer = await of.userlessToken();
  return send(`${stack.gateway}/oauth/grants${path}`, { bearer, ...options });
}

describe('DELETE /oauth/grants/:id', () => {
  test('ends the grant before it answers, may be repeated, and the person sees that the app ended it', async () => {
    const session = await somebody();
    const { grantId, accessToken, refreshToken } = await app.connect(session, [HEART]);
    expectStatus(200, await app.read(accessToken, HEART_PATH));
    const end = async () => expectStatus(200, await grants(app, `/${grantId}`, { method: 'DELETE' })).body;
    const first = await end();
    expect(codeOf(await app.read(accessToken, HEART_PATH))).toEqual([401, 'UNAUTHORIZED']);
    expect(codeOf(await app.refresh(refreshToken))).toEqual([400, 'INVALID_GRANT']);
    expect(first).toEqual({
      data: { id: grantId, status: 'revoked', revoked_at: expect.stringMatching(INSTANT) },
    });
    expect(await end()).toEqual(first);
    const { revoked_at: at } = first.data;
    expect((await grants(app, `/${grantId}`)).body.data).toMatchObject({ ended_at: at, ended_by: 'app' });
    const shown = await send(`${stack.gateway}/partner/consent/grants/${grantId}`, { bearer: session });
    expect(shown.body.data).toMatchObject({
      status: 'revoked',
      revokedAt: at,
      revokedBy: 'app',
      endedBy: 'app',
    });
  });
});
