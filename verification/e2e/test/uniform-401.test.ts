import { expect, test } from '@jest/globals';
import { expectStatus, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { newId } from '@phds/service-kit/ids';
import { newSecret } from '@phds/service-kit/secrets';
import { endTokens, setStatus } from '../src/dead-tokens.ts';
import { type RawRequest, sendRaw, withoutDate } from '../src/raw-http.ts';

// The causes that only authorization and consent know. The gateway's own test has the bytes, and the causes that it sees itself.

const stack = await useSharedStack();
const developer = await signIn(stack, 'developer');
const person = await signIn(stack, 'uniform-401-ada');

/** Expects every request to be answered 401 with the same bytes, except Date. */
async function expectSameBytes(causes: Readonly<Record<string, RawRequest>>): Promise<void> {
  const entries = Object.entries(causes);
  const answers = await Promise.all(entries.map(([, request]) => sendRaw(stack.gateway, request)));
  const causesOf = Map.groupBy(entries.keys(), (index) => withoutDate(answers[index] ?? ''));
  const named = [...causesOf.values()].map((indexes) => indexes.map((index) => entries[index]?.[0]));
  expect(named).toEqual([Object.keys(causes)]);
  expect(answers[0]).toMatch(/^HTTP\/1\.1 401 /);
}

function post(path: string, fields: object): RawRequest {
  const headers = [['Content-Type', 'application/json']] as const;
  return { method: 'POST', path, headers, body: JSON.stringify(fields) };
}

test('a token, a secret or an app that has ended is refused like one that never was', async () => {
  const app = await registerApp(stack.gateway, developer);
  const { live, code, dead } = await endTokens(app, developer, person);
  const tokens = {
    'an unknown token': newSecret('access_token'),
    ...dead,
    'a client secret': app.clientSecret,
    'an authorization code': code,
    'a refresh token': live.refreshToken,
  };
  const read = (token: string): RawRequest => ({
    path: '/api/v1/health-data/heart',
    headers: [['Authorization', `Bearer ${token}`]],
  });
  await expectSameBytes(
    Object.fromEntries(Object.entries(tokens).map(([cause, token]) => [cause, read(token)])),
  );
  expect(await sendRaw(stack.gateway, read(live.accessToken))).toMatch(/^HTTP\/1\.1 200 /);

  const [suspended, revoked] = [
    await registerApp(stack.gateway, developer),
    await registerApp(stack.gateway, developer),
  ];
  await setStatus(suspended, developer, 'suspended');
  await setStatus(revoked, developer, 'revoked');
  const rotation = `${stack.gateway}/developer/apps/${app.clientId}/rotate-secret`;
  const rotated = expectStatus(200, await send(rotation, { method: 'POST', bearer: developer }));
  const client_id = app.clientId;
  const issue = (client: object) => post('/oauth/token', { grant_type: 'client_credentials', ...client });
  const ask = (client: object) =>
    post('/oauth/authorize', { redirect_uri: REDIRECT_URI, scope: 'read:profile', ...client });
  await expectSameBytes({
    'an unknown client': issue({ client_id: newId('app'), client_secret: newSecret('client_secret') }),
    'a wrong secret': issue({ client_id, client_secret: newSecret('client_secret') }),
    'the secret from before its rotation': issue(app.credentials),
    'the secret of another app': issue({ client_id, client_secret: suspended.clientSecret }),
    'an access token for a secret': issue({ client_id, client_secret: live.accessToken }),
    'a suspended app': issue(suspended.credentials),
    'a revoked app': issue(revoked.credentials),
    'a request of an unknown client': ask({ client_id: newId('app') }),
    'a request of a suspended app': ask({ client_id: suspended.clientId }),
    'a request of a revoked app': ask({ client_id: revoked.clientId }),
    'a request with an earlier secret': ask(app.credentials),
  });
  app.clientSecret = rotated.body.data.clientSecret;
  expect(await sendRaw(stack.gateway, issue(app.credentials))).toMatch(/^HTTP\/1\.1 200 /);
});
