import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { giveFirstReadings } from '@phds/running-system/ingestion';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { type Client, type Connection, createClient, memoryTokenStore, type TokenStore } from '@phds/sdk';
import { checkedFetch } from '@phds/test-kit/checked-answers';
import { type LosingProxy, startLosingProxy } from '../src/losing-proxy.ts';

const HEART = 'read:health-data:heart';
const HOUR_MS = 3_600_000;
const REFRESH = 'POST /oauth/token';
const READ = 'GET /api/v1/health-data/heart';

let proxy: LosingProxy;
let store: TokenStore;
/** How far the clock of the app is ahead, so that its access tokens seem to have expired. */
let aheadMs: number;
let connection: Connection;

const stack = await useSharedStack();
const session = await signIn(stack, 'sdk-tokens');
await giveFirstReadings(stack, ['sdk-tokens']);
const app = await registerApp(stack.gateway, session, { requirePkce: true });

beforeEach(async () => {
  proxy = await startLosingProxy(stack.gateway);
  store = memoryTokenStore();
  aheadMs = 0;
  const client = newProcess();
  const { callbackUrl, kept } = await app.ask(session, { scopes: [HEART] }, {}, client);
  connection = await client.exchange(callbackUrl, kept);
  proxy.requests.length = 0;
});

afterEach(async () => proxy?.[Symbol.asyncDispose]());

const clock = { now: () => Date.now() + aheadMs, sleep: async () => undefined };

/** Another process of the app, with the same store. */
function newProcess(retryBudgetMs = 30_000): Client {
  return app.client({ baseUrl: proxy.url, store, clock, retryBudgetMs });
}

const readings = (from: Connection) => from.healthData('heart').toArray({ limit: 100 });

/** Makes calls at once; each has to get the person's one reading. */
async function readInParallel(calls: number, from: readonly Connection[] = [connection]): Promise<void> {
  const results = await Promise.all(
    Array.from({ length: calls }, (_, index) => readings(from[index % from.length] as Connection)),
  );
  expect(results.map(({ length }) => length)).toEqual(Array(calls).fill(1));
}

const count = (line: string) => proxy.requests.filter((request) => request === line).length;

test('two processes that refresh at once both go on, and so do later refreshes', async () => {
  const others = [connection, newProcess().connection(connection.id)];
  for (let hour = 1; hour <= 3; hour += 1) {
    aheadMs = hour * HOUR_MS;
    await readInParallel(10, others);
  }
  expect(count(REFRESH)).toBeGreaterThanOrEqual(3);
  expect(count(REFRESH)).toBeLessThanOrEqual(6);
});

describe('a lost answer', () => {
  test('to a refresh costs nothing when the process ends with it, and another one goes on', async () => {
    aheadMs = HOUR_MS;
    proxy.loseAnswerTo(REFRESH);
    const ending = newProcess(0).connection(connection.id);
    await expect(readings(ending)).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
    await readInParallel(5, [newProcess().connection(connection.id)]);
    aheadMs = 2 * HOUR_MS;
    await readInParallel(5, [newProcess().connection(connection.id)]);
  });

  test('to a page, a pushed request, a revocation or the end of a grant costs nothing', async () => {
    const client = newProcess();
    proxy.loseAnswerTo(READ);
    await readInParallel(1);

    proxy.loseAnswerTo('POST /oauth/par');
    const { callbackUrl, kept } = await app.ask(session, { scopes: [HEART] }, {}, client);
    connection = await client.exchange(callbackUrl, kept);
    await readInParallel(1);

    proxy.loseAnswerTo('POST /oauth/revoke');
    const { accessToken } = await connection.accessTokens();
    await connection.disconnect();
    expect(await client.introspect(accessToken)).toEqual({ active: false });

    proxy.loseAnswerTo(`DELETE /oauth/grants/${connection.id}`);
    await client.endGrant(connection.id);
    expect((await client.grant(connection.id)).status).toBe('revoked');
    expect(proxy.toLose).toBe(0);
  });
});

test('an app with the four settings of FAPI 2.0 loses nothing with an answer, nor with a wrong clock', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const bound = await registerApp(stack.gateway, session, {
    tokenEndpointAuthMethod: 'private_key_jwt',
    requirePkce: true,
    dpopBoundAccessTokens: true,
    requirePushedAuthorizationRequests: true,
    jwks: { keys: [publicKey.export({ format: 'jwk' })] },
    redirectUris: ['https://app.example/callback'],
  });
  const { clientId, redirectUri, issuer } = bound;
  const clientKey = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const place = { baseUrl: proxy.url, issuer, clientId, redirectUri, store, clock, fetch: checkedFetch };
  const client = createClient({ ...place, clientKey, dpop: true });
  proxy.loseAnswerTo('POST /oauth/par');
  const { callbackUrl, kept } = await bound.ask(session, { scopes: [HEART] }, {}, client);
  connection = await client.exchange(callbackUrl, kept);
  aheadMs = HOUR_MS;
  proxy.loseAnswerTo(REFRESH);
  proxy.loseAnswerTo(READ);
  await readInParallel(5);
  expect(proxy.toLose).toBe(0);
  // The exchange, and a refresh whose answer is lost, that is refused for its time, and that succeeds.
  expect(count(REFRESH)).toBe(4);
  const { tokenType, accessToken, refreshToken } = await connection.accessTokens();
  expect([tokenType, (await client.introspect(refreshToken)).active]).toEqual(['DPoP', true]);
  await connection.disconnect();
  expect(await client.introspect(accessToken)).toEqual({ active: false });
});
