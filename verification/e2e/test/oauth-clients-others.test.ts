import { randomBytes } from 'node:crypto';
import { generateCodeVerifier, OAuth2Client, type OAuth2Token } from '@badgateway/oauth2-client';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { type AccessToken, AuthorizationCode, ClientCredentials, type ModuleOptions } from 'simple-oauth2';
import { Browser } from '../src/browser.ts';
import { type ClientTokens, expectWholeLife, type StockClient } from '../src/stock-client-life.ts';

let stack: SharedStack;
let app: PartnerApp;

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
});

let people = 0;
async function somebody(): Promise<Browser> {
  people += 1;
  return new Browser(await signIn(stack, `oauth-clients-others-${people}`));
}

describe('simple-oauth2', () => {
  const modes: [string, ModuleOptions['options']][] = [
    ['its default mode, form and HTTP Basic', undefined],
    ['JSON with the secret in the body', { authorizationMethod: 'body', bodyFormat: 'json' }],
  ];

  function createClient(options: ModuleOptions['options']): StockClient {
    const settings = {
      client: { id: app.clientId, secret: app.clientSecret },
      auth: { tokenHost: stack.gateway },
      ...(options === undefined ? {} : { options }),
    };
    const client = new AuthorizationCode(settings);
    const own = new ClientCredentials(settings);
    const restore = ({ accessToken, refreshToken }: ClientTokens) =>
      client.createToken({ access_token: accessToken, refresh_token: refreshToken });
    return {
      async connect(scope, decide) {
        const state = randomBytes(8).toString('hex');
        const callback = await decide(client.authorizeURL({ redirect_uri: REDIRECT_URI, scope, state }));
        expect(callback.searchParams.get('state')).toBe(state);
        const code = callback.searchParams.get('code') ?? '';
        const tokens = await client.getToken({ code, redirect_uri: REDIRECT_URI });
        expect(tokens.expired()).toBe(false);
        return fromToken(tokens);
      },
      refresh: async (tokens) => fromToken(await restore(tokens).refresh()),
      revoke: (tokens) => restore(tokens).revoke('refresh_token'),
      userless: async () => (await own.getToken({})).token.access_token,
      invalidGrant: { output: { statusCode: 400 }, data: { payload: { error: 'invalid_grant' } } },
    };
  }

  function fromToken({ token }: AccessToken): ClientTokens {
    return { accessToken: token.access_token, refreshToken: token.refresh_token, sub: token.sub };
  }

  test.each(modes)('completes the life of a grant in %s', async (_mode, options) => {
    await expectWholeLife(createClient(options), { app, user: await somebody() });
  });
});

describe('@badgateway/oauth2-client', () => {
  const methods = ['client_secret_basic', 'client_secret_basic_interop', 'client_secret_post'] as const;

  function createClient(authenticationMethod: (typeof methods)[number]): StockClient {
    const client = new OAuth2Client({
      server: stack.gateway,
      clientId: app.clientId,
      clientSecret: app.clientSecret,
      discoveryEndpoint: '/.well-known/oauth-authorization-server',
      authenticationMethod,
    });
    const restore = (tokens: ClientTokens): OAuth2Token => ({ ...tokens, expiresAt: null });
    return {
      async connect(scopes, decide) {
        const [state, codeVerifier] = [randomBytes(8).toString('hex'), await generateCodeVerifier()];
        const checks = { redirectUri: REDIRECT_URI, state, codeVerifier };
        const scope = [...scopes];
        const url = await client.authorizationCode.getAuthorizeUri({ ...checks, scope });
        const tokens = await client.authorizationCode.getTokenFromCodeRedirect(await decide(url), checks);
        expect(tokens.expiresAt).toBeGreaterThan(Date.now());
        return fromToken(tokens);
      },
      refresh: async (tokens) => fromToken(await client.refreshToken(restore(tokens))),
      introspect: (tokens) => client.introspect(restore(tokens)),
      revoke: (tokens) => client.revoke(restore(tokens), 'refresh_token'),
      userless: async () => (await client.clientCredentials()).accessToken,
      invalidGrant: { oauth2Code: 'invalid_grant' },
    };
  }

  function fromToken({ accessToken, refreshToken, extraParams }: OAuth2Token): ClientTokens {
    return { accessToken, refreshToken: refreshToken ?? '', sub: extraParams?.['sub'] };
  }

  test.each(methods)('completes the life of a grant by discovery with %s', async (method) => {
    await expectWholeLife(createClient(method), { app, user: await somebody() });
  });
});
