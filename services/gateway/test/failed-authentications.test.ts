import { describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppError, unauthorized } from '@phds/service-kit/errors';
import { newSecret } from '@phds/service-kit/secrets';
import { bearer, documentOf, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

const HEART = '/api/v1/health-data/heart';
const token = newSecret('access_token');

/** Gives every access token this status, and every app the same secret. */
function answer(gateway: TestGateway, status = TokenStatus.LIVE): void {
  gateway.backends.answer({
    introspect: () => (status === TokenStatus.LIVE ? liveToken() : { status }),
    read: () => documentOf({ data: [] }),
    issueToken: ({ client }) => {
      if (client?.clientSecret !== 'right') throw unauthorized();
      return { accessToken: 'x' };
    },
  });
}

const statuses = async (
  gateway: TestGateway,
  count: number,
  init: RequestInit = { headers: bearer(token) },
) => {
  const seen: number[] = [];
  for (let i = 0; i < count; i += 1) seen.push((await gateway.fetch(HEART, init)).status);
  return seen;
};

const post = (gateway: TestGateway, clientId: string, clientSecret: string) =>
  gateway.fetch('/oauth/token', {
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret }),
  });

describe('failed authentications', () => {
  test('of one address become 429, and a valid credential is never refused', async () => {
    await using gateway = await startTestGateway({ LIMIT_AUTH_FAILURES_PER_MINUTE: '2' });
    answer(gateway);
    expect(await statuses(gateway, 3, {})).toEqual([401, 401, 429]);
    expect((await gateway.fetch('/developer/apps')).status).toBe(429);
    expect((await post(gateway, 'app_1', 'wrong')).status).toBe(429);
    expect((await post(gateway, 'app_1', 'right')).status).toBe(200);
    expect(await statuses(gateway, 1)).toEqual([200]);
  });

  test('of one client id, existing or not, become 429 from every address', async () => {
    await using gateway = await startTestGateway({ LIMIT_AUTH_FAILURES_PER_MINUTE: '2', TRUST_PROXY: '1' });
    answer(gateway);
    const from = (address: string, clientId: string) =>
      gateway.fetch('/oauth/token', {
        method: 'POST',
        headers: { 'x-forwarded-for': address },
        body: new URLSearchParams({ client_id: clientId, client_secret: 'wrong' }),
      });
    for (const address of ['192.0.2.1', '192.0.2.2']) expect((await from(address, 'app_1')).status).toBe(401);
    const refused = await from('192.0.2.3', 'app_1');
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable', code: 'RATE_LIMITED' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await from('192.0.2.4', 'app_2')).status).toBe(401);
  });

  test('of one credential count for the address only once a minute, so that one credential cannot use up the address', async () => {
    await using gateway = await startTestGateway({ LIMIT_AUTH_FAILURES_PER_MINUTE: '4' });
    answer(gateway, TokenStatus.UNKNOWN);
    const secrets: number[] = [];
    for (let i = 0; i < 6; i += 1) secrets.push((await post(gateway, 'app_1', `wrong ${i}`)).status);
    expect(secrets).toEqual([401, 401, 401, 401, 429, 429]);
    const unknown = { headers: bearer(newSecret('access_token')) };
    expect(await statuses(gateway, 5, unknown)).toEqual([401, 401, 401, 401, 429]);
    // Anything without the form of a credential counts for the address each time.
    expect(await statuses(gateway, 1, { headers: bearer('garbage') })).toEqual([401]);
    // Three of four are used. Another credential takes the last one.
    expect((await post(gateway, 'app_2', 'wrong')).status).toBe(401);
    expect((await post(gateway, 'app_3', 'wrong')).status).toBe(429);
    // An address over its limit gets no further 401, not even for the same credential.
    expect((await post(gateway, 'app_3', 'wrong')).status).toBe(429);
    expect((await post(gateway, 'app_2', 'wrong')).status).toBe(429);
    expect((await post(gateway, 'app_1', 'right')).status).toBe(200);
  });

  test('with guessed tokens count for the address, even when the tokens are well-formed', async () => {
    await using gateway = await startTestGateway({ LIMIT_AUTH_FAILURES_PER_MINUTE: '3' });
    gateway.backends.answer({ introspect: () => ({ status: TokenStatus.UNKNOWN }) });
    const seen: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      seen.push(...(await statuses(gateway, 1, { headers: bearer(newSecret('access_token')) })));
    }
    expect(seen).toEqual([401, 401, 401, 429, 429]);
  });

  test('with tokens that were issued but have ended count for each token and never for the address', async () => {
    await using gateway = await startTestGateway({ LIMIT_AUTH_FAILURES_PER_MINUTE: '3' });
    const ended = () => ({ headers: bearer(newSecret('access_token')) });
    const readEach = async (count: number) => {
      const seen: number[] = [];
      for (let i = 0; i < count; i += 1) seen.push(...(await statuses(gateway, 1, ended())));
      return new Set(seen);
    };
    gateway.backends.answer({ introspect: () => ({ status: TokenStatus.DEAD }) });
    expect(await readEach(61)).toEqual(new Set([401]));
    expect(await statuses(gateway, 4, ended())).toEqual([401, 401, 401, 429]);
    // Refused by the record step only: the gateway has cached the token as live.
    gateway.backends.answer({
      introspect: () => liveToken(),
      read: () => {
        throw unauthorized();
      },
    });
    expect(await readEach(61)).toEqual(new Set([401]));
    // The address still has its full allowance.
    gateway.backends.answer({});
    expect(await statuses(gateway, 4, {})).toEqual([401, 401, 401, 429]);
  });

  test('caused by distrust between services are not counted and answer 500', async () => {
    await using gateway = await startTestGateway({ LIMIT_AUTH_FAILURES_PER_MINUTE: '1' });
    for (const reason of ['internal', 'caller_not_admitted'] as const) {
      gateway.backends.answer({
        introspect: () => liveToken(),
        read: () => {
          throw new AppError(reason);
        },
      });
      expect(await statuses(gateway, 3)).toEqual([500, 500, 500]);
    }
    expect(await statuses(gateway, 2, {})).toEqual([401, 429]);
    expect(gateway.log.filter((line) => JSON.parse(line).level === 'error')).toHaveLength(6);
  });

  test('use a forwarded address only when a proxy is trusted', async () => {
    await using gateway = await startTestGateway({ LIMIT_AUTH_FAILURES_PER_MINUTE: '1' });
    answer(gateway);
    expect(await statuses(gateway, 1, {})).toEqual([401]);
    const spoofed = { headers: { 'x-forwarded-for': '198.51.100.7' } };
    expect(await statuses(gateway, 1, spoofed)).toEqual([429]);
  });

  test('use the address that the trusted proxy reports, on the data API as on every other surface', async () => {
    await using gateway = await startTestGateway({ LIMIT_AUTH_FAILURES_PER_MINUTE: '1', TRUST_PROXY: '1' });
    answer(gateway);
    // What a client claims stands before the address that the proxy adds.
    const from = (address: string) => ({ headers: { 'x-forwarded-for': `203.0.113.9, ${address}` } });
    expect(await statuses(gateway, 2, from('192.0.2.1'))).toEqual([401, 429]);
    expect(await statuses(gateway, 1, from('192.0.2.2'))).toEqual([401]);
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      expect((await gateway.fetch('/partner/consent/grants', from(address))).status).toBe(429);
    }
    expect((await gateway.fetch('/partner/consent/grants', from('192.0.2.3'))).status).toBe(401);
    expect(await statuses(gateway, 1, from('192.0.2.3'))).toEqual([429]);
  });
});
