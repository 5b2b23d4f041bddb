import { describe, expect, test } from '@jest/globals';
import { listSamples } from '@phds/docs/samples';
import { readPages } from '@phds/docs/source';
import { type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { exportJWK, generateKeyPair } from 'jose';
import * as client from 'openid-client';
import { Browser } from '../src/browser.ts';
import { discover, newChecks } from '../src/openid-client.ts';
import {
  type ClientTokens,
  expectWholeLife,
  HEART,
  type StockClient,
  toAnswer,
} from '../src/stock-client-life.ts';

// oauth-clients.proof.ts plays the same with other clients.

const stack = await useSharedStack();
const developer = await signIn(stack, 'developer');
/** Requires PKCE. */
const strictApp = await registerApp(stack.gateway, developer, { requirePkce: true });
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
  interface Way {
    readonly name: string;
    readonly app: () => PartnerApp;
    readonly authentication: () => client.ClientAuth;
    readonly tokenType: 'bearer' | 'dpop';
  }
  const ways: Way[] = [
    {
      name: 'a pushed request and HTTP Basic',
      app: () => strictApp,
      authentication: () => client.ClientSecretBasic(strictApp.clientSecret),
      tokenType: 'bearer',
    },
    {
      name: 'a pushed request, assertions and proofs (FAPI 2.0)',
      app: () => fapiApp,
      authentication: () => client.PrivateKeyJwt(fapiKey.privateKey),
      tokenType: 'dpop',
    },
  ];

  async function createClient({ app: from, authentication, tokenType }: Way): Promise<StockClient> {
    const { redirectUri } = from();
    const config = await discover(from(), authentication());
    const options =
      tokenType === 'dpop'
        ? { DPoP: client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256')) }
        : {};
    const fromToken = (tokens: client.TokenEndpointResponse): ClientTokens => ({
      accessToken: tokens.access_token,
      refreshToken: tokens.refresh_token ?? '',
      sub: tokens['sub'] as string,
    });
    return {
      async connect(scopes, decide) {
        const { checks, parameters } = await newChecks(scopes.join(' '), redirectUri);
        const callback = await decide(await client.buildAuthorizationUrlWithPAR(config, parameters, options));
        const tokens = await client.authorizationCodeGrant(config, callback, checks, undefined, options);
        expect(tokens).toMatchObject({ token_type: tokenType, scope: HEART });
        expect(tokens.expiresIn()).toBeGreaterThan(3_000);
        return fromToken(tokens);
      },
      refresh: async ({ refreshToken }) =>
        fromToken(await client.refreshTokenGrant(config, refreshToken, undefined, options)),
      introspect: ({ accessToken }) => client.tokenIntrospection(config, accessToken),
      revoke: ({ refreshToken }) => client.tokenRevocation(config, refreshToken),
      request: (token, url, method) =>
        toAnswer(
          client.fetchProtectedResource(config, token, new URL(url), method, null, undefined, options),
        ),
      userless: async () => (await client.clientCredentialsGrant(config, undefined, options)).access_token,
      invalidGrant: { error: 'invalid_grant' },
    };
  }

  test.each(ways)('completes the life of a grant with $name', async (way) => {
    await expectWholeLife(await createClient(way), { app: way.app(), user: await somebody() });
  });

  test('as an app without a secret and without a key, such as AppAuth, connects at a free port, refreshes and revokes', async () => {
    const app = await registerApp(stack.gateway, developer, {
      applicationType: 'public',
      redirectUris: ['http://127.0.0.1/callback'],
    });
    const config = await discover(app, client.None());
    const { checks, parameters } = await newChecks(HEART, 'http://127.0.0.1:49152/callback');
    const url = client.buildAuthorizationUrl(config, parameters);
    const callback = await (await somebody()).decide(url.href, { share: [HEART] });
    const first = await client.authorizationCodeGrant(config, callback, checks);
    expect(first.token_type).toBe('bearer');
    expect(first.expiresIn()).toBeLessThanOrEqual(600);
    const next = await client.refreshTokenGrant(config, first.refresh_token ?? '');
    const read = () =>
      toAnswer(
        client.fetchProtectedResource(
          config,
          next.access_token,
          new URL(`${stack.gateway}/api/v1/health-data/heart`),
          'GET',
        ),
      );
    expect((await read()).status).toBe(200);
    await client.tokenRevocation(config, next.refresh_token ?? '');
    expect((await read()).status).toBe(401);
  });
});
