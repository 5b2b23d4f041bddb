import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateCodeVerifier, OAuth2Client, type OAuth2Token } from '@badgateway/oauth2-client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { checkedFetch } from '@phds/test-kit/checked-answers';
import express from 'express';
import { exportJWK, generateKeyPair } from 'jose';
import * as oauth from 'oauth4webapi';
import { Passport } from 'passport';
import { Strategy } from 'passport-oauth2';
import { type AccessToken, AuthorizationCode, ClientCredentials, type ModuleOptions } from 'simple-oauth2';
import { Browser, toLocation } from '../src/browser.ts';
import { newChecks } from '../src/openid-client.ts';
import {
  type ClientTokens,
  expectWholeLife,
  HEART,
  type StockClient,
  toAnswer,
} from '../src/stock-client-life.ts';

const stack = await useSharedStack();
const developer = await signIn(stack, 'developer');
const app = await registerApp(stack.gateway, developer);
const fapiKey = await generateKeyPair('ES256', { extractable: true });
/** Has the four settings of FAPI 2.0, with a key in place of a secret. */
const fapiApp = await registerApp(stack.gateway, developer, {
  tokenEndpointAuthMethod: 'private_key_jwt',
  requirePkce: true,
  dpopBoundAccessTokens: true,
  requirePushedAuthorizationRequests: true,
  jwks: { keys: [await exportJWK(fapiKey.publicKey)] },
  redirectUris: ['https://app.example/callback'],
});

let people = 0;
async function somebody(): Promise<Browser> {
  people += 1;
  return new Browser(await signIn(stack, `oauth-clients-${people}`));
}

describe('oauth4webapi', () => {
  async function createClient(from: PartnerApp): Promise<StockClient> {
    // Plain http is used on this machine only.
    const local = {
      [oauth.allowInsecureRequests]: true,
      [oauth.customFetch]: (url: string, options: unknown) => checkedFetch(url, options as RequestInit),
    };
    const issuer = new URL(stack.gateway);
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...local });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    const self: oauth.Client = { client_id: from.clientId };
    const key = oauth.PrivateKeyJwt(fapiKey.privateKey);
    const bound = { ...local, DPoP: oauth.DPoP(self, await oauth.generateKeyPair('Ed25519')) };
    const fromToken = (tokens: oauth.TokenEndpointResponse): ClientTokens => {
      expect(tokens.token_type).toBe('dpop');
      return { accessToken: tokens.access_token, refreshToken: tokens.refresh_token ?? '' };
    };
    return {
      async connect(scopes, decide) {
        const { checks, parameters } = await newChecks(scopes.join(' '), from.redirectUri);
        const request = { response_type: 'code', ...parameters };
        const pushing = await oauth.pushedAuthorizationRequest(server, self, key, request, bound);
        const pushed = await oauth.processPushedAuthorizationResponse(server, self, pushing);
        const url = new URL(server.authorization_endpoint ?? '');
        url.search = new URLSearchParams({
          client_id: from.clientId,
          request_uri: pushed.request_uri,
        }).toString();
        const callback = oauth.validateAuthResponse(server, self, await decide(url), checks.expectedState);
        const verifier = checks.pkceCodeVerifier;
        const answer = await oauth.authorizationCodeGrantRequest(
          ...([server, self, key, callback, from.redirectUri, verifier, bound] as const),
        );
        return fromToken(await oauth.processAuthorizationCodeResponse(server, self, answer));
      },
      async refresh({ refreshToken }) {
        const answer = await oauth.refreshTokenGrantRequest(server, self, key, refreshToken, bound);
        return fromToken(await oauth.processRefreshTokenResponse(server, self, answer));
      },
      async introspect({ accessToken }) {
        const answer = await oauth.introspectionRequest(server, self, key, accessToken, local);
        return oauth.processIntrospectionResponse(server, self, answer);
      },
      revoke: async ({ refreshToken }) =>
        oauth.processRevocationResponse(
          await oauth.revocationRequest(server, self, key, refreshToken, local),
        ),
      request: (token, url, method) =>
        toAnswer(oauth.protectedResourceRequest(token, method, new URL(url), undefined, null, bound)),
      async userless() {
        const answer = await oauth.clientCredentialsGrantRequest(server, self, key, {}, bound);
        return (await oauth.processClientCredentialsResponse(server, self, answer)).access_token;
      },
      invalidGrant: { error: 'invalid_grant' },
    };
  }

  test('completes the life of a grant with a pushed request, assertions and proofs (FAPI 2.0)', async () => {
    await expectWholeLife(await createClient(fapiApp), { app: fapiApp, user: await somebody() });
  });
});

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

describe('passport-oauth2', () => {
  let server: Server;
  let site: string;
  let siteApp: PartnerApp;
  let strategy: Strategy;
  let user: Browser;

  beforeAll(async () => {
    user = await somebody();
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    site = `http://localhost:${(server.address() as AddressInfo).port}`;
    siteApp = await registerApp(stack.gateway, await signIn(stack, 'developer'), {
      redirectUris: [`${site}/callback`],
    });
    strategy = createStrategy();
    server.on('request', createSite(strategy));
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
  });

  function createStrategy(): Strategy {
    const options = {
      authorizationURL: `${stack.gateway}/oauth/authorize`,
      tokenURL: `${stack.gateway}/oauth/token`,
      clientID: siteApp.clientId,
      clientSecret: siteApp.clientSecret,
      callbackURL: `${site}/callback`,
      scope: [HEART, 'read:profile'],
      pkce: true,
      state: true,
    };
    return new Strategy(options, (accessToken, refreshToken, _profile, done) =>
      done(null, { accessToken, refreshToken } satisfies ClientTokens),
    );
  }

  /** A partner's web site with one visitor, whose session is in memory. */
  function createSite(oauth: Strategy): express.Express {
    const passport = new Passport();
    passport.use('phds', oauth);
    const session = {};
    return express()
      .use((request, _response, next) => {
        Object.assign(request, { session });
        next();
      })
      .get('/connect', passport.authenticate('phds', { session: false }))
      .get('/callback', passport.authenticate('phds', { session: false }), (request, response) => {
        response.json((request as unknown as { user: ClientTokens }).user);
      });
  }

  function refresh({ refreshToken }: ClientTokens): Promise<ClientTokens> {
    const { promise, resolve, reject } = Promise.withResolvers<ClientTokens>();
    const parameters = { grant_type: 'refresh_token' } as const;
    strategy._oauth2.getOAuthAccessToken(refreshToken, parameters, (error, accessToken, successor) =>
      error ? reject(error) : resolve({ accessToken, refreshToken: successor }),
    );
    return promise;
  }

  /** Its scopes are settings of the site, and it has no introspection, revocation and client credentials. */
  const CLIENT: StockClient = {
    async connect(_scopes, decide) {
      const callback = await decide(toLocation(await send(`${site}/connect`), site));
      expect(callback.origin).toBe(site);
      return (await send(callback)).body;
    },
    refresh,
    invalidGrant: { statusCode: 400, data: expect.stringContaining('invalid_grant') },
  };

  test('completes the life of a grant on a web site with state and PKCE', async () => {
    await expectWholeLife(CLIENT, { app: siteApp, user });
  });

  test('reports a denial as a failed sign-in', async () => {
    const start = toLocation(await send(`${site}/connect`), site);
    expect((await send(await user.decide(start, 'deny'))).status).toBe(401);
  });
});
