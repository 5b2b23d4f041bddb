import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, PartnerApp, REDIRECT_URI } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import * as client from 'openid-client';
import { toLocation } from '../src/browser.ts';

const HEART = 'read:health-data:heart';
const GLUCOSE = 'read:health-data:glucose';

let stack: SharedStack;
let developer: string;
let app: PartnerApp;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'sandbox-developer');
  app = await registerSandboxApp();
});

async function registerSandboxApp(): Promise<PartnerApp> {
  const json = { name: 'Rehearsal', redirectUris: [REDIRECT_URI], environment: 'sandbox' };
  const answer = await send(`${stack.gateway}/developer/apps`, { json, bearer: developer });
  const { clientId, clientSecret, environment } = expectStatus(201, answer).body.data;
  expect(environment).toBe('sandbox');
  return new PartnerApp(stack.gateway, { clientId, clientSecret });
}

/** What a stock client receives at its redirect URI after it opened the approval link. */
async function open(url: string | URL): Promise<URL> {
  return toLocation(expectStatus(303, await send(url)), url);
}

async function connect(loginHint: string, scopes = [HEART, GLUCOSE]) {
  const { body } = expectStatus(201, await app.authorize(scopes, { login_hint: loginHint }));
  const callback = await open(body.approval_uri);
  const { body: tokens } = expectStatus(200, await app.exchange(callback.searchParams.get('code') ?? ''));
  return { accessToken: tokens.access_token as string, grantId: tokens.grant_id as string };
}

const read = (accessToken: string, category = 'heart') =>
  send(`${stack.gateway}/api/v1/health-data/${category}`, { bearer: accessToken });

describe('openid-client with a sandbox app', () => {
  test('completes the life of a grant without a person', async () => {
    const options = { algorithm: 'oauth2' as const, execute: [client.allowInsecureRequests] };
    const server = new URL(stack.gateway);
    const authentication = client.ClientSecretPost(app.clientSecret);
    const config = await client.discovery(server, app.clientId, undefined, authentication, options);
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const checks = { pkceCodeVerifier, expectedState: client.randomState() };
    const parameters = {
      redirect_uri: REDIRECT_URI,
      scope: HEART,
      state: checks.expectedState,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    };
    const callback = await open(client.buildAuthorizationUrl(config, { ...parameters, login_hint: 'ben' }));
    const tokens = await client.authorizationCodeGrant(config, callback, checks);
    const { body } = expectStatus(200, await read(tokens.access_token));
    expect(body.pagination.total).toBeGreaterThanOrEqual(3);
    const introspected = await client.tokenIntrospection(config, tokens.access_token);
    expect(introspected).toMatchObject({ active: true, client_id: app.clientId, scope: HEART });
    const renewed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expectStatus(200, await read(renewed.access_token));
    await client.tokenRevocation(config, renewed.refresh_token ?? '');
    expectStatus(401, await read(renewed.access_token));

    const denied = await open(client.buildAuthorizationUrl(config, { ...parameters, login_hint: 'deny' }));
    await expect(client.authorizationCodeGrant(config, denied, checks)).rejects.toMatchObject({
      error: 'access_denied',
    });
  });
});

async function pull(trigger: string, grantId: string, bearer = developer, clientId = app.clientId) {
  const url = `${stack.gateway}/developer/apps/${clientId}/sandbox/triggers`;
  return send(url, { json: { trigger, grantId }, bearer });
}

describe('a trigger', () => {
  test('lets readings arrive, be corrected and be deleted, as the app sees', async () => {
    const { accessToken, grantId } = await connect('cleo', [HEART]);
    const readings = async () => expectStatus(200, await read(accessToken)).body.data;
    expect(await readings()).toEqual([]);
    expect(expectStatus(200, await pull('data.arrive', grantId)).body.data).toEqual({
      trigger: 'data.arrive',
      grantId,
      changed: true,
    });
    const [arrived] = await readings();
    expectStatus(200, await pull('data.correct', grantId));
    const [corrected] = await readings();
    expect(corrected).toEqual({ ...arrived, value: expect.any(Number) });
    expect(corrected.value).not.toBe(arrived.value);
    expectStatus(200, await pull('data.delete', grantId));
    expect(await readings()).toEqual([]);
  });

  test.each([
    ['grant.revoke', 401, 'UNAUTHORIZED'],
    ['grant.expire', 403, 'CONSENT_REQUIRED'],
  ])('%s ends the access at the next read', async (trigger, status, code) => {
    const { accessToken, grantId } = await connect('ben');
    expectStatus(200, await read(accessToken));
    expect(expectStatus(200, await pull(trigger, grantId)).body.data.changed).toBe(true);
    expect(expectStatus(status, await read(accessToken)).body.code).toBe(code);
    expect(expectStatus(200, await pull(trigger, grantId)).body.data.changed).toBe(false);
    expectStatus(409, await pull('data.arrive', grantId));
  });
});

describe('rehearsing errors', () => {
  const rehearse = (bearer: string, code: string) =>
    send(`${stack.gateway}/api/v1/health-data/heart`, { bearer, headers: { 'Sandbox-Force': code } });

  test('answers a sandbox app with the error, and the next request with data', async () => {
    const { accessToken } = await connect('ben');
    const limited = expectStatus(429, await rehearse(accessToken, 'RATE_LIMITED'));
    expect(limited.headers.get('ratelimit-policy')).toBe('"app-user";q=300;w=60');
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expectStatus(401, await rehearse(accessToken, 'TOKEN_EXPIRED'));
    expectStatus(503, await rehearse(accessToken, 'ACCESS_NOT_RECORDED'));
    expectStatus(400, await rehearse(accessToken, 'NO_SUCH_CODE'));
    expectStatus(200, await read(accessToken));
  });
});

test('revoking a sandbox app ends its grants and erases its people', async () => {
  const other = await registerSandboxApp();
  const { body } = expectStatus(201, await other.authorize([HEART], { login_hint: 'ben' }));
  const code = (await open(body.approval_uri)).searchParams.get('code') ?? '';
  const { body: tokens } = expectStatus(200, await other.exchange(code));
  const status = `${stack.gateway}/developer/apps/${other.clientId}/status`;
  expectStatus(200, await send(status, { json: { status: 'revoked' }, bearer: developer }));
  expectStatus(401, await read(tokens.access_token));
  expectStatus(200, await send(status, { json: { status: 'active' }, bearer: developer }));
  expectStatus(401, await read(tokens.access_token));
});
