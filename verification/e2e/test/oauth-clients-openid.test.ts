import { beforeAll, describe, expect, test } from '@jest/globals';
import { listSamples } from '@phds/docs/samples';
import { readPages } from '@phds/docs/source';
import { type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { checkedFetch } from '@phds/test-kit/checked-answers';
import * as client from 'openid-client';
import { Browser } from '../src/browser.ts';
import { type ClientTokens, expectWholeLife, HEART, type StockClient } from '../src/stock-client-life.ts';

const PROFILE = 'read:profile';
const SCOPE = `${HEART} ${PROFILE}`;

let stack: SharedStack;
let app: PartnerApp;
let user: Browser;

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { requirePkce: true });
  user = new Browser(await signIn(stack, 'oauth-clients-openid-ada'));
});

/** The client's configuration after discovery. */
function discover(authentication: client.ClientAuth): Promise<client.Configuration> {
  return client.discovery(new URL(stack.gateway), app.clientId, undefined, authentication, {
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
  const url = await run(client, app.clientId, app.clientSecret, client.randomPKCECodeVerifier());
  expect(url.searchParams.get('request_uri')).toMatch(/^urn:/);
});

describe('openid-client', () => {
  const ways: [string, () => client.ClientAuth, typeof client.buildAuthorizationUrlWithPAR][] = [
    [
      'an ordinary authorization URL and a secret in the body',
      () => client.ClientSecretPost(app.clientSecret),
      async (config, parameters) => client.buildAuthorizationUrl(config, parameters),
    ],
    [
      'a pushed request and HTTP Basic',
      () => client.ClientSecretBasic(app.clientSecret),
      client.buildAuthorizationUrlWithPAR,
    ],
  ];

  let someones = 0;

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
    someones += 1;
    const someone = new Browser(await signIn(stack, `oauth-clients-openid-${someones}`));
    const config = await discover(authentication());
    await expectWholeLife(createClient(config, buildUrl), { app, user: someone });
  });

  test('reports a denial, with valid state and issuer', async () => {
    const config = await discover(client.ClientSecretPost(app.clientSecret));
    const { checks, parameters } = await newChecks();
    const callback = await user.decide(client.buildAuthorizationUrl(config, parameters), 'deny');
    await expect(client.authorizationCodeGrant(config, callback, checks)).rejects.toMatchObject({
      error: 'access_denied',
    });
  });

  test('gets invalid_request when it omits PKCE and the app requires it', async () => {
    const config = await discover(client.ClientSecretPost(app.clientSecret));
    const { parameters } = await newChecks();
    // Errors redirect at once for people who share data with the app.
    await user.decide(client.buildAuthorizationUrl(config, parameters), { share: [HEART] });
    const { redirect_uri, scope, state } = parameters as Record<string, string>;
    const url = client.buildAuthorizationUrl(config, { redirect_uri, scope, state } as Record<
      string,
      string
    >);
    const answer = await user.open(url);
    expect(answer.status).toBe(303);
    const location = new URL(answer.headers.get('location') ?? '');
    expect(location.origin + location.pathname).toBe(REDIRECT_URI);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      error: 'invalid_request',
      state,
      iss: stack.gateway,
    });
  });

  test('gets a userless token, which has no grant', async () => {
    const config = await discover(client.ClientSecretBasic(app.clientSecret));
    const tokens = await client.clientCredentialsGrant(config, { scope: HEART });
    expect(tokens).toEqual({
      access_token: expect.stringMatching(/^phds_at_/),
      token_type: 'bearer',
      expires_in: 3600,
      scope: HEART,
    });
    await expect(readStatus(config, tokens.access_token)).resolves.toBe(403);
    const unknown = client.clientCredentialsGrant(config, { scope: 'read:everything' });
    await expect(unknown).rejects.toMatchObject({ error: 'invalid_scope' });
  });

  test('cannot authenticate with a wrong secret', async () => {
    const config = await discover(client.ClientSecretBasic(`${app.clientSecret}x`));
    await expect(client.clientCredentialsGrant(config)).rejects.toMatchObject({ status: 401 });
  });
});
