import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateCodeVerifier, OAuth2Client, type OAuth2Token } from '@badgateway/oauth2-client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listSamples } from '@phds/docs/samples';
import { readPages } from '@phds/docs/source';
import { type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { checkedFetch } from '@phds/test-kit/checked-answers';
import express from 'express';
import * as client from 'openid-client';
import { Passport } from 'passport';
import { Strategy } from 'passport-oauth2';
import { type AccessToken, AuthorizationCode, ClientCredentials, type ModuleOptions } from 'simple-oauth2';
import { Browser, toLocation } from '../src/browser.ts';
import { type ClientTokens, expectWholeLife, HEART, type StockClient } from '../src/stock-client-life.ts';

const PROFILE = 'read:profile';
const SCOPE = `${HEART} ${PROFILE}`;

let stack: SharedStack;
let app: PartnerApp;
/** Requires PKCE. */
let strictApp: PartnerApp;

beforeAll(async () => {
  stack = await useSharedStack();
  const developer = await signIn(stack, 'developer');
  app = await registerApp(stack.gateway, developer);
  strictApp = await registerApp(stack.gateway, developer, { requirePkce: true });
});

let people = 0;
async function somebody(): Promise<Browser> {
  people += 1;
  return new Browser(await signIn(stack, `oauth-clients-${people}`));
}

/** The client's configuration after discovery. */
function discover(authentication: client.ClientAuth): Promise<client.Configuration> {
  return client.discovery(new URL(stack.gateway), strictApp.clientId, undefined, authentication, {
    algorithm: 'oauth2',
    // Plain http is used on this machine only.
    execute: [client.allowInsecureRequests],
    [client.customFetch]: (url, options) => checkedFetch(url, options as RequestInit),
  });
}

async function readStatus(config: client.Configuration, accessToken: string): Promise<number> {
  const url = new URL('/api/v1/health-data/heart', stack.gateway);
  return (await client.fetchProtectedResource(config, accessToken, url, 'GET')).status;
}

interface Checks {
  readonly pkceCodeVerifier: string;
  readonly expectedState: string;
}

async function newChecks(scope = SCOPE): Promise<{ checks: Checks; parameters: Record<string, string> }> {
  const checks = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
  };
  const parameters = {
    redirect_uri: REDIRECT_URI,
    scope,
    state: checks.expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  };
  return { checks, parameters };
}

test('the sample of the guide pushes a request', async () => {
  const guide = readPages().find(({ slug }) => slug === 'scopes-and-consent');
  const sample = listSamples(guide?.markdown ?? '').find(({ code }) => code.includes('openid-client'));
  const code = (sample?.code ?? '')
    .replace("import * as client from 'openid-client';", '')
    .replaceAll('http://localhost:8080', stack.gateway)
    .replaceAll('https://app.example/callback', REDIRECT_URI);
  const AsyncFunction = (async () => undefined).constructor as new (
    ...parts: string[]
  ) => (...given: unknown[]) => Promise<URL>;
  const run = new AsyncFunction('client', 'clientId', 'clientSecret', 'codeVerifier', `${code}; return url;`);
  const url = await run(client, strictApp.clientId, strictApp.clientSecret, client.randomPKCECodeVerifier());
  expect(url.searchParams.get('request_uri')).toMatch(/^urn:/);
});

describe('openid-client', () => {
  const ways: [string, () => client.ClientAuth, typeof client.buildAuthorizationUrlWithPAR][] = [
    [
      'an ordinary authorization URL and a secret in the body',
      () => client.ClientSecretPost(strictApp.clientSecret),
      async (config, parameters) => client.buildAuthorizationUrl(config, parameters),
    ],
    [
      'a pushed request and HTTP Basic',
      () => client.ClientSecretBasic(strictApp.clientSecret),
      client.buildAuthorizationUrlWithPAR,
    ],
  ];

  function createClient(config: client.Configuration, buildUrl: (typeof ways)[number][2]): StockClient {
    const fromToken = (tokens: client.TokenEndpointResponse): ClientTokens => ({
      accessToken: tokens.access_token,
      refreshToken: tokens.refresh_token ?? '',
      sub: tokens['sub'] as string,
    });
    return {
      async connect(scopes, decide) {
        const { checks, parameters } = await newChecks(scopes.join(' '));
        const callback = await decide(await buildUrl(config, parameters));
        const tokens = await client.authorizationCodeGrant(config, callback, checks);
        expect(tokens).toMatchObject({ token_type: 'bearer', scope: HEART });
        expect(tokens.expiresIn()).toBeGreaterThan(3_000);
        expect(await readStatus(config, tokens.access_token)).toBe(200);
        return fromToken(tokens);
      },
      refresh: async ({ refreshToken }) => fromToken(await client.refreshTokenGrant(config, refreshToken)),
      introspect: ({ accessToken }) => client.tokenIntrospection(config, accessToken),
      async revoke({ accessToken, refreshToken }) {
        await client.tokenRevocation(config, refreshToken);
        await expect(readStatus(config, accessToken)).rejects.toMatchObject({ status: 401 });
      },
      userless: async () => (await client.clientCredentialsGrant(config)).access_token,
      invalidGrant: { error: 'invalid_grant' },
    };
  }

  test.each(ways)('completes the life of a grant with %s', async (_way, authentication, buildUrl) => {
    const config = await discover(authentication());
    await expectWholeLife(createClient(config, buildUrl), { app: strictApp, user: await somebody() });
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
