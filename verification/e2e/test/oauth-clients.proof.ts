import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import express from 'express';
import { Passport } from 'passport';
import { Strategy } from 'passport-oauth2';
import { AuthorizationCode, ClientCredentials } from 'simple-oauth2';
import { Browser, toLocation } from '../src/browser.ts';
import { type ClientTokens, expectWholeLife, HEART, type StockClient } from '../src/stock-client-life.ts';

const stack = await useSharedStack();
const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));

let people = 0;
async function somebody(): Promise<Browser> {
  people += 1;
  return new Browser(await signIn(stack, `oauth-clients-${people}`));
}

describe('simple-oauth2', () => {
  const modes: [string, object | undefined][] = [
    ['its default mode, form and HTTP Basic', undefined],
    ['JSON with the secret in the body', { authorizationMethod: 'body', bodyFormat: 'json' }],
  ];

  function createClient(options: object | undefined): StockClient {
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

  function fromToken({ token }: { token: Record<string, string> }): ClientTokens {
    return {
      accessToken: token['access_token'] ?? '',
      refreshToken: token['refresh_token'] ?? '',
      sub: token['sub'],
    };
  }

  test.each(modes)('completes the life of a grant in %s', async (_mode, options) => {
    await expectWholeLife(createClient(options), { app, user: await somebody() });
  });
});

describe('passport-oauth2', () => {
  let server: Server;
  let site: string;
  let siteApp: PartnerApp;
  let strategy: ReturnType<typeof createStrategy>;
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

  function createStrategy() {
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
    const verify = (
      accessToken: string,
      refreshToken: string,
      _profile: unknown,
      done: (error: null, user: ClientTokens) => void,
    ) => done(null, { accessToken, refreshToken });
    return new Strategy(options, verify);
  }

  /** A partner's web site with one visitor, whose session is in memory. */
  function createSite(oauth: object): express.Express {
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
    const done = (error: unknown, accessToken: string, successor: string) =>
      error ? reject(error) : resolve({ accessToken, refreshToken: successor });
    strategy._oauth2.getOAuthAccessToken(refreshToken, parameters, done);
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
