import { beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { DATA_ROWS, toPath } from '../src/data-requests.ts';

let stack: SharedStack;
let app: PartnerApp;
/** Tokens by their defect; `whole` has every scope. */
let tokens: Readonly<Record<'whole' | 'profileOnly' | 'ehrOnly' | 'narrowed' | 'narrowedToEhr', string>>;
let userless: string;

beforeAll(async () => {
  stack = await useSharedStack();
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  const connect = async (user: string, scopes: readonly string[]) =>
    app.connect(await signIn(stack, user), scopes);
  tokens = {
    whole: (await connect('refusals-ada', SCOPE_NAMES)).accessToken,
    profileOnly: (await connect('u1', ['read:profile'])).accessToken,
    ehrOnly: (await connect('u2', ['read:ehr'])).accessToken,
    narrowed: await connectAndNarrow('u3', 'read:profile'),
    narrowedToEhr: await connectAndNarrow('u4', 'read:ehr'),
  };
  userless = await app.userlessToken();
});

/** A token for everything, whose user has since withdrawn all scopes but one. */
async function connectAndNarrow(user: string, scope: string): Promise<string> {
  const person = await signIn(stack, user);
  const { accessToken, grantId } = await app.connect(person, SCOPE_NAMES);
  const url = `${stack.gateway}/partner/consent/grants/${grantId}`;
  expectStatus(200, await send(url, { method: 'PATCH', bearer: person, json: { scopes: [scope] } }));
  return accessToken;
}

/** The common form of errors for authenticated requests. */
function expectProblem(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.body).toMatchObject({
    type: `/problems/${code.toLowerCase().replaceAll('_', '-')}`,
    title: expect.any(String),
    status,
    detail: expect.any(String),
    requestId: answer.headers.get('x-request-id'),
  });
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('api-version')).toBe('1');
  expect(answer.headers.get('ratelimit')).toMatch(/^"app-user";r=\d+;t=\d+$/);
}

describe('403', () => {
  test.each(DATA_ROWS)('%s requires exactly its own scope in the token', async (path, { scope }) => {
    const token = scope === 'read:profile' ? tokens.ehrOnly : tokens.profileOnly;
    for (const each of [token, await userlessWithout(scope)]) {
      const answer = await app.read(each, toPath(path));
      expectProblem(answer, 403, 'INSUFFICIENT_SCOPE');
      expect(answer.body.requiredScope).toBe(scope);
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer realm="phds", error="insufficient_scope", scope="${scope}"`,
      );
    }
  });

  test.each(DATA_ROWS)('%s requires that the grant still covers its scope', async (path, { scope }) => {
    const token = scope === 'read:profile' ? tokens.narrowedToEhr : tokens.narrowed;
    expectProblem(await app.read(token, toPath(path)), 403, 'CONSENT_REQUIRED');
  });

  test.each(DATA_ROWS)('%s refuses a userless token', async (path) => {
    expectProblem(await app.read(userless, toPath(path)), 403, 'CONSENT_REQUIRED');
  });

  const userlessTokens = new Map<string, string>();

  /** A userless token for another scope. */
  async function userlessWithout(scope: string): Promise<string> {
    const other = scope === 'read:profile' ? 'read:ehr' : 'read:profile';
    const known = userlessTokens.get(other);
    if (known !== undefined) return known;
    const answer = await app.post('/oauth/token', { grant_type: 'client_credentials', scope: other });
    const token: string = expectStatus(200, answer).body.access_token;
    userlessTokens.set(other, token);
    return token;
  }
});

describe('404', () => {
  const unknown = [
    '/api',
    '/api/',
    '/api/v1',
    '/api/v1/',
    '/api/v1/nothing',
    '/api/v1/profile/',
    '/api/v1/Profile',
    '/api/v1/profile/x',
    '/api/v1/health-data',
    '/api/v1/health-data/',
    '/api/v1/health-data/hearts',
    '/api/v1/health-data/Heart',
    '/api/v1/health-data/heart/x',
    '/api/v1/health-data/__proto__',
    '/api/v1/medications/adherence',
    '/api/v1/medications//adherence',
  ];

  test.each(unknown)('%s is not a route', async (path) => {
    expectProblem(await app.read(tokens.whole, path), 404, 'NOT_FOUND');
  });
});

describe('405', () => {
  test.each(DATA_ROWS)('%s supports GET only', async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await app.read(tokens.whole, toPath(path), { method });
      expectProblem(answer, 405, 'METHOD_NOT_ALLOWED');
      expect(answer.headers.get('allow')).toBe('GET');
    }
    const { status, headers, text } = await app.read(tokens.whole, toPath(path), { method: 'HEAD' });
    expect([status, headers.get('allow'), text]).toEqual([405, 'GET', '']);
  });
});
