import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CheckSessionRequest } from '@phds/contracts/phds/consent/v1/sessions_pb';
import { unavailable } from '@phds/service-kit/errors';
import { sha256 } from '@phds/service-kit/secrets';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import { OPERATIONS } from '../src/http/operations.ts';
import type { Answers } from './fake-backends.ts';
import {
  bearer,
  documentOf,
  exchangeRaw,
  liveToken,
  startTestGateway,
  throwing,
  UNIFORM_PROBLEM,
} from './test-gateway.ts';

const OPENID = {
  OIDC_ISSUER: 'https://id.test',
  OIDC_CLIENT_ID: 'phds',
  OIDC_CLIENT_SECRET: 'secret',
  SIGN_IN_KEY: Buffer.alloc(32).toString('base64'),
};

/** The tokens that consent knows as ended. */
const ended = new Set<string>();

const hex = (hash: Uint8Array) => Buffer.from(hash).toString('hex');
const checkSession = ({ tokenHash }: CheckSessionRequest) => ({ ended: ended.has(hex(tokenHash)) });
const answer = (answers: Answers = {}) => gateway.backends.answer({ checkSession, ...answers });

const gateway = shared.use(await startTestGateway(OPENID));
const { backends, sessions } = gateway;
/** Another gateway with the same services and the same identity provider. */
const other = shared.use(
  await startTestGateway({ ...OPENID, ...backends.settings, SESSION_JWKS: sessions.jwks }),
);
beforeEach(() => {
  gateway.backends.calls.length = 0;
  ended.clear();
  answer();
});

/** An ID token of a new session. */
function issueIdToken(claims: Record<string, unknown> = {}): Promise<string> {
  return gateway.sessions.issueSession('ada', {
    typ: 'JWT',
    claims: { nonce: randomUUID(), sid: randomUUID(), ...claims },
  });
}

const signedPart = (jwt: string) => jwt.slice(0, jwt.lastIndexOf('.'));
const end = (jwt: string) => ended.add(hex(sha256(signedPart(jwt))));
const rpcsCalled = () => gateway.backends.calls.map(({ rpc }) => rpc);
const withToken = (jwt: string) => ({ headers: { authorization: `Bearer ${jwt}` } });

const SURFACES = [
  ...OPERATIONS.filter(
    ({ security, operationId }) => security === 'session' && operationId !== 'signOut',
  ).map(({ method, path }) => `${method} ${path.replace(':clientId', 'app_1').replace(':id', 'grt_1')}`),
  'GET /partner/nothing',
];

describe('a session that was ended', () => {
  let jwt: string;
  beforeAll(async () => {
    jwt = await issueIdToken();
  });
  beforeEach(() => void end(jwt));

  test.each(SURFACES)(
    'gets the uniform 401 from %s, by header and by cookie, and nothing is called',
    async (line) => {
      const head = `${line} HTTP/1.1\r\nAccept: text/html,*/*;q=0.8`;
      for (const credential of [
        `Authorization: Bearer ${jwt}`,
        `Sec-Fetch-Site: same-origin\r\nCookie: session=${jwt}`,
      ]) {
        expect(await exchangeRaw(gateway.port, `${head}\r\n${credential}`)).toBe(UNIFORM_PROBLEM);
      }
      expect(rpcsCalled()).toEqual(['checkSession', 'checkSession']);
    },
  );

  test('is refused from the first request after the end, also if it was accepted before', async () => {
    const used = await issueIdToken();
    expect((await gateway.fetch('/partner/session', withToken(used))).status).toBe(200);
    end(used);
    for (const at of [gateway, other]) {
      expect((await at.fetch('/partner/session', withToken(used))).status).toBe(401);
    }
  });

  test('stays ended in a copy whose signature is written differently', async () => {
    // The last of the 86 characters of an Ed25519 signature has four unused bits.
    const last = jwt.at(-1) ?? '';
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const copy = jwt.slice(0, -1) + digits[digits.indexOf(last) ^ 1];
    const live = await issueIdToken();
    const liveCopy = live.slice(0, -1) + digits[digits.indexOf(live.at(-1) ?? '') ^ 1];
    expect((await gateway.fetch('/partner/session', withToken(liveCopy))).status).toBe(200);
    expect((await gateway.fetch('/partner/session', withToken(copy))).status).toBe(401);
  });

  test('does not send the browser to an app with an error, because nobody is signed in', async () => {
    const errorRedirect = 'https://a.test/cb?error=invalid_scope&error_description=x&state=s';
    answer({
      openAuthorization: () => ({ errorRedirect, errorRedirectHost: 'a.test' }),
      listGrants: () => ({ grants: [{ app: { clientId: 'app_1' } }], total: 1 }),
    });
    const open = (token: string) =>
      gateway.fetch('/oauth/authorize?client_id=app_1', { headers: { cookie: `session=${token}` } });
    expect((await open(await issueIdToken())).status).toBe(303);
    expect((await open(jwt)).status).toBe(400);
  });
});

test('nothing is done for a person before consent has answered that the session is live', async () => {
  const jwt = await issueIdToken();
  const answered = Promise.withResolvers<{ ended: boolean }>();
  answer({ checkSession: () => answered.promise });
  const response = gateway.fetch('/partner/consent/grants/revoke-all', { method: 'POST', ...withToken(jwt) });
  await eventually(() => expect(rpcsCalled()).toEqual(['checkSession']));
  answered.resolve({ ended: true });
  expect((await response).status).toBe(401);
  expect(rpcsCalled()).toEqual(['checkSession']);
});

test('without consent, a request with a session is answered 503, and what was ended before stays ended', async () => {
  const [jwt, live] = [await issueIdToken(), await issueIdToken()];
  end(jwt);
  answer({
    checkSession: throwing(unavailable()),
  });
  for (const token of [jwt, live]) {
    const response = await gateway.fetch('/developer/apps', withToken(token));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ code: 'INTERNAL_ERROR' });
  }
  expect(new Set(rpcsCalled())).toEqual(new Set(['checkSession']));
  answer();
  expect((await gateway.fetch('/developer/apps', withToken(jwt))).status).toBe(401);
  expect((await gateway.fetch('/developer/apps', withToken(live))).status).toBe(200);
});

test('an invalid session is refused without asking consent', async () => {
  const expired = await gateway.sessions.issueSession('ada', { expiresInSeconds: -1 });
  expect((await gateway.fetch('/partner/session', withToken(expired))).status).toBe(401);
  const crossSite = { method: 'POST', headers: { cookie: `session=${await issueIdToken()}` } };
  expect((await gateway.fetch('/partner/consent/grants/revoke-all', crossSite)).status).toBe(401);
  expect(rpcsCalled()).toEqual([]);
});

test('each request with a session asks once, and data requests of partners never ask', async () => {
  await gateway.fetch('/partner/session', withToken(await issueIdToken()));
  expect(rpcsCalled()).toEqual(['checkSession']);
  answer({ introspect: () => liveToken(), read: () => documentOf({ data: [] }) });
  const response = await gateway.fetch('/api/v1/profile', { headers: bearer() });
  expect(response.status).toBe(200);
  expect(rpcsCalled()).toEqual(['checkSession', 'introspect', 'read']);
});

test('without an OpenID provider no session is checked, because none can be ended', async () => {
  await using plain = await startTestGateway();
  plain.backends.answer({ checkSession: () => ({ ended: true }) });
  const jwt = await plain.sessions.issueSession('ada');
  expect((await plain.fetch('/partner/session', withToken(jwt))).status).toBe(200);
  expect(plain.backends.calls).toEqual([]);
});
