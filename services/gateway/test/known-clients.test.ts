import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ClientCredentials } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { unauthorized } from '@phds/service-kit/errors';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

let gateway: TestGateway;
/** The secret that authorization accepts. */
let secret: string;

beforeAll(async () => {
  gateway = await startTestGateway({ LIMIT_CLIENT_PER_MINUTE: '5' });
  const judge = (client: ClientCredentials | undefined) => {
    if (client?.clientSecret !== secret) throw unauthorized();
    return { clientId: client.clientId ?? '' };
  };
  gateway.backends.answer({
    authenticateClient: ({ client }) => judge(client),
    issueToken: ({ client }) => judge(client) && { accessToken: 'x' },
    introspectOwnToken: ({ client }) => judge(client) && { active: false },
    openAuthorization: ({ client }) => judge(client) && { pendingId: 'apr_1' },
  });
});
beforeEach(() => {
  secret = 'first';
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
});

function send(clientId: string, clientSecret: string, path = 'token'): Promise<Response> {
  const body = new URLSearchParams({ client_id: clientId, client_secret: clientSecret });
  return gateway.fetch(`/oauth/${path}`, { method: 'POST', body });
}

const remaining = (answer: Response) => /r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1];
const countAuthentications = () => gateway.backends.callsOf('authenticateClient').length;

test('credentials that were right before are counted without being authenticated twice', async () => {
  const before = countAuthentications();
  const answers = [await send('app_1', 'first'), await send('app_1', 'first', 'introspect')];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers.map(remaining)).toEqual(['4', '3']);
  expect(countAuthentications() - before).toBe(1);
});

test.each(['token', 'introspect', 'par'])(
  'a replaced secret gets the uniform 401 at /oauth/%s, and takes at most one request from the limit of its app',
  async (path) => {
    const app = `app_of_${path}`;
    expect(remaining(await send(app, 'first'))).toBe('4');
    secret = 'second';
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const refused = await send(app, 'first', path);
      expect(refused.status).toBe(401);
      expect([...refused.headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    }
    expect(remaining(await send(app, 'second'))).toBe('2');
  },
);

test('other credentials of a known app are authenticated first and take nothing from its limit', async () => {
  expect(remaining(await send('app_3', 'first'))).toBe('4');
  for (const wrong of ['', 'second', 'first ']) expect((await send('app_3', wrong)).status).toBe(401);
  expect(remaining(await send('app_3', 'first'))).toBe('3');
});
