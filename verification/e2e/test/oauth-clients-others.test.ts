import { randomBytes } from 'node:crypto';
import { generateCodeVerifier, OAuth2Client } from '@badgateway/oauth2-client';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Browser } from '@phds/e2e/browser';
import { type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { AuthorizationCode, type ModuleOptions } from 'simple-oauth2';

const HEART = 'read:health-data:heart';
const PROFILE = 'read:profile';
const PATH = '/api/v1/health-data/heart';

let stack: SharedStack;
let app: PartnerApp;
let user: Browser;

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  user = new Browser(await signIn(stack, 'oauth-clients-others-ada'));
});

async function readStatus(accessToken: string): Promise<number> {
  return (await app.read(accessToken, PATH)).status;
}

describe('simple-oauth2', () => {
  const modes: [string, ModuleOptions['options']][] = [
    ['its default mode, form and HTTP Basic', undefined],
    ['JSON with the secret in the body', { authorizationMethod: 'body', bodyFormat: 'json' }],
  ];

  function createClient(options: ModuleOptions['options']): AuthorizationCode {
    return new AuthorizationCode({
      client: { id: app.clientId, secret: app.clientSecret },
      auth: { tokenHost: stack.gateway },
      ...(options === undefined ? {} : { options }),
    });
  }

  test.each(modes)('completes the life of a grant in %s', async (_mode, options) => {
    const client = createClient(options);
    const state = randomBytes(8).toString('hex');
    const url = client.authorizeURL({ redirect_uri: REDIRECT_URI, scope: [HEART, PROFILE], state });
    const callback = await user.decide(url, { share: [HEART] });
    expect(callback.searchParams.get('state')).toBe(state);

    const code = callback.searchParams.get('code') ?? '';
    const tokens = await client.getToken({ code, redirect_uri: REDIRECT_URI });
    expect(tokens.token.scope).toBe(HEART);
    expect(tokens.expired()).toBe(false);
    expect(await readStatus(tokens.token.access_token)).toBe(200);

    const renewed = await tokens.refresh();
    expect(await readStatus(renewed.token.access_token)).toBe(200);

    await renewed.revoke('access_token');
    expect(await readStatus(renewed.token.access_token)).toBe(401);
    expect(await readStatus(tokens.token.access_token)).toBe(200);

    await renewed.revokeAll();
    expect(await readStatus(tokens.token.access_token)).toBe(401);
    await expect(renewed.refresh()).rejects.toMatchObject({
      output: { statusCode: 400 },
      data: { payload: { error: 'invalid_grant' } },
    });
  });
});

describe('@badgateway/oauth2-client', () => {
  const methods = ['client_secret_basic', 'client_secret_basic_interop', 'client_secret_post'] as const;

  test.each(methods)('completes the life of a grant by discovery with %s', async (authenticationMethod) => {
    const client = new OAuth2Client({
      server: stack.gateway,
      clientId: app.clientId,
      clientSecret: app.clientSecret,
      discoveryEndpoint: '/.well-known/oauth-authorization-server',
      authenticationMethod,
    });
    const [state, codeVerifier] = [randomBytes(8).toString('hex'), await generateCodeVerifier()];
    const url = await client.authorizationCode.getAuthorizeUri({
      redirectUri: REDIRECT_URI,
      scope: [HEART],
      state,
      codeVerifier,
    });
    const callback = await user.decide(url, { share: [HEART] });
    const checks = { redirectUri: REDIRECT_URI, state, codeVerifier };
    const tokens = await client.authorizationCode.getTokenFromCodeRedirect(callback, checks);
    expect(tokens.expiresAt).toBeGreaterThan(Date.now());
    expect(await readStatus(tokens.accessToken)).toBe(200);
    expect(await client.introspect(tokens)).toMatchObject({ active: true, client_id: app.clientId });

    const renewed = await client.refreshToken(tokens);
    expect(await readStatus(renewed.accessToken)).toBe(200);

    await client.revoke(renewed, 'refresh_token');
    expect(await readStatus(renewed.accessToken)).toBe(401);
    expect(await client.introspect(renewed)).toEqual({ active: false });
    await expect(client.refreshToken(renewed)).rejects.toMatchObject({ oauth2Code: 'invalid_grant' });
  });
});
