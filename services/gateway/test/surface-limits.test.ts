import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { ClientCredentials } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, unauthorized } from '@phds/service-kit/errors';
import { newSecret } from '@phds/service-kit/secrets';
import {
  bearer,
  documentOf,
  liveToken,
  messageIn,
  repeatRequest,
  shareTestGateway,
  startTestGateway,
  type TestGateway,
  throwing,
  VISIT,
} from './test-gateway.ts';

describe('limits of surfaces', () => {
  const AUTHORIZATION = { redirect_uri: 'https://a.test/cb', scope: 'read:mood', response_type: 'code' };

  /** Lets authorization know one app and its secret. */
  function answer(gateway: TestGateway): void {
    const judge = (client: ClientCredentials | undefined) => {
      if (client?.clientSecret !== 'right') throw unauthorized();
      return { clientId: client.clientId ?? '' };
    };
    gateway.backends.answer({
      authenticateClient: ({ client }) => judge(client),
      issueToken: ({ client }) => judge(client) && { accessToken: 'x' },
      openAuthorization: () => ({ pendingId: 'apr_1', requestUri: 'urn:x:apr_1', expiresInSeconds: 600 }),
      introspect: () => liveToken({ principal: { clientId: 'app_1', userId: '' } }),
    });
  }

  async function startGateway(env: Readonly<Record<string, string>>): Promise<TestGateway> {
    const gateway = await startTestGateway({ TRUST_PROXY: '1', ...env });
    answer(gateway);
    return gateway;
  }

  const post = (gateway: TestGateway, path: string, fields: Record<string, string>, address = '192.0.2.1') =>
    gateway.fetch(path, {
      method: 'POST',
      headers: { 'x-forwarded-for': address },
      body: new URLSearchParams(fields),
    });

  const CLIENT = { client_id: 'app_1', client_secret: 'right' };

  describe('requests of an app under /oauth', () => {
    test('beyond its limit are refused, and every response reports the state of the limit', async () => {
      await using gateway = await startGateway({ LIMITS: 'client=2' });
      const token = () => post(gateway, '/oauth/token', CLIENT);
      const [first, second, third] = [await token(), await token(), await token()];
      expect([first.status, second.status, third.status]).toEqual([200, 200, 429]);
      expect(first.headers.get('ratelimit-policy')).toBe('"client";q=2;w=60');
      expect(first.headers.get('ratelimit')).toMatch(/^"client";r=1;t=\d+$/);
      expect(await third.json()).toMatchObject({ error: 'temporarily_unavailable', code: 'RATE_LIMITED' });
      expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(third.headers.get('ratelimit')).toMatch(/^"client";r=0;t=\d+$/);
      expect((await post(gateway, '/oauth/token', { ...CLIENT, client_id: 'app_2' })).status).toBe(200);
    });

    test('without its secret do not count against its limit and are not told about it', async () => {
      await using gateway = await startGateway({ LIMITS: 'client=1' });
      const wrong = () => post(gateway, '/oauth/token', { ...CLIENT, client_secret: 'wrong' });
      const before = [await wrong(), await wrong(), await wrong()];
      expect((await post(gateway, '/oauth/token', CLIENT)).status).toBe(200);
      expect((await post(gateway, '/oauth/token', CLIENT)).status).toBe(429);
      for (const { status, headers } of [...before, await wrong()]) {
        expect(status).toBe(401);
        expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
      }
    });

    test('are limited by network if it has no secret', async () => {
      await using gateway = await startGateway({ LIMITS: 'public-clients=2' });
      gateway.backends.answer({ authenticateClient: ({ client }) => ({ clientId: client?.clientId ?? '' }) });
      const statuses: number[] = [];
      for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1']) {
        statuses.push((await post(gateway, '/oauth/token', { client_id: 'app_1' }, address)).status);
      }
      expect(statuses).toEqual([200, 200, 429, 200]);
    });

    test("are counted at /oauth/grants by the token's app", async () => {
      await using gateway = await startGateway({ LIMITS: 'client=1' });
      const list = async (headers: Record<string, string>) =>
        (await gateway.fetch('/oauth/grants', { headers })).status;
      expect([await list({}), await list(bearer()), await list(bearer())]).toEqual([401, 200, 429]);
      expect(await list({})).toBe(401);
    });
  });

  describe('authorization requests without a secret', () => {
    const LIMIT = { LIMITS: 'anonymous-authorizations=2' };
    const browse = (gateway: TestGateway, address: string) =>
      gateway.fetch(`/oauth/authorize?${new URLSearchParams({ ...AUTHORIZATION, client_id: 'app_1' })}`, {
        headers: { ...VISIT, 'x-forwarded-for': address },
      });

    test('are limited by address, whichever app they name', async () => {
      await using gateway = await startGateway(LIMIT);
      const from = async (address: string, clientId: string) =>
        (await post(gateway, '/oauth/authorize', { ...AUTHORIZATION, client_id: clientId }, address)).status;
      expect([await from('192.0.2.1', 'app_1'), await from('192.0.2.1', 'app_2')]).toEqual([201, 201]);
      expect([await from('192.0.2.1', 'app_3'), await from('192.0.2.2', 'app_3')]).toEqual([429, 201]);
      expect(gateway.backends.callsOf('openAuthorization')).toHaveLength(3);
    });

    test('from a browser beyond the limit get a message that tells when to retry', async () => {
      await using gateway = await startGateway(LIMIT);
      const answers: Response[] = [];
      for (let i = 0; i < 3; i += 1) answers.push(await browse(gateway, '192.0.2.1'));
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 429]);
      expect(messageIn((await answers[2]?.text()) ?? '')).toEqual({ code: 'AUTHORIZATION_UNAVAILABLE' });
      expect(Number(answers[2]?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answers[2]?.headers.get('ratelimit-policy')).toBe('"anonymous-authorizations";q=2;w=60');
      expect((await browse(gateway, '192.0.2.2')).status).toBe(303);
    });

    test('beyond the limit do not affect an app that sends its secret', async () => {
      await using gateway = await startGateway(LIMIT);
      for (let i = 0; i < 5; i += 1) await browse(gateway, '192.0.2.1');
      expect((await post(gateway, '/oauth/authorize', { ...AUTHORIZATION, ...CLIENT })).status).toBe(201);
      expect((await post(gateway, '/oauth/par', { ...AUTHORIZATION, ...CLIENT })).status).toBe(201);
    });
  });

  describe('requests of a session', () => {
    const gateway = shareTestGateway({ LIMITS: 'user=3,user-changes=2' });

    test.each([
      ['/partner/consent/accesses/summary', '/partner/consent/grants/revoke-all', 200],
      ['/developer/apps', '/developer/apps/app_1/webhook/test', 202],
    ])('are limited for each person, separately for reads and changes: %s', async (list, change, done) => {
      const ada = randomUUID();
      const send = async (userId: string, path: string, method: string) => {
        const session = await gateway.sessions.issueSession(userId);
        return gateway.fetch(path, { method, headers: bearer(session) });
      };
      const reads: Response[] = [];
      for (let i = 0; i < 4; i += 1) reads.push(await send(ada, list, 'GET'));
      expect(reads.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
      expect(await reads[3]?.json()).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
      for (const { headers } of reads) expect(headers.get('ratelimit-policy')).toBe('"user";q=3;w=60');
      const changes: Response[] = [];
      for (let i = 0; i < 3; i += 1) changes.push(await send(ada, change, 'POST'));
      expect(changes.map(({ status }) => status)).toEqual([done, done, 429]);
      expect(changes[2]?.headers.get('ratelimit')).toMatch(/^"user-changes";r=0;t=\d+$/);
      expect((await send(randomUUID(), list, 'GET')).status).toBe(200);
      expect((await gateway.fetch(list)).headers.get('ratelimit')).toBeNull();
    });
  });

  describe('costly requests', () => {
    const GRANT = { ...CLIENT, grant_type: 'client_credentials' };

    test('for tokens by client credentials have a limit of their own, apart from those by code or refresh token', async () => {
      await using gateway = await startGateway({ LIMITS: 'client-credentials=2' });
      const tokens = [await post(gateway, '/oauth/token', GRANT), await post(gateway, '/oauth/token', GRANT)];
      expect(tokens.map(({ status }) => status)).toEqual([200, 200]);
      expect(tokens[0]?.headers.get('ratelimit-policy')).toBe('"client-credentials";q=2;w=60');
      expect(tokens[0]?.headers.get('ratelimit')).toMatch(/^"client-credentials";r=1;t=\d+$/);
      const refused = await post(gateway, '/oauth/token', GRANT);
      expect(refused.status).toBe(429);
      expect(refused.headers.get('ratelimit')).toMatch(/^"client-credentials";r=0;t=\d+$/);
      expect(gateway.backends.callsOf('issueToken')).toHaveLength(2);
      for (const grant_type of ['authorization_code', 'refresh_token']) {
        expect((await post(gateway, '/oauth/token', { ...CLIENT, grant_type })).status).toBe(200);
      }
      expect((await post(gateway, '/oauth/token', { ...GRANT, client_id: 'app_2' })).status).toBe(200);
      const wrong = await post(gateway, '/oauth/token', { ...GRANT, client_secret: 'wrong' });
      expect([wrong.status, wrong.headers.get('ratelimit')]).toEqual([401, null]);
    });

    const gateway = shareTestGateway({ LIMITS: 'user-costly=60' });
    const registration = { name: 'App', redirectUris: ['https://a.test/cb'] };
    test.each([
      [30, 'POST', '/developer/apps', registration, 201],
      [30, 'POST', '/developer/apps/app_1/rotate-secret', undefined, 200],
      [10, 'GET', '/partner/consent/preview?scope=read:mood', undefined, 200],
      [30, 'GET', '/partner/consent/overview', undefined, 200],
      [5, 'GET', '/partner/consent/accesses/summary?timeZone=Asia/Kathmandu', undefined, 200],
      [5, 'GET', '/developer/apps/app_1/usage', undefined, 200],
    ])('take %i points that a revocation does not need: %s %s', async (cost, method, path, body, done) => {
      gateway.backends.answer({
        registerApp: () => ({ app: { clientId: 'app_1', status: AppStatus.ACTIVE }, clientSecret: 's' }),
      });
      const session = await gateway.sessions.issueSession(randomUUID());
      const headers = { authorization: `Bearer ${session}`, 'content-type': 'application/json' };
      const content = body === undefined ? {} : { body: JSON.stringify(body) };
      const send = () => gateway.fetch(path, { method, headers, ...content });
      for (let left = 60 - cost; left >= 0; left -= cost) {
        const answer = await send();
        expect(answer.status).toBe(done);
        expect(answer.headers.get('ratelimit-policy')).toBe('"user-costly";q=60;w=60');
        expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"user-costly";r=${left};t=\\d+$`));
      }
      const refused = await send();
      expect(refused.status).toBe(429);
      expect((await gateway.fetch('/partner/consent/grants', { headers })).status).toBe(200);
      const revocation = { method: 'DELETE', headers };
      expect((await gateway.fetch('/partner/consent/grants/grt_1', revocation)).status).toBe(200);
    });
  });
});

describe('failed authentications', () => {
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

  const statuses = (gateway: TestGateway, count: number, init: RequestInit = { headers: bearer(token) }) =>
    repeatRequest(gateway, HEART, count, init);

  const post = (gateway: TestGateway, clientId: string, clientSecret: string) =>
    gateway.fetch('/oauth/token', {
      method: 'POST',
      body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret }),
    });

  test('of one address become 429, and a valid credential is never refused', async () => {
    await using gateway = await startTestGateway({ LIMITS: 'failed-authentications=2' });
    answer(gateway);
    expect(await statuses(gateway, 3, {})).toEqual([401, 401, 429]);
    expect((await gateway.fetch('/developer/apps')).status).toBe(429);
    expect((await post(gateway, 'app_1', 'wrong')).status).toBe(429);
    expect((await post(gateway, 'app_1', 'right')).status).toBe(200);
    expect(await statuses(gateway, 1)).toEqual([200]);
  });

  test('of one client id, existing or not, become 429 from every address', async () => {
    await using gateway = await startTestGateway({ LIMITS: 'failed-authentications=2', TRUST_PROXY: '1' });
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
    await using gateway = await startTestGateway({ LIMITS: 'failed-authentications=4' });
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

  test('with tokens that were issued but have ended count for each token and never for the address', async () => {
    await using gateway = await startTestGateway({ LIMITS: 'failed-authentications=3' });
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
      read: throwing(unauthorized()),
    });
    expect(await readEach(61)).toEqual(new Set([401]));
    // The address still has its full allowance.
    gateway.backends.answer({});
    expect(await statuses(gateway, 4, {})).toEqual([401, 401, 401, 429]);
  });

  test('caused by distrust between services are not counted and answer 500', async () => {
    await using gateway = await startTestGateway({ LIMITS: 'failed-authentications=1' });
    for (const reason of ['internal', 'caller_not_admitted'] as const) {
      gateway.backends.answer({
        introspect: () => liveToken(),
        read: throwing(new AppError(reason)),
      });
      expect(await statuses(gateway, 3)).toEqual([500, 500, 500]);
    }
    expect(await statuses(gateway, 2, {})).toEqual([401, 429]);
    expect(gateway.log.filter((line) => JSON.parse(line).level === 'error')).toHaveLength(6);
  });

  test('use a forwarded address only when a proxy is trusted', async () => {
    await using gateway = await startTestGateway({ LIMITS: 'failed-authentications=1' });
    answer(gateway);
    expect(await statuses(gateway, 1, {})).toEqual([401]);
    const spoofed = { headers: { 'x-forwarded-for': '198.51.100.7' } };
    expect(await statuses(gateway, 1, spoofed)).toEqual([429]);
  });

  test('use the address that the trusted proxy reports, on the data API as on every other surface', async () => {
    await using gateway = await startTestGateway({ LIMITS: 'failed-authentications=1', TRUST_PROXY: '1' });
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
