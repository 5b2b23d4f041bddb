import { describe, expect, test } from '@jest/globals';
import type { ClientCredentials } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { unauthorized } from '@phds/service-kit/errors';
import { bearer, liveToken, startTestGateway, type TestGateway } from './test-gateway.ts';

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
    await using gateway = await startGateway({ LIMIT_CLIENT_PER_MINUTE: '2' });
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
    await using gateway = await startGateway({ LIMIT_CLIENT_PER_MINUTE: '1' });
    const wrong = () => post(gateway, '/oauth/token', { ...CLIENT, client_secret: 'wrong' });
    const before = [await wrong(), await wrong(), await wrong()];
    expect((await post(gateway, '/oauth/token', CLIENT)).status).toBe(200);
    expect((await post(gateway, '/oauth/token', CLIENT)).status).toBe(429);
    for (const { status, headers } of [...before, await wrong()]) {
      expect(status).toBe(401);
      expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    }
  });

  test.each(['token', 'revoke', 'introspect', 'par', 'authorize'])(
    'are counted at /oauth/%s',
    async (path) => {
      await using gateway = await startGateway({ LIMIT_CLIENT_PER_MINUTE: '1' });
      await post(gateway, '/oauth/token', CLIENT);
      expect((await post(gateway, `/oauth/${path}`, CLIENT)).status).toBe(429);
    },
  );

  test("are counted at /oauth/grants by the token's app", async () => {
    await using gateway = await startGateway({ LIMIT_CLIENT_PER_MINUTE: '1' });
    const list = async (headers: Record<string, string>) =>
      (await gateway.fetch('/oauth/grants', { headers })).status;
    expect([await list({}), await list(bearer()), await list(bearer())]).toEqual([401, 200, 429]);
    expect(await list({})).toBe(401);
  });
});

