import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { Browser } from '../src/browser.ts';

const HEART = 'read:health-data:heart';

let stack: SharedStack;
let app: PartnerApp;
let session: string;

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  session = await signIn(stack, 'sessions-ada');
});

/** A changing request with the session cookie: harmless, and 200 when accepted. */
const revokeAll = (headers: Record<string, string>) =>
  send(`${stack.gateway}/partner/consent/grants/revoke-all`, {
    method: 'POST',
    headers: { Cookie: `session=${session}`, ...headers },
  });

describe('the session cookie', () => {
  test('can read without further proof', async () => {
    const headers = { Cookie: `other=1; session=${session}`, Origin: 'https://evil.example' };
    expect((await send(`${stack.gateway}/partner/consent/grants`, { headers })).status).toBe(200);
  });

  test.each([
    ['Sec-Fetch-Site', { 'Sec-Fetch-Site': 'same-origin' }],
    ['Origin', { Origin: 'GATEWAY' }],
  ])('can change something when %s shows that our own page sent the request', async (_name, headers) => {
    const own = Object.entries(headers).map(([name, value]) => [
      name,
      value.replace('GATEWAY', stack.gateway),
    ]);
    expect((await revokeAll(Object.fromEntries(own))).status).toBe(200);
  });

  test.each([
    ['nothing', {}],
    ['another origin', { Origin: 'https://evil.example' }],
    ['the origin null', { Origin: 'null' }],
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a sibling site', { 'Sec-Fetch-Site': 'same-site' }],
    ['a foreign page that claims our origin', { 'Sec-Fetch-Site': 'cross-site', Origin: 'GATEWAY' }],
  ])('cannot change anything when it comes with %s', async (_what, headers) => {
    const sent = Object.entries(headers).map(([name, value]) => [
      name,
      value.replace('GATEWAY', stack.gateway),
    ]);
    const { status, body } = await revokeAll(Object.fromEntries(sent));
    expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
  });

  test('is refused when sent twice, and __Host-session is refused over plain http', async () => {
    for (const cookie of [`session=${session}; session=${session}`, `__Host-session=${session}`]) {
      const answer = await send(`${stack.gateway}/partner/consent/grants`, { headers: { Cookie: cookie } });
      expect(answer.status).toBe(401);
    }
  });

  test('is ignored when there is an Authorization header', async () => {
    const headers = { Cookie: `session=${session}`, Authorization: 'Bearer x' };
    expect((await send(`${stack.gateway}/partner/consent/grants`, { headers })).status).toBe(401);
  });
});

describe('sessions and partner tokens', () => {
  test('are never accepted in place of each other', async () => {
    const tokens = await app.connect(session, [HEART]);
    for (const bearer of [tokens.accessToken, tokens.refreshToken, app.clientSecret]) {
      for (const path of ['/partner/consent/grants', '/partner/consent/preview?scope=x', '/developer/apps']) {
        const { status, body } = await send(stack.gateway + path, { bearer });
        expect([path, status, body.code]).toEqual([path, 401, 'UNAUTHORIZED']);
      }
    }
    expect((await app.read(session, '/api/v1/health-data/heart')).status).toBe(401);
    expect((await send(`${stack.gateway}/oauth/grants`, { bearer: session })).status).toBe(401);
  });

  test('without a session not even the routes are disclosed', async () => {
    for (const path of [
      '/partner/consent/grants',
      '/partner/nothing',
      '/developer',
      '/partner/consent/%zz',
    ]) {
      for (const method of ['GET', 'PUT']) {
        const { status, body } = await send(stack.gateway + path, { method });
        expect([path, method, status, body.code]).toEqual([path, method, 401, 'UNAUTHORIZED']);
      }
    }
  });
});

describe('the approval screen', () => {
  test('is the redirect target of a browser that posts the request', async () => {
    const url = `${stack.gateway}/oauth/authorize`;
    const form = { ...app.credentials, redirect_uri: app.redirectUri, scope: HEART };
    const answer = await send(url, { form, headers: { Accept: 'text/html' } });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/\/approve\/apr_\w+$/);
  });

  test('a form without a ticked scope redirects back to the screen with the error', async () => {
    const { body } = expectStatus(201, await app.authorize([HEART]));
    const browser = new Browser(session);
    const back = await browser.decide(`${stack.gateway}/oauth/authorize?${toQuery(body.request_uri)}`, {
      share: [],
    });
    expect(back.pathname + back.search).toBe(`/approve/${body.pending_id}?problem=no_scopes_approved`);
  });

  test('an invalid client or redirect URI gets one identical page that never links back', async () => {
    const good = {
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      scope: HEART,
      response_type: 'code',
    };
    const bad = [
      { ...good, client_id: 'app_0000000000000000000000' },
      { ...good, redirect_uri: 'https://evil.example/' },
      { ...good, redirect_uri: `${app.redirectUri}/x` },
      { ...good, client_id: '' },
    ];
    const pages = await Promise.all(
      bad.map((query) => send(`${stack.gateway}/oauth/authorize?${new URLSearchParams(query)}`)),
    );
    for (const page of pages) {
      expect([page.status, page.headers.get('location')]).toEqual([400, null]);
      expect(page.text).toBe(pages[0]?.text);
    }
  });
});

function toQuery(requestUri: string): URLSearchParams {
  return new URLSearchParams({ client_id: app.clientId, request_uri: requestUri });
}
