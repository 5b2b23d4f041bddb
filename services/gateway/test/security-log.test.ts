import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { unauthorized } from '@phds/service-kit/errors';
import { newSecret } from '@phds/service-kit/secrets';
import { eventually } from '@phds/test-kit/conditions';
import { bearer, startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ TRUST_PROXY: '1' });
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.log.length = 0;
});

const lines = () => gateway.log.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'security');
const FROM = { 'x-forwarded-for': '203.0.113.9' };
const ADDRESS = '203.0.113.9';
const REFUSED = { security: 'authentication-refused', level: 'warn', address: ADDRESS, outcome: 401 };

test('a refused access token is in the security log with its cause, and without the token', async () => {
  const token = newSecret('access_token');
  await gateway.fetch('/api/v1/profile', { headers: { ...bearer(token), ...FROM } });
  expect(lines()).toMatchObject([{ ...REFUSED, cause: 'token is not known', route: '/api/v1/profile' }]);
  expect(lines()[0].requestId).toMatch(/^req_/);
  expect(gateway.log.join('')).not.toContain(token);
});

test('a refused secret is in the security log with the client and the cause that only authorization knows', async () => {
  gateway.backends.answer({
    issueToken: () => {
      throw unauthorized('wrong secret');
    },
  });
  const secret = newSecret('client_secret');
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'app_1',
    client_secret: secret,
  });
  const answer = await gateway.fetch('/oauth/token', { method: 'POST', body, headers: FROM });
  expect(await answer.text()).not.toContain('wrong secret');
  expect(lines()).toMatchObject([
    { ...REFUSED, client: 'app_1', cause: 'wrong secret', route: '/oauth/token' },
  ]);
  expect(gateway.log.join('')).not.toContain(secret);
});

test('a secret in the place of the client id is not logged', async () => {
  const secret = newSecret('client_secret');
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: secret,
    client_secret: secret,
  });
  gateway.backends.answer({
    issueToken: () => {
      throw unauthorized('unknown client');
    },
  });
  await gateway.fetch('/oauth/token', { method: 'POST', body });
  expect(lines()).toMatchObject([{ client: null, cause: 'unknown client' }]);
  expect(gateway.log.join('')).not.toContain(secret);
});

test('the rotation of a secret is in the security log, whether it was made or refused', async () => {
  const session = await gateway.sessions.issueSession('ada');
  const headers = { authorization: `Bearer ${session}`, ...FROM };
  await gateway.fetchUnchecked('/developer/apps/app_1/rotate-secret', { method: 'POST', headers });
  await eventually(() =>
    expect(lines()).toMatchObject([
      {
        security: 'rotation',
        client: 'app_1',
        address: ADDRESS,
        route: '/developer/apps/:clientId/rotate-secret',
      },
    ]),
  );
});

test('many refusals fill neither the log nor hide an event of another kind', async () => {
  const started = performance.now();
  const refused = Array.from({ length: 100 }, () => gateway.fetch('/api/v1/profile', { headers: bearer() }));
  await Promise.all(refused);
  const count = async () => {
    const written = lines().filter(({ security }) => security === 'authentication-refused').length;
    const omitted = lines().reduce((sum, { omitted = 0 }) => sum + omitted, 0);
    return { written, all: written + omitted };
  };
  await eventually(async () => expect((await count()).all).toBe(100));
  // Ten in each second that began while the requests were answered.
  const seconds = Math.ceil((performance.now() - started) / 1_000) + 1;
  expect((await count()).written).toBeLessThanOrEqual(10 * seconds);
});
