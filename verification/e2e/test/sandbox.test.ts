import { describe, expect, test } from '@jest/globals';
import { expectStatus, REDIRECT_URI } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { useSharedSandbox } from '@phds/running-system/shared-stack';
import * as client from 'openid-client';
import { toLocation } from '../src/browser.ts';
import { connectInSandbox, registerSandboxApp } from '../src/examples/sandbox-app.ts';

const HEART = 'read:health-data:heart';

const stack = await useSharedSandbox();
const developer = await signIn(stack, 'sandbox-developer');
const app = await registerSandboxApp(stack.gateway, developer);

/** What a stock client receives at its redirect URI after it opened the approval link. */
async function open(url: string | URL): Promise<URL> {
  return toLocation(expectStatus(303, await send(url)), url);
}

const read = (accessToken: string) =>
  send(`${stack.gateway}/api/v1/health-data/heart`, { bearer: accessToken });

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

async function pull(trigger: string, grantId: string) {
  const url = `${stack.gateway}/developer/apps/${app.clientId}/sandbox/triggers`;
  return send(url, { json: { trigger, grantId }, bearer: developer });
}

describe('a trigger', () => {
  test.each([
    ['grant.revoke', 401, 'UNAUTHORIZED'],
    ['grant.expire', 403, 'CONSENT_REQUIRED'],
  ])('%s ends the access at the next read', async (trigger, status, code) => {
    const { accessToken, grantId } = await connectInSandbox(app, [HEART]);
    expectStatus(200, await read(accessToken));
    const corrected = expectStatus(200, await pull('data.correct', grantId)).body.data;
    const [newest] = expectStatus(200, await read(accessToken)).body.data;
    expect(corrected).toMatchObject({ changed: true, category: 'heart', id: newest.id });
    expect(expectStatus(200, await pull(trigger, grantId)).body.data.changed).toBe(true);
    expect(expectStatus(status, await read(accessToken)).body.code).toBe(code);
    expect(expectStatus(200, await pull(trigger, grantId)).body.data.changed).toBe(false);
    expectStatus(409, await pull('data.arrive', grantId));
  });
});