describe('authorization requests without a secret', () => {
  const LIMIT = { LIMIT_ANONYMOUS_AUTHORIZATIONS_PER_MINUTE: '2' };
  const browse = (gateway: TestGateway, address: string) =>
    gateway.fetch(`/oauth/authorize?${new URLSearchParams({ ...AUTHORIZATION, client_id: 'app_1' })}`, {
      headers: { 'x-forwarded-for': address },
    });

  test('are limited by address, whichever app they name', async () => {
    await using gateway = await startGateway(LIMIT);
    const from = async (address: string, clientId: string) =>
      (await post(gateway, '/oauth/authorize', { ...AUTHORIZATION, client_id: clientId }, address)).status;
    expect([await from('192.0.2.1', 'app_1'), await from('192.0.2.1', 'app_2')]).toEqual([201, 201]);
    expect([await from('192.0.2.1', 'app_3'), await from('192.0.2.2', 'app_3')]).toEqual([429, 201]);
    expect(gateway.backends.callsOf('openAuthorization')).toHaveLength(3);
  });

  test('from a browser beyond the limit get a page that tells when to retry', async () => {
    await using gateway = await startGateway(LIMIT);
    const answers: Response[] = [];
    for (let i = 0; i < 3; i += 1) answers.push(await browse(gateway, '192.0.2.1'));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 429]);
    expect(answers[2]?.headers.get('content-type')).toMatch(/^text\/html/);
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
  const LIMITS = { LIMIT_USER_PER_MINUTE: '3', LIMIT_USER_CHANGES_PER_MINUTE: '2' };

  test.each([
    ['/partner/consent/grants', '/partner/consent/grants/revoke-all'],
    ['/developer/apps', '/developer/apps/app_1/rotate-secret'],
  ])('are limited for each person, separately for reads and changes: %s', async (list, change) => {
    await using gateway = await startGateway(LIMITS);
    const send = async (userId: string, path: string, method: string) => {
      const session = await gateway.sessions.issueSession(userId);
      return gateway.fetch(path, { method, headers: { authorization: `Bearer ${session}` } });
    };
    const reads: Response[] = [];
    for (let i = 0; i < 4; i += 1) reads.push(await send('ada', list, 'GET'));
    expect(reads.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(await reads[3]?.json()).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(reads[3]?.headers.get('ratelimit-policy')).toBe('"user";q=3;w=60');
    const changes: Response[] = [];
    for (let i = 0; i < 3; i += 1) changes.push(await send('ada', change, 'POST'));
    expect(changes.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(changes[2]?.headers.get('ratelimit')).toMatch(/^"user-changes";r=0;t=\d+$/);
    expect((await send('grace', list, 'GET')).status).toBe(200);
    expect((await gateway.fetch(list)).headers.get('ratelimit')).toBeNull();
  });
});

describe('costly requests have a limit of their own besides that of their surface', () => {
  const GRANT = { ...CLIENT, grant_type: 'client_credentials' };

  test('for tokens by client credentials, but not for those by code or refresh token', async () => {
    await using gateway = await startGateway({ LIMIT_CLIENT_CREDENTIALS_PER_MINUTE: '2' });
    const tokens = [await post(gateway, '/oauth/token', GRANT), await post(gateway, '/oauth/token', GRANT)];
    expect(tokens.map(({ status }) => status)).toEqual([200, 200]);
    expect(tokens[0]?.headers.get('ratelimit-policy')).toBe('"client-credentials";q=2;w=60');
    expect(tokens[0]?.headers.get('ratelimit')).toMatch(/^"client-credentials";r=1;t=\d+$/);
    const refused = await post(gateway, '/oauth/token', GRANT);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable', code: 'RATE_LIMITED' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit')).toMatch(/^"client-credentials";r=0;t=\d+$/);
    expect(gateway.backends.callsOf('issueToken')).toHaveLength(2);
    for (const grant_type of ['authorization_code', 'refresh_token']) {
      expect((await post(gateway, '/oauth/token', { ...CLIENT, grant_type })).status).toBe(200);
    }
    expect((await post(gateway, '/oauth/token', { ...GRANT, client_id: 'app_2' })).status).toBe(200);
    const wrong = await post(gateway, '/oauth/token', { ...GRANT, client_secret: 'wrong' });
    expect([wrong.status, wrong.headers.get('ratelimit')]).toEqual([401, null]);
  });

  const registration = { name: 'App', redirectUris: ['https://a.test/cb'] };
  test.each([
    ['registrations', 'POST', '/developer/apps', registration, 201],
    ['registrations', 'POST', '/developer/apps/app_1/rotate-secret', undefined, 200],
    ['previews', 'GET', '/partner/consent/preview?scope=read:mood', undefined, 200],
    ['summaries', 'GET', '/partner/consent/accesses/summary?timeZone=Asia/Kathmandu', undefined, 200],
    ['usage', 'GET', '/developer/apps/app_1/usage', undefined, 200],
  ])('for %s of each person: %s %s', async (name, method, path, body, status) => {
    const setting = `LIMIT_${name.toUpperCase()}_PER_MINUTE`;
    await using gateway = await startGateway({ [setting]: '2' });
    gateway.backends.answer({
      registerApp: () => ({ app: { clientId: 'app_1', status: AppStatus.ACTIVE }, clientSecret: 's' }),
    });
    const send = async (userId: string, to = path, by = method) => {
      const session = await gateway.sessions.issueSession(userId);
      const headers = { authorization: `Bearer ${session}`, 'content-type': 'application/json' };
      const content = by === 'POST' && body !== undefined ? { body: JSON.stringify(body) } : {};
      return gateway.fetch(to, { method: by, headers, ...content });
    };
    const answers = [await send('ada'), await send('ada'), await send('ada')];
    expect(answers.map((answer) => answer.status)).toEqual([status, status, 429]);
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe(`"${name}";q=2;w=60`);
    expect(answers[0]?.headers.get('ratelimit')).toMatch(new RegExp(`^"${name}";r=1;t=\\d+$`));
    expect(await answers[2]?.json()).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(Number(answers[2]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await send('grace')).status).toBe(status);
    expect((await send('ada', '/developer/apps', 'GET')).status).toBe(200);
  });
});

test('every response to an authenticated caller reports the state of its limit', async () => {
  await using gateway = await startGateway({});
  const session = { authorization: `Bearer ${await gateway.sessions.issueSession('ada')}` };
  const lists = ['/developer/apps', '/partner/consent/pending'];
  const histories = [
    '/partner/consent/grants',
    '/partner/consent/accesses',
    '/partner/consent/accesses/summary',
  ];
  for (const path of [...lists, ...histories, '/partner/session', '/partner/nothing']) {
    const { headers } = await gateway.fetch(path, { headers: session });
    expect([path, headers.get('ratelimit-policy')]).toEqual([path, '"user";q=600;w=60']);
    expect(headers.get('ratelimit')).toMatch(/^"user";r=\d+;t=\d+$/);
  }
  for (const path of ['token', 'revoke', 'introspect', 'par', 'authorize']) {
    const { headers } = await post(gateway, `/oauth/${path}`, CLIENT);
    expect([path, headers.get('ratelimit-policy')]).toEqual([path, '"client";q=6000;w=60']);
  }
});
